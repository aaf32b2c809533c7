package typeset

import (
	"strconv"
	"strings"
	"unicode"

	"presswork/internal/markdown/block"
)

// dropCapLetters is the least number of letters in a paragraph with a drop cap, which is three lines high.
const dropCapLetters = 260

// Leaf is a possible blank page before a chapter that begins on the right. ID is that of its element, Chapter that of
// the heading.
type Leaf struct{ ID, Chapter string }

// heading writes a heading. Before a heading that begins a chapter on the right it writes a possible blank page. The
// first paragraph after a chapter's heading may get a drop cap.
func (t *writer) heading(b *block.Block, a area) {
	begins := t.begins[b.ID]
	at := 0

	if begins && t.start != "" {
		if t.start == "right" {
			t.leaf(b.ID, a)
		}
		at = b.NameEnd()
		t.out.WriteString(b.HTML[:at] + " data-chapter")

		if a.topmost {
			t.done[len(t.done)-1].chapter = true
		}
	}
	t.out.WriteString(b.Tag()[at:])
	t.inner(b, a.within())
	t.capNext = begins && t.caps
}

// leaf writes a possible blank page before a chapter.
func (t *writer) leaf(chapter string, a area) {
	l := Leaf{ID: "leaf-" + strconv.Itoa(len(t.Leaves)+1), Chapter: chapter}
	t.Leaves = append(t.Leaves, l)
	t.out.WriteString(`<div class="leaf" id="` + l.ID + `"></div>`)

	if a.topmost { // the element that was begun for the heading becomes that of the blank page
		f := &t.done[len(t.done)-1]
		heading := *f
		*f = finished{from: f.from, to: t.out.Len(), kind: block.Division, leaf: true}
		heading.from = t.out.Len()
		t.done = append(t.done, heading)
	}
}

// hasDropCaps reports whether the script of a language has capitals, which are not joined to the next letter.
func hasDropCaps(lang string) bool {
	switch base, _, _ := strings.Cut(strings.ToLower(lang), "-"); base {
	case "ar", "fa", "ur", "ps", "he", "yi", "zh", "ja", "ko", "hi", "mr", "ne", "bn",
		"ta", "te", "th", "lo", "km", "my", "ka", "ckb", "sd", "ug", "dv":
		return false
	}

	return true
}

// dropCap reports whether the first letter of a chapter's first paragraph may be a drop cap. The paragraph must
// begin with a word and be long enough to flow around the letter.
func dropCap(b *block.Block) bool {
	return b.Closed && !b.LineBreaks && beginsWithWord(b.Inner()) &&
		block.Letters(block.Visible(b.Inner())) >= dropCapLetters
}

// beginsWithWord reports whether HTML begins with two letters, perhaps after a quotation mark.
func beginsWithWord(html string) bool {
	runes := []rune(html[:min(len(html), 16)])
	if len(runes) > 0 && strings.ContainsRune("“„«‘\"", runes[0]) {
		runes = runes[1:]
	}

	return len(runes) > 1 && unicode.IsUpper(runes[0]) && unicode.IsLetter(runes[1])
}
