package frontmatter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"presswork/internal/input"
)

// readTOML returns the fields of TOML in the order of their lines. The TOML begins on line 2.
func readTOML(text []byte) ([]Field, error) {
	var values map[string]any
	if err := toml.Unmarshal(text, &values); err != nil {
		line := 2

		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			row, _ := at.Position()
			line = row + 1
		}

		return nil, atLine(line, "%s", input.Short(strings.TrimPrefix(err.Error(), "toml: "))).withCause(err)
	}
	lines := tomlLines(text)

	fields := make([]Field, 0, len(values))
	for key, value := range values {
		fields = append(fields, Field{
			Key:   key,
			Line:  lines[key],
			value: func(text bool) (any, error) { return jsonOfTOML(value, text), nil },
		})
	}
	slices.SortFunc(fields, func(a, b Field) int { return a.Line - b.Line })

	return fields, nil
}

// tomlLines returns the line of the document on which each key of the top level first occurs.
// The TOML begins on line 2.
func tomlLines(text []byte) map[string]int {
	lines := map[string]int{}
	var p unstable.Parser
	p.Reset(text)
	inTable := false

	for p.NextExpression() {
		e := p.Expression()
		switch {
		case e.Kind == unstable.Table || e.Kind == unstable.ArrayTable:
			inTable = true
		case e.Kind != unstable.KeyValue || inTable:
			continue
		}

		if it := e.Key(); it.Next() {
			key := string(it.Node().Data)
			if _, seen := lines[key]; !seen {
				lines[key] = p.Shape(it.Node().Raw).Start.Line + 1
			}
		}
	}

	return lines
}

// jsonOfTOML converts a value. With text set, and within lists and tables, numbers and booleans become strings. Dates
// always do.
func jsonOfTOML(v any, text bool) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = jsonOfTOML(item, true)
		}

		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for key, item := range v {
			object[key] = jsonOfTOML(item, true)
		}

		return object
	case time.Time:
		return v.Format(time.RFC3339)
	case string:
		return v
	case bool, int64, float64:
		if !text {
			return v
		}
	}

	return fmt.Sprint(v)
}
