package liquid

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"presswork/internal/markdown/admonition"
	"presswork/internal/markdown/source"
)

// replace sets the replacement of a tag. It returns false if the tag is left out and the author should know that.
func (t *tag) replace(tags []tag, src []byte) bool {
	if t.closes {
		if t.other >= 0 {
			switch opened := tags[t.other].with; {
			case strings.HasPrefix(opened, ":::"):
				t.with = ":::"
			case strings.HasPrefix(opened, source.CodeFence):
				t.with = source.CodeFence
			}
		}

		return true
	}

	if t.other < 0 {
		return t.single()
	}

	if !t.alone || !tags[t.other].alone {
		return true
	}
	title := t.text("title", "header", "heading", "summary", "label", "caption", "subject")

	switch t.name {
	case "highlight", "code", "code-toggle", "mermaid", "prism":
		t.codeBlock(title, bytes.TrimSpace(src[t.end:tags[t.other].start]))
	case "tab", "step", "expand", "collapse", "accordion", "accordion-item", "collapsible", "spoiler", "panel", "fold":
		if title == "" {
			title = t.text("name")
		}

		if title == "" && len(t.words) > 0 {
			title = t.words[0]
		}
		t.with = ":::tab " + title
	case "notice", "admonition", "callout", "alert", "hint", "message", "aside", "notification", "box", "block":
		t.notice(title)
	default:
		switch {
		case admonition.KindOf(t.name) != "":
			name := t.name
			if len(t.words) > 0 && admonition.KindOf(strings.ToLower(t.words[0])) != "" {
				name, t.words = strings.ToLower(t.words[0]), t.words[1:]
			}
			t.callout(name, title)
		case title != "":
			t.with = ":::tab " + title
		}
	}

	return true
}

// codeBlock sets the replacement of a tag around content: the fence of a code block. If the content already is a code
// block, the replacement is only the title.
func (t *tag) codeBlock(title string, content []byte) {
	fenced := bytes.HasPrefix(content, []byte("```")) || bytes.HasPrefix(content, []byte("~~~"))

	switch {
	case !fenced:
		t.with = source.CodeFence + t.language(content)
	case title != "":
		t.with = ":::tab " + title
	}
}

// notice sets the replacement to an admonition whose kind is an argument, "note" for an unknown kind.
func (t *tag) notice(title string) {
	kind := t.text("style", "type", "color", "class", "kind", "level", "context")
	if kind == "" && len(t.words) > 0 {
		kind, t.words = t.words[0], t.words[1:]
	}

	kind = strings.TrimPrefix(strings.ToLower(kind), "alert-")
	if admonition.KindOf(kind) == "" {
		kind = "note"
	}
	t.callout(kind, title)
}

// callout sets the replacement to an admonition. Without a title, the arguments without a name are the title.
func (t *tag) callout(name, title string) {
	words := slices.DeleteFunc(slices.Clone(t.words), func(w string) bool {
		return slices.Contains([]string{"no-icon", "open", "closed", "true", "false"}, w)
	})
	if title == "" {
		title = strings.Join(words, " ")
	}
	t.with = strings.TrimRight(":::"+name+" "+source.OneLine(title), " ")
}

// single sets the replacement of a tag without a closing tag. It returns false if the tag is left out and the author
// should know that.
func (t *tag) single() bool {
	if note := t.note(); note != "" {
		t.with = note
		return true
	}

	address := t.text("src", "url", "image_path", "file", "image", "href", "link")

	if address == "" && t.name == "video" && len(t.words) > 0 {
		address = t.words[0]
	}

	text := source.OneLine(
		t.text("title", "label", "caption", "note", "text", "alt", "summary", "header", "description"),
	)
	switch {
	case isPicture(address):
		t.with = t.picture(address)
	case slices.Contains([]string{"ref", "relref", "link", "post_url"}, t.name) && len(t.words) > 0:
		t.with = t.words[0]
	case t.name == "kbd" && len(t.words) > 0:
		t.with = "<kbd>" + strings.Join(t.words, " ") + "</kbd>"
	case t.name == "pagebreak":
		t.with = `\newpage`
	case slices.Contains([]string{"since", "new-in", "deprecated-in"}, t.name) && len(t.words) > 0:
		t.with = strings.ReplaceAll(t.name, "-", " ") + " " + t.words[0]
	case text != "":
		t.with = text
	case (t.name == "embed" || t.name == "video") && strings.HasPrefix(address, "http"):
		t.with = "<" + address + ">"
	case t.liquid:
		// Statements print nothing, so nothing is lost. A tag within a text stays as it is.
		statements := []string{"raw", "assign", "else", "elsif", "when", "break", "continue", "increment"}
		return !t.alone || slices.Contains(statements, t.name)
	default:
		return false
	}

	return true
}

