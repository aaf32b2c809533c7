// Package admonition holds the names of admonitions, which dialects and the parser share.
package admonition

import "strings"

// TitleClass is the class of a division that is the title of the admonition it begins.
const TitleClass = "admonition-title"

// Kinds maps the names of admonitions in MkDocs, Docusaurus, VuePress, Quarto and Obsidian to
// GitHub's five kinds. The map is the caller's.
func Kinds() map[string]string {
	kinds := map[string]string{}

	for kind, names := range map[string]string{
		"note":      "note info todo abstract summary tldr seealso quote cite example question help faq details",
		"tip":       "tip hint success check done",
		"important": "important",
		"warning":   "warning attention warn",
		"caution":   "caution danger error failure fail missing bug",
	} {
		for name := range strings.FieldsSeq(names) {
			kinds[name] = kind
		}
	}

	return kinds
}
