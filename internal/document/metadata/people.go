package metadata

import (
	"cmp"
	"slices"
	"strings"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/frontmatter"
)

// Author is an author of a paper.
type Author struct {
	Name string
	// Affiliations are the institutions of the author, each on one line.
	Affiliations []string
	// ORCID is the identifier of the author without an address, such as 0000-0002-1825-0097; "" for none.
	ORCID string
	// Note is a remark that JOSS writes as a note after the name, such as "Corresponding author."; "" for none.
	Note string
}

var (
	// orcid matches the ORCID of a researcher, also within its address.
	orcid = lazyregexp.New(`\d{4}-\d{4}-\d{4}-\d{3}[\dX]`)
	// nameNote matches a note of Markdown after a name, and an asterisk before it: "A. Lee*^[Corresponding author.]".
	nameNote = lazyregexp.New(`[ \t]*\\?\*?\^\[([^\]\n]{0,200})\]`)
)

// withoutNote returns a name without its note, and the note.
func withoutNote(name string) (_, note string) {
	if m := nameNote().FindStringSubmatch(name); m != nil {
		note = strings.TrimSpace(m[1])
	}

	return strings.TrimSpace(nameNote().ReplaceAllString(name, "")), note
}

// takeAuthors takes the authors in the forms of Quarto, MyST and JOSS: maps with a name, affiliations and an
// ORCID. They refer to entries of "affiliations" by an id or a number; resolveAffiliations replaces these.
func (m *FrontMatter) takeAuthors(v any) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	m.Authors = nil

	for _, item := range list {
		a := Author{}
		if a.Name, a.Note = withoutNote(word(item)); a.Name == "" {
			continue
		}

		if person, ok := item.(map[string]any); ok {
			a.ORCID = orcid().FindString(word(person["orcid"]))

			for _, key := range []string{"affiliation", "affiliations"} {
				a.Affiliations = append(a.Affiliations, institutions(person[key])...)
			}
		}
		m.Authors = append(m.Authors, a)
	}
}

// affiliationsIn returns the affiliations to which authors refer, by their ids or numbers.
func affiliationsIn(fields []frontmatter.Field) map[string]string {
	byID := map[string]string{}

	for _, f := range fields {
		v, err := f.Text()
		if f.Key != "affiliations" || err != nil {
			continue
		}
		list, _ := v.([]any)

		for _, item := range list {
			place, ok := item.(map[string]any)
			if !ok {
				continue
			}

			id := cmp.Or(word(place["id"]), word(place["index"]))
			if names := institutions(place); id != "" && len(names) > 0 {
				byID[id] = names[0]
			}
		}
	}

	return byID
}

// institutions returns the names of affiliations, or their ids where they are references.
func institutions(v any) (out []string) {
	switch v := v.(type) {
	case string:
		if v = strings.Join(strings.Fields(v), " "); v != "" {
			out = append(out, v)
		}
	case []any:
		for _, item := range v {
			out = append(out, institutions(item)...)
		}
	case map[string]any:
		if ref := word(v["ref"]); ref != "" {
			return []string{ref}
		}
		parts := []string{
			word(v["department"]), cmp.Or(word(v["name"]), word(v["institution"])), word(v["city"]), word(v["country"]),
		}

		return institutions(strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", "))
	}

	return out
}

// resolveAffiliations replaces the ids in the affiliations of the authors by the names. "1, 2" has two ids.
func (m *FrontMatter) resolveAffiliations(byID map[string]string) {
	for i := range m.Authors {
		var names []string

		for _, written := range m.Authors[i].Affiliations {
			ids := strings.FieldsFunc(written, func(r rune) bool { return r == ',' || r == ' ' || r == '&' })
			isKnown := func(id string) bool { return byID[id] != "" }

			switch {
			case isKnown(written):
				names = append(names, byID[written])
			case len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { return !isKnown(id) }):
				for _, id := range ids {
					names = append(names, byID[id])
				}
			default:
				names = append(names, written)
			}
		}
		m.Authors[i].Affiliations = names
	}
}
