package pdffile

import (
	"bytes"
	"slices"
	"strconv"
)

// maxName is the longest name the format allows, in bytes.
const maxName = 127

// tameDestinations renames the named destinations that make trouble: Chromium
// names them by the ids of elements, which may be too long, or be words that
// PDF/A forbids.
func (f *File) tameDestinations(catalog dict) error {
	var names dict

	if value := catalog.Get("Dests"); value != nil {
		var err error
		if names, err = f.dictionary(value); err != nil {
			return err
		}
	}
	renamed := map[string]string{}

	for i := range names {
		if wild(names[i].key) {
			name := "destination-" + strconv.Itoa(i+1)
			renamed[names[i].key] = name
			names[i].key = name
		}
	}

	if n, ok := reference(catalog.Get("Dests")); ok && len(renamed) > 0 {
		f.Objects[n] = names.bytes()
	}

	for n, o := range f.Objects {
		if !bytes.HasPrefix(o, linkAnnotation) {
			continue
		}

		d, _, err := ReadDict(o)
		if err != nil {
			return err
		}

		name, named := bytes.CutPrefix(d.Get("Dest"), []byte("/"))
		if !named || !wild(string(name)) {
			continue
		}

		if to, ok := renamed[string(name)]; ok {
			d.set("Dest", "/"+to)
		} else {
			d.remove("Dest") // it leads nowhere
		}
		f.Objects[n] = d.bytes()
	}

	return nil
}

func wild(name string) bool { return len(name) > maxName || slices.Contains(forbidden, name) }
