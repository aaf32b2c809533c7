package messages_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"presswork/api/messages"
	"presswork/internal/inference"
)

// pdf returns a PDF with one page in base64. content draws the page.
func pdf(content string) string {
	return base64.StdEncoding.EncodeToString([]byte("%PDF-1.4\n" +
		"1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n" +
		"2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n" +
		"3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Resources<</Font<</F1 4 0 R>>>>/Contents 5 0 R>>\nendobj\n" +
		"4 0 obj\n<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>\nendobj\n" +
		"5 0 obj\n<<>>\nstream\n" + content + "\nendstream\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF\n"))
}

// document returns a request with a document.
func document(source string) string {
	return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[` +
		`{"type":"document","title":"T","source":` + source + `}]}]}`
}

func inBase64(media, data string) string {
	return `{"type":"base64","media_type":"` + media + `","data":"` + data + `"}`
}

func TestThePDFOfARequestIsReadAsText(t *testing.T) {
	t.Parallel()

	r, _, err := parse(t, document(inBase64("application/pdf", pdf("BT /F1 12 Tf 10 100 Td (Wells of Oslo) Tj ET"))))
	if err != nil {
		t.Fatal(err)
	}

	if got, want := transcript(r.Messages), "user: Title: T+Wells of Oslo"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAnUpstreamOfTheMessagesAPIGetsTheDocument(t *testing.T) {
	t.Parallel()

	for name, source := range map[string]string{
		"PDF":     inBase64("application/pdf", "JVBERg=="),
		"address": `{"type":"url","url":"https://example.com/a.pdf"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r, _, err := messages.Parse([]byte(document(source)), messages.Options{
				CheckModel: func(string) error { return nil }, Native: func() bool { return true },
			})
			if err != nil {
				t.Fatal(err)
			}
			part := r.Messages[0].Parts[0]

			if part.Text == "" || !strings.Contains(string(part.Block), source) {
				t.Errorf("got %q and the block %s, want the document of the client", part.Text, part.Block)
			}
		})
	}
}

func TestADocumentThatCannotBeReadNamesItsField(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct{ source, field string }{
		"damaged base64": {inBase64("application/pdf", "&&"), "data"},
		"no PDF":         {inBase64("application/pdf", "aGk="), "data"},
		"no text":        {inBase64("application/pdf", pdf("")), "data"},
		"another type":   {inBase64("image/tiff", "aGk="), "media_type"},
		"an address":     {`{"type":"url","url":"https://example.com/a.pdf"}`, "type"},
		"a stored file":  {`{"type":"file","file_id":"f"}`, "type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, _, err := parse(t, document(tc.source))
			if e := inference.AsError(err); e == nil || e.Status != 400 ||
				e.Param != "messages[0].content[0].source."+tc.field {
				t.Errorf("got %v, want 400 about %s", e, tc.field)
			}
		})
	}
}
