package tree

import "presswork/internal/lazyregexp"

// IsASCIIWord reports whether r is an ASCII letter or digit.
func IsASCIIWord(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// codeTag matches the tags of elements whose text is code.
var codeTag = lazyregexp.New(`(?i)^<(/?)(code|kbd|pre|samp|tt|var|math|script|style)\b`)

// CodeDepth returns +1 for a tag that opens an element of code, -1 for one that closes it, and 0 for other tags.
func CodeDepth(tag []byte) int {
	m := codeTag().FindSubmatch(tag)
	switch {
	case m == nil:
		return 0
	case len(m[1]) > 0:
		return -1
	}

	return 1
}

// DroppedElements returns the elements of raw HTML that the sanitiser removes together with their content.
func DroppedElements() []string {
	return []string{
		"script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes", "noscript", "plaintext",
		"object", "svg", "math", "template", "select", "audio", "video", "canvas", "frame", "frameset", "nostyle",
	}
}
