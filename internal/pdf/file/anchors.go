package file

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
)

var (
	catalogDests = regexp.MustCompile(`/Dests (\d+) 0 R`)
	destination  = regexp.MustCompile(`/([^\s/<>\[\]()]+) \[(\d+) 0 R /XYZ `)
	treeKids     = regexp.MustCompile(`/Kids \[([0-9R\s]*)\]`)
	treeKid      = regexp.MustCompile(`(\d+) 0 R`)
	nameEscape   = regexp.MustCompile(`#[0-9A-Fa-f]{2}`)
)

// Anchors reads where a PDF's named destinations are: pages by anchor, the
// first page is 1. Chromium writes one destination for each element that a link
// of the document points to, shown or not.
func (f *File) Anchors() (map[string]int, error) {
	numbers, err := f.pageNumbers()
	if err != nil {
		return nil, err
	}
	at, err := number(catalogDests, f.objects[f.root])
	if err != nil {
		return map[string]int{}, nil // no link points into the document
	}
	if at >= len(f.objects) {
		return nil, errors.New("the catalog names destinations that are not there")
	}
	found := destination.FindAllSubmatch(f.objects[at], -1)
	pages := make(map[string]int, len(found))
	for _, m := range found {
		object, err := strconv.Atoi(string(m[2]))
		if page, known := numbers[object]; err == nil && known {
			pages[anchorOf(string(m[1]))] = page
		}
	}
	return pages, nil
}

// anchorOf undoes the two escapings of a destination's name: PDF's and the
// URL's.
func anchorOf(name string) string {
	name = nameEscape.ReplaceAllStringFunc(name, func(escape string) string {
		b, _ := hex.DecodeString(escape[1:])
		return string(b)
	})
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

// pageNumbers walks the page tree: page numbers, from 1, by object number.
func (f *File) pageNumbers() (map[int]int, error) {
	root, err := number(catalogTree, f.objects[f.root])
	if err != nil {
		return nil, err
	}
	numbers := map[int]int{}
	seen := map[int]bool{}
	var walk func(node int) error
	walk = func(node int) error {
		if node >= len(f.objects) || seen[node] {
			return fmt.Errorf("the page tree is broken at object %d", node)
		}
		seen[node] = true
		kids := treeKids.FindSubmatch(f.objects[node])
		if kids == nil {
			numbers[node] = len(numbers) + 1
			return nil
		}
		for _, kid := range treeKid.FindAllSubmatch(kids[1], -1) {
			n, err := strconv.Atoi(string(kid[1]))
			if err != nil {
				return err
			}
			if err := walk(n); err != nil {
				return err
			}
		}
		return nil
	}
	return numbers, walk(root)
}
