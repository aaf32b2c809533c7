package markdown

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
		a, size := readBraces([]byte(line))
		if size < 0 || size > min(len(line), maxBraces) || size > 0 && (line[0] != '{' || line[size-1] != '}') {
			t.Fatalf("%q: %d bytes are attributes", line, size)
		}
		n := ast.NewParagraph()
		a.setOn(n)
		classes := attributeText(n, "class")
		if len(classes) > maxClasses+len(" ")+len(unnumbered) {
			t.Errorf("%q: %d bytes of classes", line, len(classes))
		}
		for class := range strings.FieldsSeq(classes) {
			if reservedClass(class) || class != unnumbered && !classForm.MatchString(class) {
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
