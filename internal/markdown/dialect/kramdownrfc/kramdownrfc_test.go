package kramdownrfc_test

import (
	"strings"
	"testing"

	"presswork/internal/markdown/dialect/kramdownrfc"
	"presswork/internal/markdown/source"
)

func TestRewriteReadsInternetDrafts(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct{ text, want string }{
		"abstract":            {"--- abstract\na", "# Abstract\na"},
		"note":                {"--- note_To_Readers\na", "# To Readers\na"},
		"middle":              {"--- middle\na\n--- back\nb", "\na\n\nb"},
		"work":                {"--- middle\n{{RFC9000}} {{?X.509=Foo}}", "\n\\[RFC9000\\] \\[X.509\\]"},
		"place in a work":     {"--- middle\n{{Section 2 of RFC9000}}", "\nSection 2 of \\[RFC9000\\]"},
		"place after a comma": {"--- middle\n{{RFC9000, Section 2}}", "\nSection 2 of \\[RFC9000\\]"},
		"section":             {"--- middle\n{{a}}\n\n# A {#a}\n", "\n[A](#a)\n\n# A {#a}\n"},
		"label on next line":  {"--- middle\n{{a}}\n\n# A\n{: #a}\n", "\n[A](#a)\n\n# A\n{: #a}\n"},
		"figure":              {"--- middle\n{{a}}\n{: #a title=\"A\"}\n", "\n[A](#a)\n{: #a title=\"A\"}\n"},
		"name":                {"--- middle\n{{{Jörg}}}", "\nJörg"},
		"name in two scripts": {"--- middle\n{{{A O}{奥}}}", "\nA O (奥)"},
		"code":                {"--- middle\n`{{RFC1}}`\n\n    --- back\n", "\n`{{RFC1}}`\n\n    --- back\n"},
		"other documents":     {"a\n--- middle\n{{RFC1}}", "a\n--- middle\n{{RFC1}}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := source.New([]byte(row.text), 1)
			kramdownrfc.Rewrite(s)

			if got := string(s.Text()); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestBoilerplateBecomesTheKeyWords(t *testing.T) {
	t.Parallel()
	s := source.New([]byte("--- middle\n{::boilerplate bcp14-tagged}\na"), 1)
	kramdownrfc.Rewrite(s)

	if got := string(s.Text()); !strings.HasPrefix(got, "\nThe key words \"MUST\"") || !strings.HasSuffix(got, ".\na") {
		t.Errorf("got %q", got)
	}
}
