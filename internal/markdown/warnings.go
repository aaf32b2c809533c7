package markdown

import (
	"cmp"
	"slices"

	"presswork/internal/fault"
	"presswork/internal/markdown/source"
)

// maxWarnings is the largest number of warnings of a document, so that a hostile one cannot fill the job record.
const maxWarnings = 100

// warnings collects the warnings about one document.
type warnings struct {
	lines *source.Lines   // nil until the source is rewritten: at must not be called before
	list  []fault.Warning // in the order of the steps of Parse
}

// onLine adds a warning about a line of the file, from 1; 0 is the document as a whole.
func (w *warnings) onLine(line int, code fault.WarningCode, message string) {
	w.list = append(w.list, fault.Warning{Code: code, Message: message, Line: line})
}

// at adds a warning about an offset of the rewritten source.
func (w *warnings) at(offset int, code fault.WarningCode, message string) {
	w.onLine(w.lines.At(offset), code, message)
}

// sorted returns the first maxWarnings in the order of their lines.
func (w *warnings) sorted() []fault.Warning {
	slices.SortStableFunc(w.list, func(a, b fault.Warning) int { return cmp.Compare(a.Line, b.Line) })

	return w.list[:min(len(w.list), maxWarnings)]
}

// Placed returns w with the name of its place before the message instead of a line, for sources without visible
// lines. If place is nil or w has no line, it returns w unchanged.
func Placed(w fault.Warning, place func(line int) string) fault.Warning {
	if place != nil && w.Line > 0 {
		w.Message, w.Line = place(w.Line)+": "+w.Message, 0
	}

	return w
}
