package layout

import (
	"maps"
	"slices"
	"strings"

	"presswork/internal/lazyregexp"
)

// besideRecipe is the share of the width that the list of ingredients takes.
const besideRecipe = .36

// recipe builds a recipe from the fields of schema.org and of recipe themes of site generators.
func recipe(b *builder) {
	b.head.Line("p", b.text("description", "summary"), "class", "recipe-description")

	var rows [][2]string
	for _, fact := range [][]string{
		{"servings", "serves", "yield", "yields", "recipeyield"},
		{"prep", "preptime"},
		{"cook", "cooktime", "baketime"},
		{"total", "totaltime", "time"},
	} {
		rows = append(rows, [2]string{b.label(fact[0]), duration(b.text(fact...))})
	}
	source := b.text("source", "sourceurl", "url")
	rows = append(rows, [2]string{b.label("source"), firstOf(withoutScheme(source), b.Author)})
	writeFacts(&b.head, "recipe-facts", rows)

	ingredients := b.entries("ingredients", "recipeingredient", "ingredient")
	if len(ingredients) > 0 {
		b.head.Open("div", "class", "recipe-ingredients").Raw("\n").Line("h2", b.label("ingredients"))
		b.writeGroups(ingredients, "ul", "")
		b.head.Close("div").Raw("\n")
		b.parts.Beside = besideRecipe
	}

	steps := b.entries("directions", "instructions", "recipeinstructions", "steps", "method")
	if len(steps) > 0 {
		b.head.Line("h2", b.label("method"))
		b.writeGroups(steps, "ol", "recipe-steps")
	}
	b.parts.PageCSS = unnumberedFirst
}

// writeGroups writes a list. An entry that holds others ends the list; its name stands above a list of its own.
func (b *builder) writeGroups(list []entry, element, class string) {
	opened := false
	end := func() {
		if opened {
			b.head.Close(element).Raw("\n")
		}
		opened = false
	}

	for _, e := range list {
		for _, g := range groupsOf(e) {
			if len(g.list) > 0 {
				end()
				b.head.Line("h3", g.name)
				b.writeGroups(g.list, element, class)
				continue
			}

			if g.name == "" {
				continue
			}

			if !opened {
				b.head.Open(element, "class", class).Raw("\n")
				opened = true
			}
			b.head.Line("li", g.name)
		}
	}
	end()
}

// group is an item, or a named list of items.
type group struct {
	name string
	list []entry
}

// groupsOf returns the groups of an entry. It reads a text, and maps with an amount and a name or with a name and
// items. Other maps are lists by their names.
func groupsOf(e entry) (groups []group) {
	name := firstOf(e.text, e.get("name", "title", "group", "section"))
	if items := e.list("items", "list", "ingredients", "steps", "itemlistelement"); len(items) > 0 {
		return []group{{name, items}}
	}

	text := joined(" ", e.get("amount", "quantity", "qty"), e.get("unit"),
		firstOf(e.get("ingredient", "item", "text"), name))
	if note := e.get("note", "notes", "preparation"); note != "" {
		text = joined(", ", text, note)
	}

	if text != "" {
		return []group{{name: text}}
	}

	for _, key := range slices.Sorted(maps.Keys(e.raw)) {
		if list := entriesOf(e.raw[key]); len(list) > 0 {
			groups = append(groups, group{key, list})
		}
	}

	return groups
}

// isoDuration matches a duration of ISO 8601 in days, hours and minutes: PT1H30M.
var isoDuration = lazyregexp.New(`^P(?:(\d{1,4})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,4})M)?)?$`)

// duration returns a duration of ISO 8601, such as PT1H30M, with its units. It returns other texts unchanged.
func duration(text string) string {
	m := isoDuration().FindStringSubmatch(text)
	if m == nil || joined("", m[1:]...) == "" {
		return text
	}
	var parts []string

	for i, unit := range []string{"d", "h", "min"} {
		if n := strings.TrimLeft(m[i+1], "0"); n != "" {
			parts = append(parts, n+"\u00a0"+unit)
		}
	}

	return strings.Join(parts, " ")
}
