// Package webfont embeds the fonts of a theme in an HTML file, reduced to the characters that the file shows.
package webfont

import (
	"encoding/base64"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"presswork/internal/chromium/fonts"
	"presswork/internal/markdown/block"
	"presswork/themes"
)

// faceUse lists the faces of a font family that a page shows.
type faceUse struct {
	stack   string // the value of font-family; its first family counts
	weights []int  // CSS font weights, 100 to 900
	italic  bool
}

// CSS returns the @font-face rules of the faces of a theme that a page needs. names are those of the page's elements
// and attributes, content is its HTML, and cover is true if it has a cover. A family that is not embedded in the
// program gets no rule: the browser uses the reader's fonts instead.
func CSS(theme themes.Theme, names themes.Names, content string, cover bool) string {
	characters := charactersOf(content)
	var b strings.Builder
	written := map[string]bool{}

	for _, use := range facesUsed(theme, names, cover) {
		family, _, _ := strings.Cut(use.stack, ",")
		family = strings.Trim(strings.TrimSpace(family), `"'`)

		for _, face := range nearestFaces(fonts.FacesOf(family), use) {
			if written[face.File] {
				continue
			}
			written[face.File] = true

			data, ok := fonts.Face(face.File)
			if !ok {
				continue
			}

			if small, err := fonts.Subset(data, characters); err == nil && small != nil {
				b.WriteString(face.Rule(family, "data:font/woff;base64,"+base64.StdEncoding.EncodeToString(small)))
			}
		}
	}

	return b.String()
}

// facesUsed returns the faces that the elements of a page need.
func facesUsed(theme themes.Theme, names themes.Names, cover bool) []faceUse {
	headingWeight, err := strconv.Atoi(theme.Token("--heading-weight"))
	if err != nil {
		headingWeight = 700
	}
	body := faceUse{
		stack:   theme.Fonts.Body,
		weights: []int{400},
		italic:  holdsAny(names, "em", "i", "cite", "var", "dfn", "blockquote"),
	}

	headings := holdsAny(names, "h1", "h2", "h3", "h4", "h5", "h6")
	// These elements are bold.
	if headings || holdsAny(names, "strong", "b", "th", "dt", "summary") || names.HasClass("alert-title") ||
		names.HasClass("title") || names.HasClass("authors") {
		body.weights = append(body.weights, 700)
	}

	uses := []faceUse{body}
	if headings || holdsAny(names, "hr", "header") || names.HasClasses() {
		uses = append(uses, faceUse{
			stack:   theme.Fonts.Heading,
			weights: []int{headingWeight},
			italic:  theme.Token("--heading-style") == "italic",
		})
	}

	if stack := theme.Token("--font-cover"); stack != "" && cover {
		uses = append(uses, faceUse{stack: stack, weights: []int{headingWeight}})
	}

	if holdsAny(names, "code", "pre", "kbd", "samp", "tt") {
		uses = append(uses, faceUse{stack: theme.Fonts.Mono, weights: []int{400}})
	}

	if names["math"] {
		uses = append(uses, faceUse{stack: "STIX Two Math", weights: []int{400}})
	}

	return uses
}

// holdsAny reports whether a page has at least one of the elements.
func holdsAny(names themes.Names, elements ...string) bool {
	return slices.ContainsFunc(elements, func(e string) bool { return names[e] })
}

// nearestFaces returns the face nearest to each weight that a use needs, and one italic face if it needs that.
func nearestFaces(faces []fonts.WebFace, use faceUse) (chosen []fonts.WebFace) {
	nearest := func(weight int, italic bool) {
		distance := func(f fonts.WebFace) int { return max(f.Weight-weight, weight-f.Weight) }
		best := -1

		for i, f := range faces {
			if f.Italic == italic && (best < 0 || distance(f) < distance(faces[best])) {
				best = i
			}
		}

		if best >= 0 {
			chosen = append(chosen, faces[best])
		}
	}
	for _, weight := range use.weights {
		nearest(weight, false)
	}

	if use.italic {
		nearest(use.weights[0], true)
	}

	return chosen
}

// charactersOf returns each character of a page's text once. It adds capitals and the numbers, quotes and bullets that
// stylesheets generate.
func charactersOf(content string) (list []rune) {
	seen := map[rune]bool{}

	add := func(r rune) {
		if r >= ' ' && r != unicode.ReplacementChar && !seen[r] {
			seen[r] = true
			list = append(list, r)
		}
	}
	for r := rune(' '); r <= '~'; r++ {
		add(r)
	}

	for _, r := range "\u00a0\u00ad–—‘’“”„‚«»‹›…•◦▪·×−≈→←↑↓✓☐☑†‡§¶©®™€°" {
		add(r)
	}

	for _, r := range html.UnescapeString(block.Visible(content)) {
		add(r)
		add(unicode.ToUpper(r))
	}

	return list
}
