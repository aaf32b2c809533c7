//go:build !race

package markdown

// RaceDetector reports whether the race detector is on: code then runs about ten times slower.
const RaceDetector = false
