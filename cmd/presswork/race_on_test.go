//go:build race

package main

// manyFootnotes of a hostile document: the race detector makes them 20 times as dear.
const manyFootnotes = 2000
