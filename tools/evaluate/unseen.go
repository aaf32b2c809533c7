package evaluate

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"presswork/internal/analysis"
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
	columns := languageGroups(predictions)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "measure\t%s\n", strings.Join(groupNames(columns), "\t"))

	for _, m := range unseenMeasures() {
		fmt.Fprint(table, m.name)

		for _, c := range columns {
			fmt.Fprintf(table, "\t%.3f%s", m.of(c.predictions), interval(c.predictions, m.of))
		}
		fmt.Fprintln(table)
	}

	choices, err := themeChoices(predictions)
	if err != nil {
		return err
	}
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
		if known[groupHash(d.Group)] || known[groupNumber(d.Group)] {
			names = append(names, d.Group)
		}
	}
	slices.Sort(names)

	return slices.Compact(names)
}

// groupNumber returns the number by which documents.txt named a group before it had hashes.
func groupNumber(group string) string {
	sum := fnv.New32a()
	sum.Write([]byte(group))

	return strconv.FormatUint(uint64(sum.Sum32()), 10)
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

// languageGroup is a group of languages with its predictions.
type languageGroup struct {
	name        string
	predictions []prediction
}

func groupNames(groups []languageGroup) (names []string) {
	for _, g := range groups {
		names = append(names, fmt.Sprintf("%s (%d)", g.name, len(g.predictions)))
	}

	return names
}

// languageGroups returns all predictions, those in English, and those in other languages by script. Empty groups are
// left out.
func languageGroups(predictions []prediction) []languageGroup {
	groups := []languageGroup{
		{"all", predictions},
		{"English", nil},
		{"other", nil},
		{"other Latin", nil},
		{"Chinese, Japanese, Korean", nil},
		{"other scripts", nil},
	}

	for _, p := range predictions {
		language := analysis.Analyze(p.document.Markdown).Language
		if language == "en" {
			groups[1].predictions = append(groups[1].predictions, p)
			continue
		}
		groups[2].predictions = append(groups[2].predictions, p)
		base, _, _ := strings.Cut(language, "-")

		at := 3

		switch base {
		case "zh", "ja", "ko":
			at = 4
		case "ru",
			"uk",
			"bg",
			"sr",
			"be",
			"mk",
			"kk",
			"el",
			"ar",
			"fa",
			"ur",
			"he",
			"hi",
			"mr",
			"ne",
			"bn",
			"ta",
			"te",
			"th",
			"ka",
			"hy":
			at = 5
		}
		groups[at].predictions = append(groups[at].predictions, p)
	}

	return slices.DeleteFunc(groups, func(g languageGroup) bool { return len(g.predictions) == 0 })
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
