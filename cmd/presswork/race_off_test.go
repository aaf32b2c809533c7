//go:build !race

package main

// manyFootnotes of a hostile document.
const manyFootnotes = 8000
