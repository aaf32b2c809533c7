package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"presswork"
	"presswork/internal/analysis"
	"presswork/internal/analysis/recommend"
	"presswork/internal/app"
	"presswork/internal/client"
	"presswork/internal/fault"
	"presswork/internal/local"
	"presswork/internal/terminal"
	"presswork/themes"
)

// preferenceFlags are what a caller knows better than the text.
type preferenceFlags struct{ mood, docType string }

func addPreferenceFlags(cmd *cobra.Command, s *preferenceFlags) {
	f := cmd.Flags()
	f.StringVar(&s.mood, "mood", "",
		"`MOOD` the theme should have: a tone (calm, dark, festive …), creative, elegant or serious")
	f.StringVar(&s.docType, "doc-type", "",
		"what the document is: a `TYPE` (report, letter, recipe …) or a family (business, creative …)")
	complete(cmd, "mood", cobra.FixedCompletions(recommend.Moods(), cobra.ShellCompDirectiveNoFileComp))
	complete(
		cmd,
		"doc-type",
		cobra.FixedCompletions(append(analysis.DocumentTypes(), analysis.DocumentFamilies()...),
			cobra.ShellCompDirectiveNoFileComp),
	)
}

// ownCompletions is where a Presswork on this machine answers.
const ownCompletions = "http://127.0.0.1:8000/v1"

// readerFlags choose a model that reads documents.
type readerFlags struct{ model, url string }

func addReaderFlags(cmd *cobra.Command, r *readerFlags) {
	f := cmd.Flags()
	f.StringVar(&r.model, "analysis-model", "",
		"`MODEL` that reads the document in the analyser's place; it is sent the text")
	f.StringVar(&r.url, "analysis-url", ownCompletions,
		"OpenAI-compatible `ADDRESS` of that model; PRESSWORK_API_KEY is its key")
}

// open makes the model; nil without one.
func (r readerFlags) open(getenv func(string) string) (*recommend.Model, error) {
	if r.model == "" {
		if r.url != ownCompletions {
			return nil, usageError{errors.New("--analysis-url says where a model is, and --analysis-model names none")}
		}

		return nil, nil
	}

	u, err := client.ParseAddress(r.url)
	if err != nil {
		return nil, usageError{fmt.Errorf("--analysis-url: %w; the default is %s", err, ownCompletions)}
	}

	model, err := app.AnalysisModel(r.model, r.url, getenv("PRESSWORK_API_KEY"), u.Redacted())
	if err != nil {
		return nil, usageError{fmt.Errorf("--analysis-url: %w", err)}
	}

	return model, nil
}

// parse checks them; each error is one of usage.
func (s preferenceFlags) parse() (recommend.Preference, error) {
	preference, err := recommend.ParsePreference(s.mood, s.docType)
	if err != nil {
		name := strings.ReplaceAll(fault.AsError(err).Param, "_", "-")
		return preference, errors.New("--" + name + ": " + local.Message(err))
	}

	return preference, nil
}

func (s preferenceFlags) set() bool { return s.mood != "" || s.docType != "" }

// choiceLine is "theme corporate (82 % sure; also light, business)".
func choiceLine(r presswork.Recommendation) string {
	also := ""
	if len(r.Alternatives) > 0 {
		also = "; also " + strings.Join(r.Alternatives, ", ")
	}

	return fmt.Sprintf("theme %s (%.0f %% sure%s)", r.Primary, 100*r.Confidence, also)
}

// printChoice prints which theme was chosen and why.
func printChoice(w io.Writer, label string, a presswork.Analysis) {
	fmt.Fprintln(w, terminal.Printable(label+": "+choiceLine(a.Recommendation)))

	for _, reason := range a.Recommendation.Reasons {
		fmt.Fprintln(w, terminal.Printable("  "+reason))
	}
}

// printAnalysis is what `analyze` prints; with paint, the themes get swatches.
func (p *program) printAnalysis(label string, a presswork.Analysis, list []themes.Theme) error {
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
	paint := p.painter()

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
	_, err := io.WriteString(p.stdout, b.String())

	return err
}

// swatchOf is the swatch of a theme by name, "" without colours.
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
