package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"presswork/internal/analysis/evaluate"
)

var calibrationLine = regexp.MustCompile(`(?m)^calibration .*$`)

// trainThemes fits how far a choice of theme can be trusted and writes the last
// line of themes.txt; the rest of that file is written by hand.
func trainThemes(corpus, data string) error {
	documents, err := evaluate.Documents(corpus)
	if err != nil {
		return err
	}
	slope, intercept, err := evaluate.ThemeCalibration(documents)
	if err != nil {
		return err
	}
	path := filepath.Join(data, "..", "recommend", "data", "themes.txt")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !calibrationLine.Match(text) {
		return fmt.Errorf("%s has no line of calibration", path)
	}
	text = calibrationLine.ReplaceAll(text, fmt.Appendf(nil, "calibration %.3f %.3f", slope, intercept))
	return os.WriteFile(path, text, 0o644)
}
