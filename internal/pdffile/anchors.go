package pdffile

import (
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"

	"presswork/internal/lazyregexp"
)

// nameEscape matches an escaped byte of a name: #2F.
var nameEscape = lazyregexp.New(`#[0-9A-Fa-f]{2}`)

// Place is where an element begins: its page, from 1, and the height of its upper edge. Top is measured in points from
// the bottom of the page.
type Place struct {
	Page int
	Top  float64
}

// Anchors returns the pages of a PDF's named destinations, by anchor. Pages count from 1. The errors are those of
// Places.
func (f *File) Anchors() (map[string]int, error) {
	places, err := f.Places()
	if err != nil {
		return nil, err
	}

	pages := make(map[string]int, len(places))
	for id, place := range places {
		pages[id] = place.Page
	}

	return pages, nil
}

// Places returns the places of a PDF's named destinations, by anchor. Chromium writes one destination for each
// element that is the target of a link, even if the link is invisible. The map is empty if no link points into the
// document. Errors name the part that is not as Chromium writes it: the catalog, the page tree or a destination.
// Destinations outside the page tree are left out.
func (f *File) Places() (map[string]Place, error) {
	pages, err := f.PageNumbers()
	if err != nil {
		return nil, err
	}

	catalog, _, err := ReadDict(f.Objects[f.Root])
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	places := map[string]Place{}

	value := catalog.Get("Dests")
	if value == nil {
		return places, nil // no link points into the document
	}

	destinations, err := f.Dictionary(value)
	if err != nil {
		return nil, fmt.Errorf("destinations: %w", err)
	}

	for _, d := range destinations {
		place, err := ReadArray(d.Value) // [page /XYZ left top zoom]
		if err != nil || len(place) < 4 {
			return nil, fmt.Errorf("destination %s: %w", d.Key, ErrObject)
		}

		top, err := strconv.ParseFloat(string(place[3]), 64)
		if err != nil {
			return nil, fmt.Errorf("destination %s: %w", d.Key, err)
		}

		if object, ok := Reference(place[0]); ok && pages[object] > 0 {
			places[AnchorOf(d.Key)] = Place{pages[object], top}
		}
	}

	return places, nil
}

// AnchorOf returns the anchor that a destination's name stands for. The name is escaped twice, first as a URL and then
// as a PDF name: "caf#25C3#25A9" is "café".
func AnchorOf(name string) string {
	name = nameEscape().ReplaceAllStringFunc(name, func(escape string) string {
		b, _ := hex.DecodeString(escape[1:])
		return string(b)
	})
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}

	return name
}

// PageNumbers reads the page tree and returns page numbers, from 1, by object number. It returns an error
// for a node that is not a dictionary, and for one that occurs twice, so a cycle cannot loop forever.
func (f *File) PageNumbers() (map[int]int, error) {
	catalog, _, err := ReadDict(f.Objects[f.Root])
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	numbers := map[int]int{}
	seen := map[int]bool{}
	var walk func(node []byte) error
	walk = func(node []byte) error {
		n, ok := f.Object(node)
		if !ok || seen[n] {
			return fmt.Errorf("the page tree is invalid at %s", node)
		}
		seen[n] = true

		d, err := f.Dictionary(node)
		if err != nil {
			return err
		}

		value := d.Get("Kids")
		if value == nil {
			numbers[n] = len(numbers) + 1
			return nil
		}

		kids, err := ReadArray(value)
		if err != nil {
			return err
		}

		for _, kid := range kids {
			if err := walk(kid); err != nil {
				return err
			}
		}

		return nil
	}

	return numbers, walk(catalog.Get("Pages"))
}
