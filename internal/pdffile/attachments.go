package pdffile

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"slices"
	"strings"
	"time"
)

// attach puts Markdown files into the PDF as the sources of the whole
// document, the way PDF/A-3 wants it.
func (f *File) attach(catalog *Dict, sources []Attachment, date time.Time) {
	if len(sources) == 0 {
		return
	}
	var names, files []string
	// Names in a tree of names are sorted.
	for _, a := range slices.SortedFunc(slices.Values(sources), func(a, b Attachment) int {
		return bytes.Compare(stringBytes([]byte(TextString(a.Name))), stringBytes([]byte(TextString(b.Name))))
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
			Dict{
				{"Type", []byte("/EmbeddedFile")},
				{"Subtype", []byte("/text#2Fmarkdown")},
				{"Params", []byte(params)},
			},
			a.Data,
		)
		name := TextString(a.Name)
		specification := RefTo(
			f.Add(
				fmt.Appendf(
					nil,
					"<</Type /Filespec\n/F %s\n/UF %s\n/Desc (Markdown source)\n/AFRelationship /Source\n/EF <</F %s\n/UF %s>>>>",
					name,
					name,
					RefTo(file),
					RefTo(file),
				),
			),
		)
		names, files = append(names, name+" "+specification), append(files, specification)
	}
	catalog.Set("AF", "["+strings.Join(files, " ")+"]")
	catalog.Set("Names", "<</EmbeddedFiles <</Names ["+strings.Join(names, " ")+"]>>>>")
}
