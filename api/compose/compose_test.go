package compose_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"presswork/api/compose"
	"presswork/internal/analysis/recommend"
	"presswork/internal/document"
	"presswork/internal/markdown/diagram"
	"presswork/themes"
)

func newComposer(remote diagram.Remote) *compose.Composer {
	return compose.New(compose.Options{
		Themes:      themes.Open(themes.Options{}),
		Remote:      remote,
		Recommender: recommend.New(recommend.Options{}),
		Log:         slog.New(slog.DiscardHandler),
	})
}

// Each document waits for the diagrams of another one. They would wait forever if they kept their slots.
func TestADocumentTakesNoSlotWhileItsDiagramsAreDrawn(t *testing.T) {
	t.Parallel()
	const documents = 64
	arrived, all := make(chan struct{}, documents), make(chan struct{})

	c := newComposer(func(context.Context, []diagram.Source, diagram.Style) ([]diagram.Picture, error) {
		arrived <- struct{}{}
		<-all

		return nil, errors.New("no worker is running")
	})
	done := make(chan error, documents)

	for i := range documents {
		go func() {
			text := "# A\n\n```mermaid\ngraph TD; a-->b" + strings.Repeat("c", i) + "\n```\n"
			_, err := c.Compose(t.Context(), document.Document{Content: []byte(text), Theme: "nord"})
			done <- err
		}()
	}

	for range documents {
		<-arrived
	}
	close(all)

	for range documents {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestATextGetsAThemeOfTheCatalogue(t *testing.T) {
	t.Parallel()

	verdict, err := newComposer(
		nil,
	).Recommend(t.Context(), "", []byte("# Invoice\n\n| item | price |\n|---|---|\n| a | 3 |\n"))
	if err != nil {
		t.Fatal(err)
	}

	if _, err := themes.Open(themes.Options{}).Get(verdict.Recommendation.Primary); err != nil {
		t.Error(err)
	}

	sample, err := newComposer(nil).Sample(t.Context(), "nord")
	if err != nil || sample.Key == "" {
		t.Errorf("got the key %q, %v; want a key for the preview", sample.Key, err)
	}
}
