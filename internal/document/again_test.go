package document_test

import (
	"context"
	"reflect"
	"testing"
	"time"
	"unsafe"

	"presswork"
	"presswork/internal/document"
	"presswork/internal/fault"
)

// TestADocumentIsComposedAgainOnlyWhereItMayDiffer composes pairs of documents and checks whether the second page is
// the remembered first one: only then do both strings share their bytes.
func TestADocumentIsComposedAgainOnlyWhereItMayDiffer(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	c := converter(t, document.Options{
		Now: func() time.Time { return now },
		Fetch: func(context.Context, string) ([]byte, string, error) {
			return nil, "", fault.Errorf(fault.InvalidURL, "not there")
		},
	})
	none := func(string) ([]byte, error) { return nil, fault.Errorf(fault.InvalidOption, "not there") }
	plain := func() document.Document {
		return document.Document{Content: []byte("# A\n\ntext\n"), Asset: none, Include: none}
	}

	// samePage reports whether d has the remembered page of plain().
	samePage := func(t *testing.T, d document.Document) bool {
		t.Helper()
		pages := [2]document.Composed{}

		for i, d := range []document.Document{plain(), d} {
			var err error
			if pages[i], err = c.Compose(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}

		again, err := c.Compose(t.Context(), d)
		if err != nil || again.Key != pages[1].Key {
			t.Errorf("composing again: key %s, %v; want %s", again.Key, err, pages[1].Key)
		}

		return unsafe.StringData(pages[0].Page.HTML) == unsafe.StringData(pages[1].Page.HTML)
	}

	if !samePage(t, plain()) {
		t.Error("an equal document got a new page, want the remembered one")
	}
	// others has a document for each field of Document, with another value in that field.
	others := map[string]document.Document{
		"Content":  {Content: []byte("# B\n")},
		"Theme":    {Theme: "nord"},
		"Options":  {Options: presswork.Options{NumberedHeadings: new(true)}},
		"Output":   {Output: presswork.HTML},
		"Filename": {Filename: "b.md"},
		"Path":     {Path: "a/b.md"},
		"Parts":    {Parts: []document.Part{{Path: "b.md", Content: []byte("# C\n")}}},
		"Folder":   {Folder: "chapters"},
		"Warnings": {Warnings: []fault.Warning{{Code: fault.IncludeFailed}}},
		"Place":    {Place: func(int) string { return "cell 1" }},
		"Page":     {Page: func(string) (string, bool) { return "b.html", true }},
		"Asset":    {},
		"Owner":    {Owner: "ann"},

		"SourceLines": {SourceLines: true},
	}

	for field := range reflect.TypeFor[document.Document]().Fields() {
		if !field.IsExported() {
			continue
		}

		t.Run(field.Name, func(t *testing.T) {
			d := plain()
			other := reflect.ValueOf(others[field.Name]).FieldByIndex(field.Index)
			reflect.ValueOf(&d).Elem().FieldByIndex(field.Index).Set(other)

			if samePage(t, d) {
				t.Error("a document that differs in this field got the remembered page, want a new one")
			}
		})
	}

	first, err := c.Compose(t.Context(), plain())
	if err != nil {
		t.Fatal(err)
	}
	now = now.AddDate(0, 0, 1)

	if next, err := c.Compose(t.Context(), plain()); err != nil || next.Page.HTML == "" ||
		unsafe.StringData(first.Page.HTML) == unsafe.StringData(next.Page.HTML) {
		t.Errorf("on the next day the page is remembered, want a new one (error %v)", err)
	}

	// Files and addresses may change, so a document that names any is composed each time.
	for _, content := range []string{"![](a.png)\n", "{{#include a.md}}\n", "![](https://example.com/a.png)\n"} {
		t.Run(content, func(t *testing.T) {
			var pages [2]document.Composed
			for i := range pages {
				var err error
				if pages[i], err = c.Compose(
					t.Context(),
					document.Document{Content: []byte(content), Asset: none, Include: none},
				); err != nil {
					t.Fatal(err)
				}
			}

			if unsafe.StringData(pages[0].Page.HTML) == unsafe.StringData(pages[1].Page.HTML) {
				t.Error("the second page is remembered, want a new one")
			}
		})
	}
}
