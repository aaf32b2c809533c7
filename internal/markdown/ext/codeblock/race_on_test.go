//go:build race

package codeblock

// raceDetector reports that code runs about ten times slower.
const raceDetector = true
