package merge

import (
	"context"
	"errors"
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/markdown"
)

func TestParseJoinsLinksAnchorsAndWarnings(t *testing.T) {
	t.Parallel()

	whole, err := Parse(t.Context(), markdown.New().Parse, []Source{
		{Path: "book/a.md", Content: []byte("# Start\n\n[b](b.md) [end](b.md#end) [lost](b.md#lost)\n")},
		{Path: "book/b.md", Content: []byte("# Start\n\n## End\n")},
	})
	if err != nil {
		t.Fatal(err)
	}

	for _, want := range []string{
		`id="start"`, `id="start-2"`, `href="#start-2">b`, `href="#end">end`, `href="#start-2">lost`, `class="page-break"`,
	} {
		if !strings.Contains(whole.HTML, want) {
			t.Errorf("want %s in\n%s", want, whole.HTML)
		}
	}

	if len(whole.Headings) != 3 || whole.Headings[1].ID != "start-2" {
		t.Errorf("got headings %+v, want three, the second with the anchor start-2", whole.Headings)
	}

	want := fault.Warning{
		Code: fault.LinkBroken, Line: 3,
		Message: `a.md: link to "b.md#lost": that document has no such anchor`,
	}
	if len(whole.Warnings) != 1 || whole.Warnings[0] != want {
		t.Errorf("got warnings %+v, want %+v", whole.Warnings, want)
	}
}

func TestFaultsNameTheirFileAndInternalErrorsDoNot(t *testing.T) {
	t.Parallel()

	failing := func(_ context.Context, content []byte, _ markdown.Options) (markdown.Document, error) {
		if string(content) == "bad" {
			return markdown.Document{}, fault.Errorf(fault.ContentTooComplex, "too deep")
		}

		return markdown.Document{}, nil
	}

	_, err := Parse(t.Context(), failing, []Source{{Path: "a.md"}, {Path: "x/b.md", Content: []byte("bad")}})
	if e := fault.AsError(err); e.Code != fault.ContentTooComplex || e.Message != "b.md: too deep" {
		t.Errorf("got %v, want b.md: too deep", err)
	}

	internal := errors.New("disk on fire")
	if err := NameFile("a.md", internal); !errors.Is(err, internal) || err.Error() != internal.Error() {
		t.Errorf("NameFile changed an internal error to %v, want %v", err, internal)
	}
}
