package tree

import (
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
)

func FuzzAttributes(f *testing.F) {
	for _, seed := range []string{
		"{.a #b c=d}", "{: .a.b }", `{width="50%" lang='en' dir=rtl}`, "{a=[", "{=}", "{.a{", "{-}", "{id=toc-x class=\"cover alert-x ok\"}",
		"{.\u0301}", "{height=99999999in}", "{a=\"\n\"}", "{ ,,, }", "{" + strings.Repeat(".a", 600) + "}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		a, size := ReadAttributes([]byte(line))
		if size < 0 || size > min(len(line), MaxBraces) || size > 0 && (line[0] != '{' || line[size-1] != '}') {
			t.Fatalf("%q: %d bytes are attributes", line, size)
		}
		n := ast.NewParagraph()
		a.SetOn(n)

		classes := AttributeText(n, "class")
		if len(classes) > maxClasses+len(" ")+len(Unnumbered) {
			t.Errorf("%q: %d bytes of classes", line, len(classes))
		}

		for class := range strings.FieldsSeq(classes) {
			if isReserved(class) || class != Unnumbered && !isClass(class) {
				t.Errorf("%q: the class %q", line, class)
			}
		}

		for _, attribute := range n.Attributes() {
			if value := string(attribute.Value.([]byte)); strings.ContainsAny(value, "<>\"'&\n") {
				t.Errorf("%q: %s=%q", line, attribute.Name, value)
			}
		}
	})
}

func TestNamesThatAnElementMayHave(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("ä", 100)
	for _, c := range []struct {
		name      string
		id, class bool
	}{
		{"", false, false},
		{"a", true, true},
		{"_", true, true},
		{"1", true, false},
		{"²", true, false},
		{"a1", true, true},
		{"-a", false, false},
		{"a-b", true, true},
		{"a:b.c", true, false},
		{":a", false, false},
		{"日本", true, true},
		{"e\u0301", true, true},
		{"\u0301e", false, false},
		{"a b", false, false},
		{"a\"", false, false},
		{"a\n", false, false},
		{"a\xff", false, false},
		{"🚀", false, false},
		{long, true, true},
		{long + "a", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if id, class := IsID(c.name), isClass(c.name); id != c.id || class != c.class {
				t.Errorf("%q may be an id: %v, a class: %v", c.name, id, class)
			}
		})
	}
}
