package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
	"presswork/internal/analysis/finding"
	"presswork/internal/app"
	"presswork/internal/fault"
	"presswork/internal/local"
	"presswork/internal/terminal"
	"presswork/themes"
)

// adviceFlags control how md2pdf, analyze and theme-preview choose a theme for a document.
type adviceFlags struct {
	app.AdviceOptions
	cache command.CacheFlags
}

// add registers every flag except those of the cache.
func (a *adviceFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.Mood, "mood", "",
		"`MOOD` of the theme: a tone (calm, dark, festive …), creative, elegant or serious")
	f.StringVar(&a.DocType, "doc-type", "",
		"document `TYPE` (report, letter, recipe …) or family (business, creative …)")
	f.StringVar(&a.Model, "analysis-model", "", "use `MODEL` instead of the built-in analyser (sends it your text)")
	f.StringVar(&a.ModelURL, "analysis-url", app.DefaultAnalysisURL,
		"OpenAI-compatible `ADDRESS` of that model; its key is PRESSWORK_API_KEY")
	command.CompleteValues(cmd, map[string][]string{"mood": app.Moods(), "doc-type": app.DocTypes()})
}

// preferred reports whether a flag states the kind of the document or the wanted look.
func (a *adviceFlags) preferred() bool { return a.Mood != "" || a.DocType != "" }

// open checks the flags and returns the adviser. The caller must close it.
func (a *adviceFlags) open(ctx context.Context, getenv func(string) string, log *slog.Logger) (*app.Advice, error) {
	remember, _, err := a.cache.Load(getenv)
	if err != nil {
		return nil, command.Usage(err)
	}
	a.Cache, a.ModelKey, a.Log = remember, getenv("PRESSWORK_API_KEY"), log

	return app.NewAdvice(ctx, a.AdviceOptions)
}

// startConverter starts a converter that chooses themes with the adviser. The returned stop function ends both.
// After an error both have ended, and stop is nil.
func startConverter(
	ctx context.Context, advice *app.Advice, o local.Options,
) (converter *local.Converter, stop func(), err error) {
	o.Recommender, o.Preference = advice.Recommender, advice.Preference
	converter = local.New(o)
	stop = func() {
		_ = converter.Close() // all results are written, so the error is ignored
		advice.Close()
	}

	err = converter.Start(ctx)
	if err == nil {
		return converter, stop, nil
	}
	stop()

	if fault.CodeOf(err) == fault.InvalidOption {
		err = command.Usage(errors.New(local.Message(err)))
	}

	return nil, nil, err
}

// choiceLine formats a recommendation as "theme corporate (82 % sure; also light, business)".
func choiceLine(r finding.Recommendation) string {
	also := ""
	if len(r.Alternatives) > 0 {
		also = "; also " + strings.Join(r.Alternatives, ", ")
	}

	return fmt.Sprintf("theme %s (%.0f %% sure%s)", r.Primary, 100*r.Confidence, also)
}

// printChoice prints the chosen theme and the reasons.
func printChoice(w io.Writer, label string, a finding.Analysis) {
	fmt.Fprintln(w, terminal.Printable(label+": "+choiceLine(a.Recommendation)))

	for _, reason := range a.Recommendation.Reasons {
		fmt.Fprintln(w, terminal.Printable("  "+reason))
	}
}

// printAnalysis prints the result of `presswork analyze`. If the output has colours, each theme has a swatch; list has
// the colours of the themes.
func printAnalysis(p *command.Program, label string, a finding.Analysis, list []themes.Theme) error {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-10s %s\n", name, terminal.Printable(fmt.Sprintf(format, args...)))
	}
	b.WriteString(terminal.Printable(label) + "\n")
	row("type", "%s (%.0f %% sure)", a.DocumentType, 100*a.TypeConfidence)
	row("language", "%s", a.Language)
	row("tone", "%s", a.EmotionalTone)

	if a.Sentiment.Label != "" {
		row("sentiment", "%s (%+.2f)", a.Sentiment.Label, a.Sentiment.Score)
	}

	if a.Formality.Label != "" {
		row("formality", "%s (%.2f)", a.Formality.Label, a.Formality.Score)
	}
	row("reading", "%d min", a.ReadingMinutes)

	var terms []string
	for _, k := range a.Keywords {
		terms = append(terms, k.Term)
	}
	row("keywords", "%s", terminal.Dash(strings.Join(terms, ", ")))
	paint := p.Painter()

	for i, name := range append([]string{a.Recommendation.Primary}, a.Recommendation.Alternatives...) {
		title, note := "", name
		if i == 0 {
			title, note = "theme", fmt.Sprintf("%s (%.0f %% sure)", name, 100*a.Recommendation.Confidence)
		}
		fmt.Fprintf(&b, "  %-10s %s%s\n", title, swatchOf(paint, list, name), terminal.Printable(note))
	}

	for i, reason := range a.Recommendation.Reasons {
		title := ""
		if i == 0 {
			title = "because"
		}
		row(title, "%s", reason)
	}
	_, err := io.WriteString(p.Stdout, b.String())

	return err
}

// swatchOf returns the colour swatch of the theme with this name, or "" when colours are off.
func swatchOf(paint terminal.Painter, list []themes.Theme, name string) string {
	if paint == nil {
		return ""
	}

	for i, t := range list {
		if t.Name == name {
			return swatch(paint, list, i)
		}
	}

	return ""
}
