package pdfops

import (
	"bytes"
	"encoding/json"
	"fmt"

	"presswork/internal/pdffile/edit"
	"presswork/internal/pdffile/pagetext"
)

// Document is the result of info.
type Document struct {
	Pages int `json:"pages"`
	// Sizes are the sizes of the pages in points, as shown; equal sizes that follow each other are listed once.
	Sizes []Size `json:"sizes"`
	edit.Description
	Version    string `json:"version"`
	Bytes      int    `json:"bytes"`
	Encryption string `json:"encryption,omitempty"`
	// Forbids lists what the file forbids without its owner password.
	Forbids  []string `json:"forbids,omitempty"`
	Repaired bool     `json:"repaired"`
}

// Size is the size of pages that follow each other.
type Size struct {
	First  int     `json:"first"`
	Last   int     `json:"last"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// info writes the properties of the file as JSON. Neighbouring pages of one size share an entry.
func (r *run) info() error {
	d := r.docs[0]

	sizes, err := edit.Sizes(d.File)
	if err != nil {
		return invalid(r.inputs[0].Name, err)
	}
	out := Document{
		Pages: len(sizes), Description: edit.About(d.File), Version: d.Version, Bytes: len(r.inputs[0].Data),
		Encryption: d.Encryption, Repaired: d.Repaired,
	}

	for i, s := range sizes {
		if n := len(out.Sizes); n > 0 && out.Sizes[n-1].Width == s[0] && out.Sizes[n-1].Height == s[1] {
			out.Sizes[n-1].Last = i + 1
			continue
		}
		out.Sizes = append(out.Sizes, Size{i + 1, i + 1, s[0], s[1]})
	}

	for _, word := range []string{"print", "copy", "modify", "annotate"} {
		// Only the lower bits count: the higher ones control a part of what these do.
		if bits := forbidden()[word] & 0x3c; d.Encryption != "" && d.Permissions&bits != bits {
			out.Forbids = append(out.Forbids, word)
		}
	}

	data, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	r.result.Files = []File{{Name: r.name() + ".json", Data: append(data, '\n')}}
	r.result.Pages = len(sizes)

	return nil
}

// text reads the text of the selected pages. A form feed separates pages, as in pdftotext.
func (r *run) text() error {
	f := r.docs[0].File

	pages, list, err := r.pagesOf(f)
	if err != nil {
		return err
	}
	reader := pagetext.NewReader(f)
	var out bytes.Buffer

	for i, n := range pages {
		if list != nil && !within(list, i+1) {
			continue
		}

		if err := r.ctx.Err(); err != nil {
			return err
		}

		text, err := reader.Page(n)
		if err != nil {
			return invalid(r.inputs[0].Name, fmt.Errorf("page %d: %w", i+1, err))
		}

		if r.result.Pages > 0 {
			out.WriteByte('\f')
		}
		out.WriteString(text)
		r.result.Pages++
	}
	r.result.Files = []File{{Name: r.name() + ".txt", Data: out.Bytes()}}

	return nil
}
