package keyfile

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"presswork/internal/input"
)

// List returns the entries of the file, without resolving ${NAME}. It returns none when the file does not exist. Other
// errors are those of Read and Parse.
func List(path string) ([]Entry, error) {
	data, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}

	if err != nil {
		return nil, err
	}

	return Parse(path, data, unresolved)
}

// unresolved stands in for a variable that may be set for the server only.
func unresolved(name string) string { return "${" + name + "}" }

// Add appends an entry to the file, and creates the file when it does not exist. Comments and the order of entries
// stay. Errors: the name exists, the entry is not valid, or the file cannot be edited in its form.
func Add(path string, e Entry) error {
	if err := e.check(unresolved); err != nil {
		return err
	}

	return edit(path, func(text string, entries []Entry) (string, []Entry, error) {
		if slices.ContainsFunc(entries, func(o Entry) bool { return o.Name == e.Name }) {
			return "", nil, fmt.Errorf("%s has a key %q already; choose another name, or revoke that key first", path,
				e.Name)
		}

		line, err := yaml.MarshalWithOptions(e, yaml.Flow(true))
		if err != nil {
			return "", nil, err
		}
		added, err := insertEntry(text, strings.TrimSpace(string(line)))

		return added, append(entries, e), err
	})
}

// Remove deletes all entries with a name and returns their number. Errors: the name is unknown, or the file cannot
// be edited in its form.
func Remove(path, name string) (removed int, err error) {
	named := func(e Entry) bool { return e.Name == name }
	err = edit(path, func(text string, entries []Entry) (string, []Entry, error) {
		var names []string
		for _, e := range entries {
			names = append(names, e.Name)
		}

		// From the end, so that the numbers of the entries before stay right.
		for i, e := range slices.Backward(entries) {
			if !named(e) {
				continue
			}
			removed++

			if text, err = cutEntry(text, i); err != nil {
				return "", nil, err
			}
		}

		if removed == 0 {
			return "", nil, fmt.Errorf("%s has no key %q%s", path, name, input.DidYouMean(name, names))
		}

		return text, slices.DeleteFunc(entries, named), nil
	})

	return removed, err
}

// errForm is returned for a valid file that cannot be edited as text.
var errForm = errors.New("this command cannot edit the file in this form: write each entry as one line, " +
	"- {name: …, sha256: …}, below a line keys:, or edit the file by hand")

// edit replaces the text of the file by the result of change, under the lock of the folder. It checks that the new
// text has the entries that change returned.
func edit(path string, change func(text string, entries []Entry) (string, []Entry, error)) error {
	target, err := lock(path)
	if err != nil {
		return err
	}
	defer target.unlock()

	data, err := Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	entries, err := Parse(path, data, unresolved)
	if err != nil {
		return err
	}

	text, want, err := change(string(data), entries)
	if errors.Is(err, errForm) {
		return fmt.Errorf("%s: %w", path, err)
	}

	if err != nil {
		return err
	}

	// The text is edited as lines, which keeps comments. The check finds a form of YAML that this does not cover.
	got, err := Parse(path, []byte(text), unresolved)
	if err != nil || len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%s: %w", path, errForm)
	}

	return target.write([]byte(text))
}

// findEntries returns the sequence under keys; nil when it is missing or empty.
func findEntries(text string) (*ast.SequenceNode, error) {
	tree, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return nil, errForm
	}

	at, err := yaml.PathString("$.keys")
	if err != nil {
		return nil, err
	}

	node, err := at.FilterFile(tree)
	if err != nil {
		return nil, nil // the file is empty
	}
	sequence, _ := node.(*ast.SequenceNode)

	return sequence, nil
}

// insertEntry adds an entry, a flow mapping on one line, to the end of the list.
func insertEntry(text, entry string) (string, error) {
	sequence, err := findEntries(text)
	if err != nil {
		return "", err
	}

	if sequence != nil && sequence.IsFlowStyle {
		end := offset(text, sequence.End.Position.Line, sequence.End.Position.Column)

		before := strings.TrimRight(text[:end], " \t\r\n")
		if !strings.HasSuffix(before, "[") && !strings.HasSuffix(before, ",") {
			entry = ", " + entry
		}

		return text[:end] + entry + text[end:], nil
	}
	lines := strings.SplitAfter(text, "\n")

	last := len(lines) - 1
	for last >= 0 && !isContent(lines[last]) {
		last--
	}
	indent := "  "

	switch {
	case last < 0:
		lines, last = append(lines, "keys:\n"), len(lines)
	case sequence != nil:
		first := lines[sequence.Start.Position.Line-1]
		indent = first[:len(first)-len(strings.TrimLeft(first, " "))]
	}

	if !strings.HasSuffix(lines[last], "\n") {
		lines[last] += "\n"
	}

	return strings.Join(slices.Insert(lines, last+1, indent+"- "+entry+"\n"), ""), nil
}

// cutEntry removes entry i. The comments before and after it stay.
func cutEntry(text string, i int) (string, error) {
	sequence, err := findEntries(text)
	if err != nil || sequence == nil || i >= len(sequence.Values) {
		return "", errForm
	}

	if sequence.IsFlowStyle {
		return cutFlow(text, sequence, i)
	}
	lines := strings.SplitAfter(text, "\n")

	begin, end := sequence.Values[i].GetToken().Position.Line-1, len(lines)
	if i+1 < len(sequence.Values) {
		end = sequence.Values[i+1].GetToken().Position.Line - 1
	}

	for end > begin+1 && !isContent(lines[end-1]) {
		end--
	}

	return strings.Join(slices.Delete(lines, begin, end), ""), nil
}

// cutFlow removes entry i of a list in brackets, and the comma next to it.
func cutFlow(text string, sequence *ast.SequenceNode, i int) (string, error) {
	mapping, ok := sequence.Values[i].(*ast.MappingNode)
	if !ok || mapping.End == nil {
		return "", errForm
	}
	begin := offset(text, mapping.Start.Position.Line, mapping.Start.Position.Column)
	end := offset(text, mapping.End.Position.Line, mapping.End.Position.Column) + 1

	before, after := text[:begin], text[min(end, len(text)):]
	if rest, found := strings.CutPrefix(strings.TrimLeft(after, " \t"), ","); found {
		return before + strings.TrimLeft(rest, " \t"), nil
	}

	return strings.TrimSuffix(strings.TrimRight(before, " \t\r\n"), ",") + after, nil
}

// isContent reports whether a line is neither blank nor a comment.
func isContent(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && line[0] != '#'
}

// offset returns the byte offset of a line and a column in text. Both count from 1; columns are characters.
func offset(text string, line, column int) int {
	at := 0
	for range line - 1 {
		at += strings.IndexByte(text[at:], '\n') + 1
	}

	for i := range text[at:] {
		if column--; column == 0 {
			return at + i
		}
	}

	return len(text)
}
