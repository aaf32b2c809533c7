package document_test

import (
	"sync/atomic"
	"testing"

	"presswork/internal/document"
)

// The classes no-header and no-footer keep a document in one piece, because all pages of a section have its header and
// footer. The same words in the text have no effect.
func TestOnlyTheClassesKeepADocumentInOnePiece(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		text     string
		sections bool
	}{
		"neither":            {"Plain words.", true},
		"the word in a text": {"The class no-header hides the header, and no-footer the footer.", true},
		"the word in code":   {"```html\n<div class=\"no-header\">\n```", true},
		"the class":          {"::: no-header\nWithout a header.\n:::", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var first atomic.Int64
			c := converter(
				t,
				document.Options{Printer: refusing{blank{"test/1"}, &first}, Idle: func() int { return 2 }},
			)

			composed, err := c.Compose(
				t.Context(),
				document.Document{Content: append(chapters("\\newpage\n\n"), "\n\n"+test.text+"\n"...)},
			)
			if err != nil {
				t.Fatal(err)
			}

			if _, err := c.Print(t.Context(), composed); err == nil {
				t.Fatal("the printer refuses every page, but Print returned no error")
			}

			if got := first.Load() < int64(len(composed.Page.HTML)/2); got != test.sections {
				t.Errorf("the first print has %d of %d bytes; printed in sections: %v, want %v",
					first.Load(), len(composed.Page.HTML), got, test.sections)
			}
		})
	}
}
