package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"presswork/internal/chromium"
	"presswork/internal/chromium/fonts"
	"presswork/internal/chromium/printable"
	"presswork/internal/test/documents"
	"presswork/internal/test/e2e"
)

// fewRules returns a page with goldmark's HTML and five rules of CSS, as a program without Presswork would print it.
func fewRules(b *testing.B, content string) printable.Page {
	b.Helper()

	var body strings.Builder
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(content), &body); err != nil {
		b.Fatal(err)
	}
	const head = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>T</title><style>` +
		"@page{size:A4;margin:25mm 33mm}body{font:11pt/1.5 sans-serif}table{border-collapse:collapse}" +
		"td,th{border:1px solid #999;padding:4px}pre{background:#eee;padding:8px}</style></head><body>"

	return printable.Page{
		HTML:  head + body.String() + "</body></html>",
		Sheet: printable.Sheet{Width: 8.27, Height: 11.69, Tagged: true, Outline: true},
	}
}

// BenchmarkStyledPageAgainstFewRules prints each kind of document with its theme in a tab of the service. It compares
// that with the print of fewRules in a warm tab of the raw browser.
func BenchmarkStyledPageAgainstFewRules(b *testing.B) {
	const blocks, size = 6, 20

	config, err := fonts.Install("")
	if err != nil {
		b.Fatal(err)
	}

	browser := chromium.New(chromium.Options{Tabs: 1, FontConfig: config, RecycleAfter: 1 << 30})
	if err := browser.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := browser.Stop(context.Background()); err != nil {
			b.Error(err)
		}
	})
	raw := startRaw(b)
	raw.tabs = raw.tabs[:1]
	ours := func(pages []printable.Page) float64 {
		began := time.Now()

		for _, p := range pages {
			if _, err := browser.Print(b.Context(), p); err != nil {
				b.Fatal(err)
			}
		}

		return float64(len(pages)) / time.Since(began).Seconds()
	}

	for b.Loop() {
		for _, kind := range documents.All() {
			styled, plain := make([]printable.Page, size), make([]printable.Page, size)
			for i := range size {
				styled[i], plain[i] = compose(b, kind.Markdown(i)), fewRules(b, kind.Markdown(i))
			}
			ours(styled)
			raw.block(b, plain)
			var times, mine, floors []float64

			for range blocks {
				floor, speed := raw.block(b, plain), ours(styled)
				times, mine, floors = append(times, floor/speed), append(mine, 1000/speed), append(floors, 1000/floor)
			}

			target := "≤ 1.0 ×"
			if strings.Contains(kind.Name, "table") {
				target = "≤ 1.15 ×"
			}
			report(
				b,
				kind.Name+": the styled page in a tab of ours, against the same text with five rules in the raw browser",
				fmt.Sprintf("%.2f × the time (%.1f ms against %.1f ms)", median(times), median(mine), median(floors)),
				target,
			)
		}
	}
}

// BenchmarkServiceAgainstFewRules converts the reference document with the whole service, and prints it with fewRules in
// all tabs of the raw browser. Then it compares a single client with one tab.
func BenchmarkServiceAgainstFewRules(b *testing.B) {
	const blocks, size, few = 6, 100, 10
	_, c := e2e.Serve(b, nil)
	all := startRaw(b)
	one := &raw{client: all.client, tabs: all.tabs[:1]}
	document := documents.All()[0].Markdown

	plain := make([]printable.Page, size)
	for i := range plain {
		plain[i] = fewRules(b, document(1_000_000+i))
	}
	next := 0
	ours := func() float64 { return throughput(b, c, size, &next, document) }
	alone := func() float64 {
		began := time.Now()

		for range few {
			next++

			body, err := json.Marshal(e2e.Submission{Content: document(next)})
			if err != nil {
				b.Fatal(err)
			}

			status, _, pdf := c.Do("POST", "/api/conversion", "application/json", body, "Accept", "application/pdf")
			if status != http.StatusOK {
				b.Fatalf("status %d, %.200s; want 200", status, pdf)
			}
		}

		return few / time.Since(began).Seconds()
	}

	styled := make([]printable.Page, few)
	for i := range styled {
		styled[i] = compose(b, document(2_000_000+i))
	}

	for b.Loop() {
		ours()
		all.block(b, plain)
		var ratios, speeds, floors, delays, took, tab []float64

		for range blocks {
			floor, speed := all.block(b, plain), ours()
			speeds, floors, ratios = append(speeds, speed), append(floors, floor), append(ratios, speed/floor)
			floor, speed = one.block(b, styled), alone()
			took, tab, delays = append(took, 1000/speed), append(tab, 1000/floor), append(delays, floor/speed)
		}
		report(b, "the reference document, REST to downloaded PDF, against its text with five rules in the raw browser",
			fmt.Sprintf("%.2f × (%.1f/s against %.1f/s)", median(ratios), median(speeds), median(floors)), "≥ 0.9 ×")
		report(b, "one client alone, POST to PDF, against the styled page in one tab of the raw browser",
			fmt.Sprintf("%.2f × the time (%.1f ms against %.1f ms)", median(delays), median(took), median(tab)),
			"≤ 1.3 ×")
	}
}
