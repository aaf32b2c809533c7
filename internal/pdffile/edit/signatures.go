package edit

import (
	"bytes"

	"presswork/internal/pdffile"
)

// Unsign removes the digital signatures of a file, because they are valid for its present bytes only. Their fields and
// appearances stay. It returns one warning for the user if it removed any.
func Unsign(f *pdffile.File) (warnings []string) {
	for n, o := range f.Objects {
		if !bytes.Contains(o, []byte("/V ")) || pdffile.IsStream(o) {
			continue
		}

		d := dictOf(f, o)
		if dictOf(f, d.Get("V")).Get("ByteRange") == nil {
			continue
		}
		d.Remove("V")
		f.Objects[n] = d.Bytes()
		warnings = []string{"digital signatures were removed, because they are not valid for the result"}
	}

	if warnings == nil {
		return nil
	}
	catalog := dictOf(f, []byte(pdffile.RefTo(f.Root)))
	catalog.Remove("Perms") // permissions that the signatures grant

	if form := dictOf(f, catalog.Get("AcroForm")); form != nil {
		form.Remove("SigFlags")
		catalog.Set("AcroForm", string(form.Bytes()))
	}
	f.Objects[f.Root] = catalog.Bytes()

	return warnings
}
