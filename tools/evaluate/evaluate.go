// Package evaluate measures internal/analysis on the labelled corpus.
package evaluate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
)

// A Row is one measured goal. Pass reports whether Value reached Target, for example "≥ 0.85".
type Row struct {
	Name   string
	Value  float64
	Target string
	Pass   bool
}

// A measure computes rows from a corpus. A grouped measure evaluates documents with models that saw none of the
// same repository.
type measure struct {
	grouped bool
	rows    func(corpus string) ([]Row, error)
}

// measures lists what `make eval` measures, in the order it prints.
func measures() []measure {
	return []measure{
		{true, documentTypes},
		{true, themeGoals},
		{false, languages},
		{false, measureSentiment},
		{false, formality},
		{false, tones},
	}
}

// AtLeast returns a row that passes if value ≥ limit.
func AtLeast(name string, value, limit float64) Row {
	return Row{name, value, fmt.Sprintf("≥ %g", limit), value >= limit}
}

// AtMost returns a row that passes if value ≤ limit.
func AtMost(name string, value, limit float64) Row {
	return Row{name, value, fmt.Sprintf("≤ %g", limit), value <= limit}
}

// in returns the corpora that the measure reads. A grouped measure reads all of them. Others read the additional
// data of the first corpus only.
func (m measure) in(corpus string) string {
	if m.grouped {
		return corpus
	}

	return filepath.SplitList(corpus)[0]
}

// Run measures every corpus of a list of folders, separated as in PATH, and writes the table to w. It reports whether
// all goals were reached.
func Run(w io.Writer, corpus string) (bool, error) {
	corpora := filepath.SplitList(corpus)
	if len(corpora) == 0 {
		return false, errors.New("name at least one labelled corpus with -corpus")
	}

	for _, dir := range corpora {
		if _, err := os.Stat(filepath.Join(dir, "documents", "index.tsv")); err != nil {
			return false, fmt.Errorf("no labelled corpus at %s: %w", dir, err)
		}
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "goal\tvalue\ttarget\t")
	reached := true

	for _, m := range measures() {
		rows, err := m.rows(m.in(corpus))
		if err != nil {
			return false, err
		}

		for _, r := range rows {
			verdict := "pass"
			if !r.Pass {
				verdict, reached = "FAIL", false
			}
			fmt.Fprintf(table, "%s\t%.3f\t%s\t%s\n", r.Name, r.Value, r.Target, verdict)
		}
	}

	return reached, table.Flush()
}
