package markdown

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"presswork"
	"presswork/internal/strictjson"
	"presswork/internal/suggest"
)

const (
	// maxFrontMatter bounds the front matter, maxYAMLLine a line of it and
	// maxYAMLNesting its brackets: the YAML parser takes quadratic time on
	// each, 9 s on 64 KB of "[".
	maxFrontMatter = 64 << 10
	maxYAMLLine    = 8 << 10
	maxYAMLNesting = 16
)

// Matter is what a document says about itself before its text begins.
type Matter struct {
	// Theme is the theme the front matter asks for, "" when it does not.
	Theme   string
	Options presswork.Options
	// Lines has the 1-based line of each key that is ours.
	Lines map[string]int
	// Body is the Markdown after the front matter.
	Body []byte
	// BodyLine is the 1-based line of the source on which Body begins.
	BodyLine int
}

// FrontMatter splits off the YAML between two lines of --- at the very start.
// Its keys are theme and those of presswork.Options. Others are other programs'
// (layout, date, tags) and are ignored, unless they look like one of ours
// misspelt. Errors: FrontMatterInvalid, with the line in its message.
func FrontMatter(src []byte) (Matter, error) {
	block, size, ok := splitFrontMatter(src)
	if !ok {
		if size > maxFrontMatter {
			return Matter{}, atLine(1, "the front matter is longer than %d KB", maxFrontMatter>>10)
		}
		return Matter{Body: bytes.TrimPrefix(src, []byte("\ufeff")), BodyLine: 1}, nil
	}
	m := Matter{Body: block.rest, BodyLine: block.lines + 1}
	if err := checkYAML(block.yaml); err != nil {
		return Matter{}, err
	}
	err := m.read(block.yaml)
	return m, err
}

// frontBlock is a document cut at its front matter.
type frontBlock struct {
	yaml, rest []byte
	// lines counts the lines of the front matter with both fences.
	lines int
}

var (
	fence     = regexp.MustCompile(`^---[ \t]*\r?\n?$`)
	fenceEnd  = regexp.MustCompile(`^(---|\.\.\.)[ \t]*\r?\n?$`)
	firstPair = regexp.MustCompile(`^["']?[\p{L}_][^:\n]*:(\s|$)`)
)

// splitFrontMatter finds the front matter. A rule (---) that only looks like
// it, because no "key:" follows, is left to Markdown. The size tells how long
// an oversized block is.
func splitFrontMatter(src []byte) (b frontBlock, size int, ok bool) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if !bytes.HasPrefix(src, []byte("---")) {
		return frontBlock{}, 0, false
	}
	offset, lines, start, pairs := 0, 0, 0, false
	for line := range bytes.Lines(src) {
		lines++
		offset += len(line)
		switch text := bytes.TrimSpace(line); {
		case lines == 1:
			if !fence.Match(line) {
				return frontBlock{}, 0, false
			}
			start = offset
		case fenceEnd.Match(line):
			return frontBlock{yaml: src[start : offset-len(line)], rest: src[offset:], lines: lines}, offset, true
		case !pairs && len(text) > 0 && text[0] != '#':
			if !firstPair.Match(text) {
				return frontBlock{}, 0, false
			}
			pairs = true
		}
		if offset > maxFrontMatter && pairs {
			return frontBlock{}, offset, false
		}
	}
	return frontBlock{}, 0, false
}

// checkYAML refuses what the parser should not be given.
func checkYAML(yaml []byte) error {
	line, depth := 1, 0
	for text := range bytes.Lines(yaml) {
		line++
		if len(text) > maxYAMLLine {
			return atLine(line, "the line is longer than %d KB", maxYAMLLine>>10)
		}
		if bytes.Count(text, []byte("- ")) > maxYAMLNesting && bytes.HasPrefix(bytes.TrimLeft(text, " "), []byte("- - ")) {
			return atLine(line, "lists nest deeper than %d levels", maxYAMLNesting)
		}
		for _, c := range text {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(0, depth-1)
			}
		}
		if depth > maxYAMLNesting {
			return atLine(line, "brackets nest deeper than %d levels", maxYAMLNesting)
		}
	}
	return nil
}

// read fills m from the YAML.
func (m *Matter) read(yaml []byte) (err error) {
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
			if err := m.set(pair); err != nil {
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

// set stores one pair of the top level.
func (m *Matter) set(pair *ast.MappingValueNode) error {
	key := keyOf(pair)
	line := lineOfNode(pair.Key)
	fields := optionFields()
	kind, known := fields[key]
	if !known && key != "theme" {
		names := []string{"theme"}
		t := reflect.TypeFor[presswork.Options]()
		for i := range t.NumField() {
			names = append(names, jsonName(t.Field(i)))
		}
		if suggest.Nearest(key, names) == "" {
			return nil
		}
		return atLine(line, "unknown key %q%s; allowed: %s", clip(key), suggest.Phrase(key, names), strings.Join(names, ", "))
	}
	if m.Lines == nil {
		m.Lines = map[string]int{}
	}
	m.Lines[key] = line
	if key == "theme" {
		kind = reflect.TypeFor[string]()
	}
	value, err := jsonOf(pair.Value, kind, 0)
	if err != nil {
		return err
	}
	if key == "theme" {
		if s, ok := value.(string); ok {
			m.Theme = s
			return nil
		}
		return atLine(line, "theme must be a string")
	}
	object, err := json.Marshal(map[string]any{key: value})
	if err != nil {
		return atLine(line, "%s has a value that cannot be read", key).WithCause(err)
	}
	if err := strictjson.Decode(object, &m.Options, ""); err != nil {
		return atLine(line, "%s", presswork.AsError(err).Message)
	}
	return nil
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

func wantsText(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.String && t != reflect.TypeFor[presswork.PDFALevel]()
}

func optionFields() map[string]reflect.Type {
	t := reflect.TypeFor[presswork.Options]()
	fields := make(map[string]reflect.Type, t.NumField())
	for i := range t.NumField() {
		fields[jsonName(t.Field(i))] = t.Field(i).Type
	}
	return fields
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
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

// syntaxError takes the place and the reason out of goccy's "[3:1] reason".
func syntaxError(err error) error {
	first, _, _ := strings.Cut(err.Error(), "\n")
	place, reason, ok := strings.Cut(strings.TrimPrefix(first, "["), "] ")
	if row, _, found := strings.Cut(place, ":"); ok && found {
		if n, convErr := strconv.Atoi(row); convErr == nil {
			return atLine(n+1, "%s", clip(reason)).WithCause(err)
		}
	}
	return atLine(2, "it is not valid YAML").WithCause(err)
}

func atLine(line int, format string, args ...any) *presswork.Error {
	return presswork.Errorf(presswork.FrontMatterInvalid, "front matter, line %d: %s", line, fmt.Sprintf(format, args...)).WithParam("content")
}
