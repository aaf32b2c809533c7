package pack

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"slices"
	"strings"
	"time"

	"presswork/internal/pdffile"
)

// attach puts Markdown files into the PDF as the sources of the whole
// document, the way PDF/A-3 wants it.
func attach(f *pdffile.File, catalog *pdffile.Dict, sources []Attachment, date time.Time) {
	if len(sources) == 0 {
		return
	}
	var names, files []string
	// Names in a tree of names are sorted.
	for _, a := range slices.SortedFunc(slices.Values(sources), func(a, b Attachment) int {
		name := func(text string) []byte { return pdffile.StringBytes([]byte(pdffile.TextString(text))) }
		return bytes.Compare(name(a.Name), name(b.Name))
	}) {
		// MD5 is what the format asks for; it secures nothing.
		params := fmt.Sprintf(
			"<</Size %d\n/ModDate %s\n/CheckSum <%X>>>",
			len(a.Data),
			date.Format("(D:20060102150405+00'00')"),
			md5.Sum(a.Data),
		)
		file := f.Add(nil)
		f.SetStream(
			file,
			pdffile.Dict{
				{Key: "Type", Value: []byte("/EmbeddedFile")},
				{Key: "Subtype", Value: []byte("/text#2Fmarkdown")},
				{Key: "Params", Value: []byte(params)},
			},
			a.Data,
		)
		name := pdffile.TextString(a.Name)
		specification := pdffile.RefTo(
			f.Add(
				fmt.Appendf(
					nil,
					"<</Type /Filespec\n/F %s\n/UF %s\n/Desc (Markdown source)\n/AFRelationship /Source\n/EF <</F %s\n/UF %s>>>>",
					name,
					name,
					pdffile.RefTo(file),
					pdffile.RefTo(file),
				),
			),
		)
		names, files = append(names, name+" "+specification), append(files, specification)
	}
	catalog.Set("AF", "["+strings.Join(files, " ")+"]")
	catalog.Set("Names", "<</EmbeddedFiles <</Names ["+strings.Join(names, " ")+"]>>>>")
}
