//go:build race

package pdf_test

// raceEnabled is true under the race detector, which makes what a test computes
// several times as expensive.
const raceEnabled = true
