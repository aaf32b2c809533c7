// Package arrange writes the script that arranges a page in the browser before it is printed. The script moves
// footnotes to the foot of their pages. It also shrinks pictures that would otherwise leave most of a page empty.
//
// Call returns the script for the Settings of a page. The script predicts where the pages break. Misplaced checks the
// prediction with the places of the notes in the print. KeepAtEnd returns a script that leaves such notes at the end.
package arrange

import (
	"embed"
	"encoding/json"
	"io/fs"
	"math"
	"strings"
	"sync"
)

//go:embed *.js
var scripts embed.FS

// function is the JavaScript function that the embedded files form. Their names are local to it.
var function = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString("((settings, atEnd) => {\n")

	names, _ := fs.Glob(scripts, "*.js") // the pattern is well-formed
	for _, name := range names {
		source, _ := scripts.ReadFile(name) // the file is embedded
		b.Write(source)
	}
	b.WriteString("return arrange(settings, atEnd);\n})")

	return b.String()
})

// Settings describes the pages to the script. Lengths are in CSS pixels of the layout. Do not change the order or the
// names of the fields: their JSON is part of the cache key of a document.
type Settings struct {
	// Between is the distance of two columns, 0 for a text in one column.
	Between float64 `json:"between,omitempty"`
	// Bottom and Top are how far the page's area reaches into the margins.
	Bottom float64 `json:"bottom"`
	// Gap is the sum of the side margins.
	Gap float64 `json:"gap"`
	// Height and Width are the size of the text area.
	Height float64 `json:"height"`
	// Notes is true if footnotes move to the foot of pages.
	Notes bool `json:"notes"`
	// Smallest is the share of its size that a shrunk picture keeps at least.
	Smallest float64 `json:"smallest"`
	Top      float64 `json:"top"`
	Width    float64 `json:"width"`
}

// SmallestPicture is the usual value of Settings.Smallest.
const SmallestPicture = 0.75

// Elements are the elements that the script creates, as HTML: a stylesheet that is reduced to
// the names in a page must keep their rules.
const Elements = `<div class="foot foot-empty foot-continued foot-last"><div class="foot-note">` +
	`<p><a class="foot-number"></a></p></div></div>`

// callEnd closes the list of notes that stay at the end, and the call.
const callEnd = "])"

// Call returns the JavaScript expression that arranges a page.
func Call(s Settings) string {
	settings, _ := json.Marshal(s) // numbers and a boolean cannot fail

	return function() + "(" + string(settings) + ", [" + callEnd
}

// KeepAtEnd returns a result of Call or KeepAtEnd with further notes, by id, that stay at the end of the document.
func KeepAtEnd(call string, notes []string) string {
	for _, id := range notes {
		quoted, _ := json.Marshal(id) // a string cannot fail
		call = strings.TrimSuffix(call, callEnd) + string(quoted) + "," + callEnd
	}

	return call
}

// footPrefix begins the id of a note that the script has moved to the foot of a page.
const footPrefix = "foot-"

// Misplaced returns the ids of notes that stand on another page than their reference, given the
// page of each anchor in a print. It returns only those whose reference is on the first such
// page: the later ones may have moved because of them.
func Misplaced(pages map[string]int) (notes []string) {
	first := math.MaxInt

	for id, page := range pages {
		note, ok := strings.CutPrefix(id, footPrefix+"fn:")

		from := pages["fnref:"+note]
		if !ok || from == 0 || from == page || from > first {
			continue
		}

		if from < first {
			first, notes = from, nil
		}
		notes = append(notes, "fn:"+note)
	}

	return notes
}
