package local

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"presswork"
	"presswork/internal/analysis/finding"
	"presswork/internal/analysis/recommend"
	"presswork/internal/document"
	"presswork/internal/document/metadata"
	"presswork/themes"
)

// chooseTheme replaces themes.Auto, from the input or the front matter, by the most suitable theme.
func (c *Converter) chooseTheme(ctx context.Context, d *document.Document, in Input, out *Output) error {
	var matter metadata.FrontMatter

	var err error
	if d.Theme == "" {
		matter, err = metadata.Read(d.Content)
	}

	theme, _, unknown := c.catalogue.Resolve(d.Theme, matter.Theme)
	if err != nil || unknown != nil || theme != themes.Auto {
		return nil // no theme to choose; the composer reports any error
	}
	c.step(in, presswork.StageAnalyzing)
	begun := time.Now()

	advice := in.advice

	if advice == nil {
		alone, err := c.o.Recommender.Recommend(ctx, "", d.Text(), c.catalogue.List(), c.o.Preference)
		if err != nil {
			return err
		}
		advice = &alone
	}
	out.Analysis, out.Lookups, out.Hits = &advice.Analysis, advice.Lookups, advice.Hits
	out.Times.Analyze = time.Since(begun)
	d.Theme = advice.Recommendation.Primary

	return nil
}

// adviseSeries sets the advice of the Markdown files of a batch whose folder has several with a theme to choose. A file
// that cannot be read gets none: its conversion reports the error.
func (c *Converter) adviseSeries(ctx context.Context, inputs []Input) error {
	folders := map[string][]int{}

	for i, in := range inputs {
		if ext := strings.ToLower(filepath.Ext(in.Path)); (ext == ".md" || ext == ".markdown") && len(in.Merge) == 0 {
			folders[filepath.Dir(in.Path)] = append(folders[filepath.Dir(in.Path)], i)
		}
	}

	for _, files := range folders {
		if len(files) < recommend.MinSeries {
			continue
		}
		var members []int
		var texts [][]byte

		for _, i := range files {
			if text, ok := c.undecided(ctx, inputs[i]); ok {
				members, texts = append(members, i), append(texts, text)
			}
		}

		advice, err := c.o.Recommender.RecommendSeries(ctx, "", texts, c.catalogue.List(), c.o.Preference)
		if err != nil {
			return err
		}

		for k, i := range members {
			inputs[i].advice = &advice[k]
		}
	}

	return nil
}

// undecided returns the text of an input if its theme is to be chosen.
func (c *Converter) undecided(ctx context.Context, in Input) (text []byte, ok bool) {
	text, err := c.read(ctx, in.Path, nil, Snapshot{})
	if err != nil {
		return nil, false
	}

	matter, err := metadata.Read(text)
	theme, _, unknown := c.catalogue.Resolve(in.Theme, matter.Theme)

	return text, err == nil && unknown == nil && theme == themes.Auto
}

// sampleThemes is the number of themes in a gallery without a document.
const sampleThemes = 12

// rankThemes analyses the text of a gallery's document, which may be nil, and stores the result in out. It returns the
// themes, the most suitable first.
func (c *Converter) rankThemes(ctx context.Context, text []byte, out *Output) ([]string, error) {
	advice, ranked, err := c.o.Recommender.Rank(ctx, text, c.catalogue.List(), c.o.Preference)
	out.Analysis = &advice.Analysis

	if text == nil {
		ranked = ranked[:min(len(ranked), sampleThemes)]
	}

	return ranked, err
}

// mark marks the chosen entry and its alternatives.
func mark(entries []entry, a *finding.Analysis) {
	if a == nil {
		return
	}

	for i := range entries {
		switch name := entries[i].Name; {
		case name == a.Recommendation.Primary:
			entries[i].Standing = "chosen"
		case slices.Contains(a.Recommendation.Alternatives, name):
			entries[i].Standing = "alternative"
		}
	}
}

// Analyze reads one document, a file or Std, and returns its analysis with a recommended theme. Errors: those of
// Convert for an input that cannot be read, the cause of ctx.
func (c *Converter) Analyze(ctx context.Context, path string) (recommend.Result, error) {
	content, err := c.read(ctx, path, nil, Snapshot{})
	if err != nil {
		return recommend.Result{}, err
	}

	return c.AnalyzeText(ctx, content)
}

// AnalyzeText is Analyze for the text of a document. The error is the cause of ctx.
func (c *Converter) AnalyzeText(ctx context.Context, content []byte) (recommend.Result, error) {
	return c.o.Recommender.Recommend(ctx, "", content, c.catalogue.List(), c.o.Preference)
}

// Themes returns the catalogue as last read from disk.
func (c *Converter) Themes() []themes.Theme { return c.catalogue.List() }

// Theme returns the theme with a name. Errors: ThemeNotFound.
func (c *Converter) Theme(name string) (themes.Theme, error) { return c.catalogue.Get(name) }
