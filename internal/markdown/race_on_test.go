//go:build race

package markdown

// raceDetector tells that code runs about ten times slower.
const raceDetector = true
