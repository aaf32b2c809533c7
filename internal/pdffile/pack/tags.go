package pack

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"presswork/internal/pdffile"
)

// roleMap maps the PDF 2.0 structure types that Chromium uses to types of PDF 1.7.
const roleMap = "<</Strong /Span\n/Em /Span\n/Aside /Div\n/Title /P\n/Sub /Span\n/FENote /Div\n/DocumentFragment /Div>>"

// formulaMark begins the alternative text of images that are formulas. It equals formula.Mark of
// internal/markdown.
const formulaMark = "\u2061"

const (
	// markedFigure begins an image that is a formula: formulaMark begins its text.
	markedFigure = "<</Type /StructElem\n/S /Figure\n/Alt <FEFF2061"
	// formula begins the element that replaces it, without the mark.
	formula = "<</Type /StructElem\n/S /Formula\n/Alt <FEFF"
)

// improveTags improves Chromium's structure tree. It maps types to standard ones, distinguishes formulas from
// images, adds the targets of links and renumbers ids from one.
func improveTags(f *pdffile.File, catalog pdffile.Dict) error {
	value := catalog.Get("StructTreeRoot")

	n, ok := pdffile.Reference(value)
	if !ok {
		return nil
	}

	root, err := f.Dictionary(value)
	if err != nil {
		return fmt.Errorf("structure tree: %w", err)
	}
	root.Set("RoleMap", roleMap)

	f.Objects[n] = root.Bytes()
	if err := markNotes(f); err != nil {
		return err
	}

	if err := mergeLeaves(f, root); err != nil {
		return err
	}

	for n, o := range f.Objects {
		if rest, ok := bytes.CutPrefix(o, []byte(markedFigure)); ok {
			f.Objects[n] = append([]byte(formula), rest...)
		}
	}
	renumberIDs(f, root.Get("IDTree"))

	return describeLinks(f)
}

// renumberIDs renumbers element ids in their order. Chromium's renderer keeps counting them from print to print,
// so equal documents would give different files.
func renumberIDs(f *pdffile.File, idTree []byte) {
	var ids []string
	var holders, nodes []int // objects with ids: structure elements, and nodes of the tree of ids

	for n, o := range f.Objects {
		if !bytes.HasPrefix(o, pdffile.StructElement) || !bytes.Contains(o, []byte("(node")) {
			continue
		}

		holders = append(holders, n)
		if id := pdffile.NodeID(o); id != nil {
			ids = append(ids, string(id))
		}
	}
	seen := map[int]bool{}

	for todo := [][]byte{idTree}; len(todo) > 0; {
		n, ok := f.Object(todo[len(todo)-1])
		todo = todo[:len(todo)-1]

		if !ok || seen[n] {
			continue
		}
		seen[n] = true

		nodes = append(nodes, n)
		if d, _, err := pdffile.ReadDict(f.Objects[n]); err == nil && d.Get("Kids") != nil {
			kids, _ := pdffile.ReadArray(d.Get("Kids"))
			todo = append(todo, kids...)
		}
	}
	// The new ids keep the order, so the tree stays sorted by id. A longer id has the larger number.
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})

	renamed := make(map[string][]byte, len(ids))
	for i, id := range slices.Compact(ids) {
		renamed[id] = fmt.Appendf(nil, "node%08d", i+1)
	}
	rename := func(id []byte) []byte {
		if to, ok := renamed[string(id)]; ok {
			return to
		}

		return id
	}

	for _, n := range holders {
		f.Objects[n] = pdffile.RenameNode(f.Objects[n], rename)
	}

	for _, n := range nodes {
		f.Objects[n] = pdffile.RenameNodes(f.Objects[n], rename)
	}
}

// linkAnnotation is the beginning of the annotation that Chromium writes for a link.
var linkAnnotation = []byte("<</Type /Annot\n/Subtype /Link\n")

// describeLinks sets the Contents of every link annotation to its target.
func describeLinks(f *pdffile.File) error {
	for n, o := range f.Objects {
		if !bytes.HasPrefix(o, linkAnnotation) {
			continue
		}

		d, _, err := pdffile.ReadDict(o)
		if err != nil {
			return fmt.Errorf("link: %w", err)
		}

		target := pdffile.TextString(destinationName(d.Get("Dest")))
		if action := d.Get("A"); action != nil {
			a, _, err := pdffile.ReadDict(action)
			if err != nil {
				return fmt.Errorf("link: %w", err)
			}

			if uri := a.Get("URI"); uri != nil {
				target = string(uri)
			}
		}

		// PDF/UA requires a text for each link, so use a fixed one when the target is unknown.
		if target == "()" {
			target = "(link)"
		}
		d.Set("Contents", target)
		f.Objects[n] = d.Bytes()
	}

	return nil
}

// destinationName decodes the name of a destination: "/caf#25C3#25A9" is "café".
func destinationName(value []byte) string {
	name, ok := bytes.CutPrefix(value, []byte("/"))
	if !ok {
		return ""
	}

	return pdffile.OneLine(pdffile.AnchorOf(string(name)))
}
