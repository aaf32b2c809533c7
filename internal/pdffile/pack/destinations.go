package pack

import (
	"bytes"
	"slices"
	"strconv"

	"presswork/internal/pdffile"
)

// maxName is the longest name that PDF/A allows, in bytes.
const maxName = 127

// renameDestinations renames named destinations whose names PDF/A forbids. Chromium names them after the ids of
// elements, which can be too long or equal a forbidden name. A link to a missing destination of such a name loses it.
func renameDestinations(f *pdffile.File, catalog pdffile.Dict) error {
	var names pdffile.Dict

	if value := catalog.Get("Dests"); value != nil {
		var err error
		if names, err = f.Dictionary(value); err != nil {
			return err
		}
	}
	renamed := map[string]string{}

	for i := range names {
		if invalidName(names[i].Key) {
			name := "destination-" + strconv.Itoa(i+1)
			renamed[names[i].Key] = name
			names[i].Key = name
		}
	}

	if n, ok := pdffile.Reference(catalog.Get("Dests")); ok && len(renamed) > 0 {
		f.Objects[n] = names.Bytes()
	}

	for n, o := range f.Objects {
		if !bytes.HasPrefix(o, linkAnnotation) {
			continue
		}

		d, _, err := pdffile.ReadDict(o)
		if err != nil {
			return err
		}

		name, named := bytes.CutPrefix(d.Get("Dest"), []byte("/"))
		if !named || !invalidName(string(name)) {
			continue
		}

		if to, ok := renamed[string(name)]; ok {
			d.Set("Dest", "/"+to)
		} else {
			d.Remove("Dest") // the link has no target
		}
		f.Objects[n] = d.Bytes()
	}

	return nil
}

// invalidName reports whether PDF/A forbids the name.
func invalidName(name string) bool { return len(name) > maxName || slices.Contains(forbidden, name) }
