package kramdown_test

import (
	"testing"

	"presswork/internal/markdown/dialect/kramdown"
	"presswork/internal/markdown/source"
)

func TestRewriteRemovesExtensions(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct{ text, want string }{
		"comment":         {"a {::comment}b{:/comment} c", "a  c"},
		"over lines":      {"a\n{::comment}\nb\n{:/}\nc", "a\n\n\n\nc"},
		"never closed":    {"{::comment}\na", "{::comment}\na"},
		"options":         {"{::options toc_levels=\"2\" /}\na", "\na"},
		"raw text":        {"{::nomarkdown}<b>{:/nomarkdown}", "<b>"},
		"attribute list":  {"{:note: .a #b}\nc", "\nc"},
		"attributes stay": {"a\n{: .b}\n", "a\n{: .b}\n"},
		"code":            {"`{::comment}a{:/}`", "`{::comment}a{:/}`"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := source.New([]byte(row.text), 1)
			kramdown.Rewrite(s)

			if got := string(s.Text()); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
