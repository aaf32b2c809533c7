//go:build race

package main

// manyFootnotes is the number of footnotes in the hostile document. The race detector makes each about 20 times as
// slow.
const manyFootnotes = 2000
