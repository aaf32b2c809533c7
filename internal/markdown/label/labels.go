package label

import (
	"maps"
	"strconv"
	"strings"
)

// Label is a labelled element that references can lead to.
type Label struct {
	Kind Kind
	// Number is "3" or "2.1". It is "" for a section in a document without numbered headings, and
	// for an equation until its formula is rendered.
	Number string
	// Title is the text of a section, "" for other kinds.
	Title string
	// ID is the anchor.
	ID string
}

// Name returns the text of a reference without the word before it: the number, in parentheses for an equation. For a
// section without a number it is the title.
func (l *Label) Name() string {
	switch {
	case l.Number == "":
		return l.Title
	case l.Kind == Equation:
		return "(" + l.Number + ")"
	}

	return l.Number
}

// Set holds the labelled elements of a document by their keys.
type Set map[string]*Label

// Find returns the element of a key, nil if there is none. At the start of a sentence a key may be
// capitalised: Fig:x is fig:x.
func (s Set) Find(key string) *Label {
	if found := s[key]; found != nil || key == "" {
		return found
	}

	return s[strings.ToLower(key[:1])+key[1:]]
}

// Labels returns copies of the elements, nil for an empty set.
func (s Set) Labels() map[string]Label {
	if len(s) == 0 {
		return nil
	}

	labels := make(map[string]Label, len(s))
	for key, l := range s {
		labels[key] = *l
	}

	return labels
}

// Counters number the elements of each kind, through the document or within each chapter.
type Counters struct {
	byChapter bool
	chapter   string // the number of the current chapter, "" before the first
	counts    map[Kind]int
}

// NewCounters returns counters that continue after the counts of earlier documents.
func NewCounters(byChapter bool, before map[Kind]int) *Counters {
	c := &Counters{byChapter: byChapter, counts: map[Kind]int{}}
	maps.Copy(c.counts, before)

	return c
}

// Next returns the number of the next element of a kind: "3", or "2.1" within chapter 2.
func (c *Counters) Next(kind Kind) string {
	c.counts[kind]++

	n := strconv.Itoa(c.counts[kind])
	if c.byChapter && c.chapter != "" {
		return c.chapter + "." + n
	}

	return n
}

// BeginChapter sets the number of the current chapter. If elements are numbered within chapters, a
// new chapter resets the counts.
func (c *Counters) BeginChapter(number string) {
	if c.chapter == number {
		return
	}

	c.chapter = number
	if c.byChapter {
		clear(c.counts)
	}
}

// Chapter returns the number of the current chapter.
func (c *Counters) Chapter() string { return c.chapter }

// Counts returns how many elements of each kind there are so far. The caller must not change it.
func (c *Counters) Counts() map[Kind]int { return c.counts }
