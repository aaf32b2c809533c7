package document_test

import (
	_ "embed"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/proto"

	"presswork"
	"presswork/internal/document"
	"presswork/internal/test/browsertest"
)

// faintTexts is a JavaScript function. It lists the texts of a page that have too little contrast with their
// background.
//
//go:embed testdata/contrast.js
var faintTexts string

// TestEveryTextOfAPageMeetsWCAGAA walks pages with all kinds of text in a browser, in every theme. It finds pairs of
// colours that TestEveryThemeMeetsWCAGAA does not list, because a rule gives a text another colour or place.
func TestEveryTextOfAPageMeetsWCAGAA(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("testdata/contrast.md")
	if err != nil {
		t.Fatal(err)
	}
	c := converter(t, document.Options{})
	kinds := map[string]presswork.Options{
		"document": {}, "covered": {Cover: new(true)}, "book": {As: "book"}, "slides": {As: "slides"},
		"paper": {As: "paper"}, "ink": {InkSaver: new(true), Cover: new(true)},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		theme, kind := path.Split(strings.TrimPrefix(r.URL.Path, "/"))

		composed, err := c.Compose(r.Context(), document.Document{
			Content: text, Theme: strings.Trim(theme, "/"), Options: kinds[kind],
		})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		io.WriteString(w, composed.Page.HTML)
	}))
	t.Cleanup(server.Close)

	visit := browsertest.NewVisitor(t).Open(server.URL+"/light/document", 800, 1000, false)
	if err := (proto.EmulationSetEmulatedMedia{Media: "print"}).Call(visit.Page); err != nil {
		t.Fatal(err)
	}

	for _, theme := range catalogue(t).List() {
		for kind := range kinds {
			t.Run(theme.Name+"/"+kind, func(t *testing.T) {
				page := visit.Page.MustNavigate(server.URL + "/" + theme.Name + "/" + kind).MustWaitLoad()

				shown := theme
				if kind == "ink" {
					shown = theme.InkSaver()
				}
				found := page.MustEval(faintTexts, shown.Colors["base_100"], shown.Token("--cover-bg"))

				if n := found.Get("checked").Int(); n < 100 {
					t.Errorf("checked %d texts, want at least 100", n)
				}

				for _, line := range found.Get("faint").Arr() {
					t.Errorf("too little contrast: %s", line.Str())
				}
			})
		}
	}
}
