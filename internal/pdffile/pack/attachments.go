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

// attach embeds Markdown files as the sources of the document. PDF/A-3 (ISO 19005-3, 6.8) requires their
// relationship and media type.
func attach(f *pdffile.File, catalog *pdffile.Dict, sources []Attachment, date time.Time) {
	if len(sources) == 0 {
		return
	}
	var names, files []string
	// The entries of a name tree must be sorted by their encoded bytes.
	for _, a := range slices.SortedFunc(slices.Values(sources), func(a, b Attachment) int {
		key := func(name string) []byte { return pdffile.StringBytes([]byte(pdffile.TextString(name))) }
		return bytes.Compare(key(a.Name), key(b.Name))
	}) {
		// The format requires MD5. It serves as a checksum, not for security.
		params := fmt.Sprintf("<</Size %d\n/ModDate %s\n/CheckSum <%X>>>", len(a.Data),
			date.Format("(D:20060102150405+00'00')"), md5.Sum(a.Data))
		file := f.Add(nil)
		f.SetStream(file, pdffile.Dict{
			{Key: "Type", Value: []byte("/EmbeddedFile")},
			{Key: "Subtype", Value: []byte("/text#2Fmarkdown")},
			{Key: "Params", Value: []byte(params)},
		}, a.Data)
		name := pdffile.TextString(a.Name)
		specification := pdffile.RefTo(f.Add(fmt.Appendf(nil, "<</Type /Filespec\n/F %[1]s\n/UF %[1]s\n"+
			"/Desc (Markdown source)\n/AFRelationship /Source\n/EF <</F %[2]s\n/UF %[2]s>>>>", name, pdffile.RefTo(file))))
		names, files = append(names, name+" "+specification), append(files, specification)
	}
	catalog.Set("AF", "["+strings.Join(files, " ")+"]")
	catalog.Set("Names", "<</EmbeddedFiles <</Names ["+strings.Join(names, " ")+"]>>>>")
}
