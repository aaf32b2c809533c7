package frontmatter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"presswork/internal/input"
	"presswork/internal/lazyregexp"
)

const (
	// maxDepth is the number of levels that lists and maps may nest in a value of front matter.
	maxDepth = 6
	// maxSettingDepth is the same for a file of settings.
	maxSettingDepth = 20
)

// errNoMatter is returned when the lines between the fences are text of the document.
var errNoMatter = errors.New("no front matter")

// readYAML returns the fields of YAML, whose values may nest the given levels. A key may occur twice, as most programs
// allow. Errors: errNoMatter, a *lineError.
func readYAML(yaml []byte, levels int) (fields []Field, err error) {
	defer func() {
		if r := recover(); r != nil {
			fields = nil
			err = atLine(2, "it is not valid YAML").withCause(fmt.Errorf("the YAML parser panicked: %v", r))
		}
	}()

	file, err := parser.ParseBytes(yaml, 0, parser.AllowDuplicateMapKey())
	switch {
	case err != nil && !meantAsMatter(yaml):
		return nil, errNoMatter
	case err != nil:
		return nil, syntaxError(err)
	}

	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}

		pairs, err := pairsOf(doc.Body)
		if err != nil {
			return nil, err
		}

		for _, pair := range pairs {
			fields = append(fields, Field{
				Key:   keyOf(pair),
				Line:  lineOfNode(pair.Key),
				value: func(text bool) (any, error) { return jsonOf(pair.Value, text, levels, levels) },
			})
		}
	}

	return fields, nil
}

// matterLine matches the start of a line of YAML: a key of one word and a colon, a dash, a bracket or a comment.
var matterLine = lazyregexp.New(`^(["']?[\p{L}_][\p{L}\p{N}_.-]*["']?[ \t]*:(\s|$)|[-\]}#])`)

// meantAsMatter reports whether invalid YAML is meant as front matter: most of its unindented
// lines begin with a key of one word. Otherwise it is a note between two rules.
func meantAsMatter(yaml []byte) bool {
	keys, others := 0, 0

	for line := range bytes.Lines(yaml) {
		switch {
		case len(bytes.TrimSpace(line)) == 0 || line[0] == ' ' || line[0] == '\t':
		case matterLine().Match(line):
			keys++
		default:
			others++
		}
	}

	return keys > others
}

// pairsOf returns the entries of a map. The parser has another node for a map with one entry.
func pairsOf(n ast.Node) ([]*ast.MappingValueNode, error) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, nil
	case *ast.CommentGroupNode, *ast.NullNode:
		return nil, nil
	default:
		return nil, atLine(lineOfNode(n), "it must be a list of \"key: value\" lines")
	}
}

// jsonOf converts a YAML value. With text set, and within lists and maps, numbers and booleans become strings, as the
// source has them. left of the allowed levels remain. An alias is an error: a few lines of aliases can expand to
// gigabytes.
func jsonOf(n ast.Node, text bool, levels, left int) (any, error) {
	if left < 0 {
		return nil, fmt.Errorf("its value nests deeper than %d levels", levels)
	}

	switch n := n.(type) {
	case *ast.NullNode:
		return nil, nil
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.AnchorNode:
		return jsonOf(n.Value, text, levels, left-1)
	case *ast.TagNode:
		return jsonOf(n.Value, text, levels, left-1)
	case *ast.BoolNode:
		if text {
			return n.Token.Value, nil
		}

		return n.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		written := n.GetToken().Value
		// JSON has no hexadecimal numbers, infinities or underscores: those stay strings.
		if !text && json.Valid([]byte(written)) {
			return json.Number(written), nil
		}

		return written, nil
	case *ast.SequenceNode:
		list := make([]any, 0, len(n.Values))
		for _, v := range n.Values {
			item, err := jsonOf(v, true, levels, left-1)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}

		return list, nil
	case *ast.MappingNode, *ast.MappingValueNode:
		pairs, err := pairsOf(n)
		if err != nil {
			return nil, err
		}

		object := map[string]any{}
		for _, p := range pairs {
			if object[keyOf(p)], err = jsonOf(p.Value, true, levels, left-1); err != nil {
				return nil, err
			}
		}

		return object, nil
	}

	return nil, errors.New("aliases are not followed")
}

// keyOf returns the key of an entry as text, also if it is written as a number or a date.
func keyOf(pair *ast.MappingValueNode) string {
	if s, ok := pair.Key.(*ast.StringNode); ok {
		return s.Value
	}

	return pair.Key.GetToken().Value
}

// lineOfNode returns the source line of a node. The YAML begins on line 2.
func lineOfNode(n ast.Node) int {
	if n != nil && n.GetToken() != nil && n.GetToken().Position != nil {
		return n.GetToken().Position.Line + 1
	}

	return 2
}

// otherPlace matches a second position in goccy's message. It is dropped, because it counts from the first line of
// the YAML, not of the document.
var otherPlace = lazyregexp.New(` at \[[0-9]+:[0-9]+\]`)

// syntaxError returns a *lineError with the line and the reason of goccy's "[3:1] reason".
func syntaxError(err error) error {
	first, _, _ := strings.Cut(err.Error(), "\n")

	place, reason, ok := strings.Cut(strings.TrimPrefix(first, "["), "] ")
	if row, _, found := strings.Cut(place, ":"); ok && found {
		if n, convErr := strconv.Atoi(row); convErr == nil {
			return atLine(n+1, "%s", input.Short(otherPlace().ReplaceAllString(reason, ""))).withCause(err)
		}
	}

	return atLine(2, "it is not valid YAML").withCause(err)
}
