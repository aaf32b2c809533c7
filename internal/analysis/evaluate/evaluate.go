// Package evaluate measures internal/analysis on the labelled corpus.
package evaluate

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
)

// A Row is one measured goal. Pass reports whether Value reached Target, which is
// written as people read it: "≥ 0.85".
type Row struct {
	Name   string
	Value  float64
	Target string
	Pass   bool
}

// A Measure computes rows from the corpus folder.
type Measure func(corpus string) ([]Row, error)

// measures lists what `make eval` measures, in the order it prints.
func measures() []Measure {
	return []Measure{documentTypes, languages, themeGoals, sentiment, formality, tones}
}

// AtLeast is a row that passes when value ≥ limit.
func AtLeast(name string, value, limit float64) Row {
	return Row{name, value, fmt.Sprintf("≥ %g", limit), value >= limit}
}

// AtMost is a row that passes when value ≤ limit.
func AtMost(name string, value, limit float64) Row {
	return Row{name, value, fmt.Sprintf("≤ %g", limit), value <= limit}
}

// Run takes every measure, writes the table to w, and reports whether all goals
// were reached.
func Run(w io.Writer, corpus string) (bool, error) {
	if _, err := os.Stat(filepath.Join(corpus, "documents", "index.tsv")); err != nil {
		return false, fmt.Errorf("no labelled corpus at %s: %w", corpus, err)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "goal\tvalue\ttarget\t")
	reached := true
	for _, measure := range measures() {
		rows, err := measure(corpus)
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
