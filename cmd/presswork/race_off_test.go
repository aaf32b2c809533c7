//go:build !race

package main

// manyFootnotes is the number of footnotes in the hostile document.
const manyFootnotes = 8000
