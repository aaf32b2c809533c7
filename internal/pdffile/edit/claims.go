package edit

import (
	"fmt"
	"regexp"

	"presswork/internal/lazyregexp"
	"presswork/internal/pdffile"
	"presswork/internal/pdffile/parse"
)

// claims are the standards that the metadata of a file claims to meet.
type claims struct {
	// a is a level of PDF/A such as "2B", ua a part of PDF/UA such as "1"; "" if there is no claim.
	a, ua string
}

// and returns the claims that c and other have in common.
func (c claims) and(other claims) claims {
	if c.a != other.a {
		c.a = ""
	}

	if c.ua != other.ua {
		c.ua = ""
	}

	return c
}

// maxMetadata limits the size of the metadata that is read, in bytes.
const maxMetadata = 16 << 20

// metadata returns the XMP packet of the file, or nil.
func metadata(f *pdffile.File) []byte {
	n, ok := f.Object(dictOf(f, []byte(pdffile.RefTo(f.Root))).Get("Metadata"))
	if !ok || !pdffile.IsStream(f.Objects[n]) {
		return nil
	}
	xmp, _ := parse.Unpack(f, f.Objects[n], maxMetadata) // unreadable metadata claims nothing

	return xmp
}

// claimPattern matches the elements and attributes of XMP that claim PDF/A or PDF/UA.
var claimPattern = lazyregexp.New(
	`(pdfaid|pdfuaid):(part|conformance|rev|amd|corr)(?:\s*=\s*["']([^"']*)["']|>([^<]*)<)`)

// claimsOf returns the standards that the metadata claims. Values stand in elements or in attributes, in any order.
func claimsOf(f *pdffile.File) (c claims) {
	for _, m := range claimPattern().FindAllSubmatch(metadata(f), -1) {
		value := string(m[3]) + string(m[4])
		if value == "" { // an end tag
			continue
		}

		switch string(m[1]) + ":" + string(m[2]) {
		case "pdfaid:part":
			// The part and the level may come in either order, so both are joined as they are found.
			c.a = value + c.a
		case "pdfaid:conformance":
			c.a += value
		case "pdfuaid:part":
			c.ua = value
		}
	}

	return c
}

// restrict removes the claims from the metadata that keep does not have, and returns a warning for each.
func restrict(f *pdffile.File, keep claims) (warnings []string) {
	had := claimsOf(f)
	xmp := metadata(f)
	drop := func(prefix, claim string) {
		warnings = append(warnings, fmt.Sprintf("the result no longer claims to be %s", claim))
		names := prefix + `:(?:part|conformance|rev|amd|corr)`
		xmp = regexp.MustCompile(
			`\s`+names+`\s*=\s*(?:"[^"]*"|'[^']*')|<`+names+`>[^<]*</`+names+`>`).ReplaceAll(xmp, nil)
	}

	if had.a != "" && keep.a != had.a {
		drop("pdfaid", "PDF/A-"+had.a)
	}

	if had.ua != "" && keep.ua != had.ua {
		drop("pdfuaid", "PDF/UA-"+had.ua)
	}

	if len(warnings) > 0 {
		f.SetEntry(f.Root, "Metadata", pdffile.RefTo(f.Add(pdffile.NewStream(pdffile.Dict{
			{Key: "Type", Value: []byte("/Metadata")}, {Key: "Subtype", Value: []byte("/XML")},
		}, xmp))))
	}

	return warnings
}
