//go:build !race

package markdown

// RaceDetector reports that code runs about ten times slower.
const RaceDetector = false