// isPicture reports whether an address has the name of an image file.
func isPicture(address string) bool {
	types := []string{".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif"}
	return slices.Contains(types, strings.ToLower(path.Ext(address)))
}

// picture returns the Markdown of the image of a tag. The image has a caption if the tag is alone on its lines.
func (t *tag) picture(address string) string {
	alt := source.OneLine(t.text("alt", "caption", "title", "description"))
	image := "![" + strings.NewReplacer("[", "", "]", "").Replace(alt) + "](<" + address + ">"

	if caption := source.OneLine(t.text("caption", "title", "description")); caption != "" && t.alone {
		image += ` "` + strings.ReplaceAll(caption, `"`, "&quot;") + `"`
	}

	return image + ")"
}

// note returns an inline footnote for a tag within a text, "" if the tag is not a note. Notes are tags with an argument
// "note", shortcodes with "note" in their name, and the includes of Jekyll such as sidenote.html.
func (t *tag) note() string {
	const most = 4000         // bytes
	names := []string{"note"} // the arguments that may have the text

	file := t.name
	if t.name == "include" && len(t.words) > 0 {
		file = t.words[0]
	}

	if strings.Contains(strings.ToLower(path.Base(file)), "note") {
		names = append(names, "text", "content", "caption", "description")
	}

	text := strings.Join(strings.Fields(t.text(names...)), " ")
	switch {
	case text == "" || t.alone || len(text) > most:
		return ""
	case isBalanced(text):
		return "^[" + text + "]"
	}

	return " (" + text + ")" // a note would end at the unbalanced bracket
}

// isBalanced reports whether each square bracket of a text has its match.
func isBalanced(text string) bool {
	depth := 0

	for _, c := range text {
		switch c {
		case '[':
			depth++
		case ']':
			if depth--; depth < 0 {
				return false
			}
		}
	}

	return depth == 0
}

// text returns the first of the named arguments that has a value, "" for none.
func (t *tag) text(names ...string) string {
	for _, name := range names {
		if value := strings.TrimSpace(t.named[name]); value != "" {
			return value
		}
	}

	return ""
}

// language returns the language of the code between a tag and its closing tag, "" for an unknown one. Hugo shows the
// settings of a code-toggle in YAML, TOML and JSON; here they stay in the format of the source.
func (t *tag) language(code []byte) string {
	language := t.text("lang", "language")
	switch {
	case t.name == "mermaid":
		language = t.name
	case t.name == "code-toggle":
		return settingsFormat(code)
	case language == "" && len(t.words) > 0:
		language = strings.TrimPrefix(t.words[0], "lang:")
	}

	if strings.ContainsFunc(language, func(r rune) bool { return r <= ' ' || r == '`' || r == '~' || r == '{' }) {
		return ""
	}

	return language
}

// settingsFormat returns the format of settings by their first characters.
func settingsFormat(code []byte) string {
	first, _, _ := bytes.Cut(code, []byte("\n"))

	switch {
	case bytes.HasPrefix(first, []byte("{")):
		return "json"
	case bytes.HasPrefix(first, []byte("[")) || bytes.Contains(first, []byte(" = ")):
		return "toml"
	}

	return "yaml"
}
