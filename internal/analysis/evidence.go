package analysis

import (
	"strings"

	"presswork/internal/analysis/plaintext"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown"
)

// evidence counts elements in the blocks of the sample, such as links and images.
type evidence struct {
	codeSpans, links, images, badges, citations, math, issues int
	// bold and linked hold the texts in bold and the texts of links, without sentences.
	bold, linked []string
}

// maxMarked limits the bold texts and the link texts of a document. maxLabel limits the length of each, in bytes.
const maxMarked, maxLabel = 400, 60

// count adds the elements of a block.
func (ev *evidence) count(b markdown.Block) {
	ev.codeSpans += b.CodeSpans
	ev.links += len(b.Addresses)

	ev.math += b.Formulas
	for _, image := range b.Images {
		if badgeLike().MatchString(clip(image, 400)) {
			ev.badges++
		} else {
			ev.images++
		}
	}
	ev.bold = appendLabels(ev.bold, b.Bold)

	ev.linked = appendLabels(ev.linked, b.Linked)
	// "#12" refers to an issue.
	for at := strings.IndexByte(b.Text, '#'); at >= 0; {
		if at+1 < len(b.Text) && b.Text[at+1] >= '0' && b.Text[at+1] <= '9' {
			ev.issues++
		}

		next := strings.IndexByte(b.Text[at+1:], '#')
		if next < 0 {
			break
		}
		at += 1 + next
	}
}

// appendLabels appends labels of more than one byte that are not too long, up to maxMarked in total.
func appendLabels(to, labels []string) []string {
	for _, l := range labels {
		if len(l) > 1 && len(l) < maxLabel && len(to) < maxMarked {
			to = append(to, l)
		}
	}

	return to
}

var (
	// badgeLike matches the address or the text of a badge.
	badgeLike = lazyregexp.New(`(?i)badge|shields\.io|travis|codecov|coveralls|npm version|build status`)
	// citationLike matches a citation such as [@doe99] or [1, 2].
	citationLike = lazyregexp.New(`\[(?:-?@[^\[\]\n]{1,300}|\d[\d, ]{0,2})\]`)
	// templateTag matches a tag of a template engine.
	templateTag = lazyregexp.New(`\{\{[^{}\n]{0,400}\}\}|\{%[^{}\n]{0,400}%\}`)
)

// stripTags removes the tags of site generators: "{{ page.title }}", "{% include x %}".
func stripTags(text string) string {
	if strings.IndexByte(text, '{') < 0 {
		return text
	}

	return templateTag().ReplaceAllString(text, "")
}

// stripMarkers counts the citations "[@key; @other]" and "[3]" and returns the text without them and without the tags
// of site generators.
func (ev *evidence) stripMarkers(text string) string {
	text = stripTags(text)
	if strings.IndexByte(text, '[') < 0 {
		return text
	}

	return citationLike().ReplaceAllStringFunc(text, func(c string) string {
		ev.citations += 1 + strings.Count(c, ";")
		return ""
	})
}

// looksLikeCall reports whether s is a signature or request rather than words: "copy(src, dest)", "v8::Value",
// "GET /users".
func looksLikeCall(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i] == '(' && (plaintext.IsAlnum(s[i-1]) || s[i-1] == '_') || s[i] == ':' && s[i-1] == ':' {
			return true
		}
	}

	verb, rest, _ := strings.Cut(strings.Trim(s, "` "), " ")
	switch verb {
	case "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS":
		return strings.HasPrefix(strings.TrimLeft(rest, " `"), "/")
	}

	return false
}
