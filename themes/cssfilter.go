package themes

import (
	"fmt"
	"strings"
)

// FilterCSS removes every reference to external resources from an untrusted stylesheet: @import, url() except data:
// images and fonts, and functions that load a bare string. No text in the result can end an HTML style element. dropped
// lists the removed parts, at most 20, each shortened.
func FilterCSS(css string) (clean string, dropped []string) {
	f := cssFilter{scanner: newCSSScanner(css)}
	f.run()

	return f.out.String(), f.dropped
}

// DataURLs returns the data URLs of images and fonts that FilterCSS leaves in a stylesheet.
func DataURLs(css string) []string {
	f := cssFilter{scanner: newCSSScanner(css)}
	f.run()

	return f.kept
}

// cssFilter copies a stylesheet token by token, without references to the network.
type cssFilter struct {
	scanner *cssScanner
	out     strings.Builder
	dropped []string
	kept    []string // the data URLs in the result
}

// run copies the tokens that are allowed.
func (f *cssFilter) run() {
	for {
		t, ok := f.scanner.next()
		if !ok {
			return
		}

		switch t.kind {
		case cssSpace:
			f.out.WriteString(space(t.raw))
		case cssBad:
			f.out.WriteByte(' ')
		case cssString:
			f.out.WriteString(quote(t.value))
		case cssURL:
			f.writeURL(t.value)
		case cssFunction:
			f.writeFunction(t)
		case cssAt:
			f.writeAtRule(t)
		default:
			f.writeRaw(t)
		}
	}
}

// writeURL writes a data URL of an image or a font, and "none" for any other address.
func (f *cssFilter) writeURL(target string) {
	if !isDataURL(target) {
		f.drop("url(" + target + ")")
		f.out.WriteString("none")

		return
	}
	f.kept = append(f.kept, strings.TrimSpace(target))
	f.out.WriteString("url(" + quote(target) + ")")
}

// writeFunction writes a function. Functions that load something become "none".
func (f *cssFilter) writeFunction(t cssToken) {
	switch name := strings.ToLower(t.value); name {
	case "url":
		target := ""

		depth := 1
		for depth > 0 {
			t, ok := f.scanner.next()
			if !ok {
				break
			}

			if t.kind == cssString && target == "" {
				target = t.value
			}
			depth += nesting(t)
		}
		f.writeURL(target)
	case "src", "image", "image-set", "-webkit-image-set", "element", "paint", "expression":
		f.skip(1)
		f.drop(name + "()")
		f.out.WriteString("none")
	default:
		f.writeRaw(t)
	}
}

// writeRaw copies a token. It changes each < so that the result cannot contain "</style": an escaped < becomes its code
// point, and a space follows a bare one.
func (f *cssFilter) writeRaw(t cssToken) {
	f.out.WriteString(strings.ReplaceAll(t.raw, `\<`, `\3c `))

	if t.raw == "<" {
		f.out.WriteByte(' ')
	}
}

// writeAtRule copies an at-rule. It drops those that load something or change how other rules are read, with their
// content.
func (f *cssFilter) writeAtRule(t cssToken) {
	switch name := strings.ToLower(t.value); name {
	case "import", "namespace", "charset", "document", "-moz-document":
		f.drop("@" + name)

		for {
			t, ok := f.scanner.next()
			if !ok || t.raw == ";" {
				return
			}

			if t.raw == "{" {
				f.skip(1)
				return
			}

			if nesting(t) > 0 {
				f.skip(1)
			}
		}
	default:
		f.writeRaw(t)
	}
}

// skip reads tokens up to the one that closes depth open brackets, without copying them.
func (f *cssFilter) skip(depth int) {
	for depth > 0 {
		t, ok := f.scanner.next()
		if !ok {
			return
		}
		depth += nesting(t)
	}
}

// drop records a removed part, up to a limit.
func (f *cssFilter) drop(what string) {
	const most = 20
	if len(f.dropped) < most {
		f.dropped = append(f.dropped, clip(what))
	}
}

// nesting returns the change of the nesting depth by a token: 1, 0 or -1.
func nesting(t cssToken) int {
	if t.kind == cssFunction {
		return 1
	}

	if t.kind != cssOther {
		return 0
	}

	switch t.raw {
	case "(", "[", "{":
		return 1
	case ")", "]", "}":
		return -1
	}

	return 0
}

// isDataURL reports whether an address is a data URL of an image or a font. A browser loads nothing for it and runs no
// code in it.
func isDataURL(target string) bool {
	s := strings.ToLower(strings.TrimSpace(target))
	for _, kind := range []string{
		"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/svg+xml",
		"font/", "application/font", "application/x-font", "application/vnd.ms-fontobject",
	} {
		if strings.HasPrefix(s, "data:"+kind) {
			return true
		}
	}

	return false
}

// quote returns a text as a CSS string. It escapes all characters with which CSS or HTML could end the string early.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')

	for _, r := range s {
		switch {
		case r == '"' || r == '\\' || r == '<' || r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, "\\%x ", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')

	return b.String()
}

// QuoteCSS returns a text as a CSS string, for a stylesheet within HTML.
func QuoteCSS(text string) string { return quote(text) }

// space returns the space or line break that replaces white space or a comment.
func space(raw string) string {
	if strings.Contains(raw, "\n") && !strings.HasPrefix(raw, "/*") {
		return "\n"
	}

	return " "
}

// clip shortens a text to at most 80 bytes for a message.
func clip(s string) string {
	const limit = 80
	if len(s) > limit {
		return strings.ToValidUTF8(s[:limit], "") + "…"
	}

	return s
}
