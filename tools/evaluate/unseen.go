package evaluate

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"presswork/internal/analysis"
	"presswork/internal/analysis/lang"
)

// Unseen judges the weights in the program on a corpus that they were not trained on. It writes a table with a column
// for each group of languages. It returns an error if a repository of the corpus is in the stored training documents.
func Unseen(w io.Writer, corpus string, trained []Document) error {
	documents, err := Given(corpus)
	if err != nil {
		return err
	}

	if len(documents) == 0 {
		return errors.New("the corpus has no documents to judge")
	}

	if both := Shared(documents, trained); len(both) > 0 {
		return fmt.Errorf("the weights were trained on documents of %s: remove their rows", strings.Join(both, ", "))
	}

	predictions := shipped(documents)
	if err := writeGroups(w, predictions); err != nil {
		return err
	}

	choices, err := themeChoices(predictions)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "theme expected\t%.3f\n", shareOf(choices, func(c themeChoice) bool { return c.expected }))
	fmt.Fprintf(table, "theme acceptable\t%.3f\n", shareOf(choices, func(c themeChoice) bool { return c.first }))
	fmt.Fprintf(table, "theme never\t%.3f\n", shareOf(choices, func(c themeChoice) bool { return c.never }))
	fmt.Fprintf(table, "theme calibration error\t%.3f\n", themeCalibrationError(uncapped(choices)))

	return table.Flush()
}

// Shared returns the groups of documents that are also among others, sorted.
func Shared(documents, others []Document) (names []string) {
	known := map[string]bool{}
	for _, d := range others {
		known[groupHash(d.Group)] = true
	}

	for _, d := range documents {
		if known[groupHash(d.Group)] {
			names = append(names, d.Group)
		}
	}
	slices.Sort(names)

	return slices.Compact(names)
}

// shipped predicts documents with the weights in the program, and so as Analyze does.
func shipped(documents []Document) []prediction {
	types := analysis.DocumentTypes()

	predictions := make([]prediction, len(documents))
	for i, d := range documents {
		p := make([]float64, len(types))
		for _, t := range analysis.Examine(d.Markdown).Types {
			p[slices.Index(types, t.Type)] = t.Probability
		}
		predictions[i] = prediction{document: d, truth: slices.Index(types, d.Type), probabilities: p, bare: p}
	}

	return predictions
}

// writeGroups writes a table of the measures with a column for each group of languages.
func writeGroups(w io.Writer, predictions []prediction) error {
	columns := languageGroups(predictions)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "measure")

	for _, c := range columns {
		fmt.Fprintf(table, "\t%s (%d)", c.name, len(c.predictions))
	}
	fmt.Fprintln(table)

	for _, m := range unseenMeasures() {
		fmt.Fprint(table, m.name)

		for _, c := range columns {
			fmt.Fprintf(table, "\t%.3f%s", m.of(c.predictions), interval(c.predictions, m.of))
		}
		fmt.Fprintln(table)
	}

	return table.Flush()
}

// languageGroup is a group of languages with its predictions.
type languageGroup struct {
	name        string
	predictions []prediction
}

// languageGroups returns all predictions, those of each group of languages, and those of all groups but English.
func languageGroups(predictions []prediction) []languageGroup {
	byGroup, others := inGroups(predictions), []prediction(nil)
	groups := []languageGroup{{"all", predictions}}

	for _, name := range lang.Groups() {
		groups = append(groups, languageGroup{string(name), byGroup[name]})
		if name != lang.English {
			others = append(others, byGroup[name]...)
		}
	}
	groups = slices.Insert(groups, 2, languageGroup{"not English", others})

	return slices.DeleteFunc(groups, func(g languageGroup) bool { return len(g.predictions) == 0 })
}

// inGroups returns the predictions of each group of languages.
func inGroups(predictions []prediction) map[lang.Group][]prediction {
	groups := map[lang.Group][]prediction{}

	for _, p := range predictions {
		name := lang.GroupOf(p.document.Language)
		groups[name] = append(groups[name], p)
	}

	return groups
}

// unseenMeasure is a measure of predictions, a share between 0 and 1.
type unseenMeasure struct {
	name string
	of   func([]prediction) float64
}

func unseenMeasures() []unseenMeasure {
	return []unseenMeasure{
		{"macro F1", func(p []prediction) float64 { return macroF1(p, prediction.best) }},
		{"right", amongOne},
		{"among the first two", amongTwo},
		{"precision at confidence 0.8", func(p []prediction) float64 { v, _ := confident(p, 0.8); return v }},
		{"coverage at confidence 0.8", func(p []prediction) float64 { _, v := confident(p, 0.8); return v }},
		{"calibration error", calibrationError},
	}
}
