package edit

import (
	"bytes"
	"fmt"
	"strconv"

	"presswork/internal/pdffile"
)

// tags is the structure tree of a merged file under construction (ISO 32000-2, 14.7).
type tags struct {
	root           int            // the number of the structure tree root
	kids           [][]byte       // the topmost elements
	parents        map[int][]byte // the parent tree
	base           int            // the first free key of parents
	ids            []pair         // the IDTree
	roles, classes pdffile.Dict
	namespaces     [][]byte
}

// prepare makes the keys and ids of the i-th file different from those of earlier files. It reports whether the file
// has tags. It must be called before the objects of the file get their numbers in the merged file.
func (t *tags) prepare(i int, f *pdffile.File, catalog pdffile.Dict) bool {
	root := dictOf(f, catalog.Get("StructTreeRoot"))
	if root == nil {
		dropParents(f)
		return false
	}
	renamed := t.renameRoles(i, f, root)

	// Look for the keys as bytes first, because most objects have none and need not be parsed.
	for n, o := range f.Objects {
		if bytes.Contains(o, []byte("/StructParent")) {
			d, rest, err := pdffile.ReadDict(o)
			if err != nil {
				continue
			}

			for _, key := range []string{"StructParent", "StructParents"} {
				if k, err := strconv.Atoi(string(resolve(f, d.Get(key)))); err == nil {
					d.Set(key, strconv.Itoa(t.base+k))
				}
			}
			f.Objects[n] = append(d.Bytes(), rest...)
		}

		// The ids of the first file stay; those of later files get a prefix.
		if i > 0 && (bytes.Contains(o, []byte("/ID ")) || bytes.Contains(o, []byte("/Headers "))) {
			f.Objects[n] = eachDict(f.Objects[n], func(d *pdffile.Dict) { prefixIDs(i, f, d) })
		}

		if len(renamed) > 0 && bytes.Contains(o, []byte("/S /")) {
			f.Objects[n] = eachDict(f.Objects[n], func(d *pdffile.Dict) {
				if to := renamed[string(d.Get("S"))]; to != "" && isElement(*d) {
					d.Set("S", to)
				}
			})
		}
	}

	return true
}

// dropParents removes the keys of a tree that the file does not have. They would name tags of other files.
func dropParents(f *pdffile.File) {
	for n, o := range f.Objects {
		if !bytes.Contains(o, []byte("/StructParent")) {
			continue
		}

		if d, rest, err := pdffile.ReadDict(o); err == nil {
			d.Remove("StructParent")
			d.Remove("StructParents")
			f.Objects[n] = append(d.Bytes(), rest...)
		}
	}
}

// isElement reports whether a dictionary is a structure element. The entry Type is optional, so an element without it
// is recognised by its type S and its parent P.
func isElement(d pdffile.Dict) bool {
	kind := string(d.Get("Type"))
	return d.Get("S") != nil && d.Get("P") != nil && (kind == "/StructElem" || kind == "")
}

// prefixIDs puts the number of the file before the id of an element and the ids of header cells in an attribute.
func prefixIDs(i int, f *pdffile.File, d *pdffile.Dict) {
	if value := d.Get("ID"); value != nil && isElement(*d) {
		d.Set("ID", string(prefixed(i, resolve(f, value))))
	}

	if value := d.Get("Headers"); value != nil {
		ids := arrayOf(f, value)
		for k := range ids {
			ids[k] = prefixed(i, resolve(f, ids[k]))
		}
		d.Set("Headers", array(ids))
	}
}

// prefixed returns an id of the i-th file as a string that no other file has.
func prefixed(i int, id []byte) []byte {
	return hexString(fmt.Sprintf("%d-%s", i+1, pdffile.StringBytes(id)))
}

// renameRoles adds the roles of a file. A role that an earlier file maps to another type gets a new name.
func (t *tags) renameRoles(i int, f *pdffile.File, root pdffile.Dict) map[string]string {
	renamed := map[string]string{}

	for _, role := range dictOf(f, root.Get("RoleMap")) {
		value := string(resolve(f, role.Value))
		if known := t.roles.Get(role.Key); known != nil && string(known) != value {
			to := fmt.Sprintf("%s-%d", role.Key, i+1)
			renamed["/"+role.Key] = "/" + to
			role.Key = to
		}
		t.roles.Set(role.Key, value)
	}

	return renamed
}

// add adds the tree of a file whose objects are in out. first is the catalog of the first file.
func (t *tags) add(out *pdffile.File, first, catalog pdffile.Dict) {
	root := dictOf(out, catalog.Get("StructTreeRoot"))
	if t.root == 0 {
		t.root, t.parents = out.Add(nil), map[int][]byte{}
	}
	language := catalog.Get("Lang")

	for _, kid := range arrayOf(out, root.Get("K")) {
		if bytes.HasPrefix(kid, []byte("<<")) {
			kid = []byte(pdffile.RefTo(out.Add(kid)))
		}

		n, ok := out.Object(kid)
		if !ok || n == nullObject {
			continue
		}
		out.SetEntry(n, "P", pdffile.RefTo(t.root))

		// The catalog of the result has the language of the first file only.
		if language != nil && !bytes.Equal(language, first.Get("Lang")) && dictOf(out, kid).Get("Lang") == nil {
			out.SetEntry(n, "Lang", string(language))
		}
		t.kids = append(t.kids, kid)
	}
	next := t.base

	for key, value := range numbered(out, root.Get("ParentTree")) {
		t.parents[t.base+key] = value
		next = max(next, t.base+key+1)
	}

	// A file may have used higher keys than its tree still has.
	if n, err := strconv.Atoi(string(root.Get("ParentTreeNextKey"))); err == nil && n >= 0 && n < maxPairs {
		next = max(next, t.base+n)
	}
	t.base = next

	for _, class := range dictOf(out, root.Get("ClassMap")) {
		if t.classes.Get(class.Key) == nil {
			t.classes.Set(class.Key, string(class.Value))
		}
	}
	t.namespaces = append(t.namespaces, arrayOf(out, root.Get("Namespaces"))...)

	for _, p := range readTree(out, root.Get("IDTree"), "Names") {
		if d := dictOf(out, p.value); d.Get("ID") != nil {
			t.ids = append(t.ids, pair{resolve(out, d.Get("ID")), p.value})
		}
	}
}

// write writes the tree. It reports whether any file has tags.
func (t *tags) write(out *pdffile.File, catalog *pdffile.Dict) bool {
	if t.root == 0 {
		return false
	}
	out.Objects[t.root] = t.dict(out).Bytes()
	catalog.Set("StructTreeRoot", pdffile.RefTo(t.root))
	catalog.Set("MarkInfo", "<</Marked true>>")

	return true
}

// dict returns the structure tree root of the merged file.
func (t *tags) dict(out *pdffile.File) pdffile.Dict {
	root := pdffile.Dict{{Key: "Type", Value: []byte("/StructTreeRoot")}}
	root.Set("K", array(t.kids))
	root.Set("ParentTree", pdffile.RefTo(addTree(out, sortedPairs(t.parents), "Nums")))
	root.Set("ParentTreeNextKey", strconv.Itoa(t.base))

	if len(t.ids) > 0 {
		root.Set("IDTree", pdffile.RefTo(addTree(out, t.ids, "Names")))
	}

	if len(t.roles) > 0 {
		root.Set("RoleMap", string(t.roles.Bytes()))
	}

	if len(t.classes) > 0 {
		root.Set("ClassMap", string(t.classes.Bytes()))
	}

	if len(t.namespaces) > 0 {
		root.Set("Namespaces", array(t.namespaces))
	}

	return root
}
