// Package admonition holds the names of admonitions, which dialects and the parser share.
package admonition

// TitleClass is the class of a division that is the title of the admonition around it.
const TitleClass = "admonition-title"

// KindOf returns which of GitHub's five kinds a name in lower case stands for, "" if it is not the name of
// an admonition. It knows the names of MkDocs, Docusaurus, VuePress, Quarto and Obsidian.
func KindOf(name string) string {
	switch name {
	case "note", "info", "todo", "abstract", "summary", "tldr", "seealso", "quote", "cite", "example",
		"question", "help", "faq", "details":
		return "note"
	case "tip", "hint", "success", "check", "done":
		return "tip"
	case "important":
		return "important"
	case "warning", "attention", "warn":
		return "warning"
	case "caution", "danger", "error", "failure", "fail", "missing", "bug":
		return "caution"
	}

	return ""
}
