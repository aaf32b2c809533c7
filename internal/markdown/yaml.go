package markdown

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// readYAML fills m from the YAML.
func (m *Matter) readYAML(yaml []byte) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = atLine(2, "it is not valid YAML").WithCause(fmt.Errorf("the YAML parser panicked: %v", r))
		}
	}()
	file, err := parser.ParseBytes(yaml, 0)
	if err != nil {
		return syntaxError(err)
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		pairs, err := pairsOf(doc.Body)
		if err != nil {
			return err
		}
		for _, pair := range pairs {
			value := func(want reflect.Type) (any, error) { return jsonOf(pair.Value, want, 0) }
			if err := m.set(keyOf(pair), lineOfNode(pair.Key), value); err != nil {
				return err
			}
		}
	}
	return nil
}

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

// jsonOf converts a YAML value. Where text is wanted, "2024", "yes" and "1-3"
// are the text that was written.
func jsonOf(n ast.Node, want reflect.Type, depth int) (any, error) {
	if depth > 4 {
		return nil, atLine(lineOfNode(n), "values nest too deep")
	}
	switch n := n.(type) {
	case *ast.NullNode:
		return nil, nil
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.BoolNode:
		if wantsText(want) {
			return n.Token.Value, nil
		}
		return n.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		text := n.GetToken().Value
		if !wantsText(want) && json.Valid([]byte(text)) {
			return json.Number(text), nil
		}
		return text, nil
	case *ast.SequenceNode:
		list := make([]any, 0, len(n.Values))
		for _, v := range n.Values {
			item, err := jsonOf(v, reflect.TypeFor[string](), depth+1)
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
			if object[keyOf(p)], err = jsonOf(p.Value, reflect.TypeFor[string](), depth+1); err != nil {
				return nil, err
			}
		}
		return object, nil
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode:
		return nil, atLine(lineOfNode(n), "anchors, aliases and tags are not allowed")
	}
	return nil, atLine(lineOfNode(n), "this kind of value is not allowed")
}

func keyOf(pair *ast.MappingValueNode) string {
	if s, ok := pair.Key.(*ast.StringNode); ok {
		return s.Value
	}
	return pair.Key.GetToken().Value
}

// lineOfNode is the source line of a node: the YAML begins on line 2.
func lineOfNode(n ast.Node) int {
	if n != nil && n.GetToken() != nil && n.GetToken().Position != nil {
		return n.GetToken().Position.Line + 1
	}
	return 2
}

// otherPlace is where goccy points to within a reason, by a line of its own count.
var otherPlace = regexp.MustCompile(` at \[[0-9]+:[0-9]+\]`)

// syntaxError takes the place and the reason out of goccy's "[3:1] reason".
func syntaxError(err error) error {
	first, _, _ := strings.Cut(err.Error(), "\n")
	place, reason, ok := strings.Cut(strings.TrimPrefix(first, "["), "] ")
	if row, _, found := strings.Cut(place, ":"); ok && found {
		if n, convErr := strconv.Atoi(row); convErr == nil {
			return atLine(n+1, "%s", clip(otherPlace.ReplaceAllString(reason, ""))).WithCause(err)
		}
	}
	return atLine(2, "it is not valid YAML").WithCause(err)
}
