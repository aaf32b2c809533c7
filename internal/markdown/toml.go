package markdown

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// readTOML fills m from the TOML.
func (m *Matter) readTOML(text []byte) error {
	var values map[string]any
	if err := toml.Unmarshal(text, &values); err != nil {
		line := 2

		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			row, _ := at.Position()
			line = row + 1
		}

		return atLine(line, "%s", clip(strings.TrimPrefix(err.Error(), "toml: "))).WithCause(err)
	}
	lines := tomlLines(text)

	keys := make([]string, 0, len(values))
	for key := range values {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return lines[a] - lines[b] })

	for _, key := range keys {
		m.set(key, lines[key], func(text bool) (any, error) { return jsonOfTOML(values[key], text), nil })
	}

	return nil
}

// tomlLines finds the line of the document on which each key of the top level
// stands first: the TOML begins on line 2.
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

// jsonOfTOML converts a value. Where text is wanted, a bare 2024 or a date is
// the text that was written; within lists and tables text is wanted.
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
