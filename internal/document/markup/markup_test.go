package markup_test

import (
	"testing"

	"presswork/internal/document/markup"
)

func TestTextsAndValuesAreEscaped(t *testing.T) {
	t.Parallel()

	var w markup.Writer
	w.Open("nav hidden", "title", `"A" & <B>`, "class", "").
		Line("p", "a < b", "id", "x'").
		Line("p", "").
		Raw("<br>").
		Close("nav")

	const want = `<nav hidden title="&#34;A&#34; &amp; &lt;B&gt;"><p id="x&#39;">a &lt; b</p>` + "\n<br></nav>"
	if got := w.String(); got != want || w.Len() != len(want) {
		t.Errorf("got %s (length %d), want %s (length %d)", got, w.Len(), want, len(want))
	}
}
