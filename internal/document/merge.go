package document

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"presswork"
	"presswork/internal/document/metadata"
	"presswork/internal/fault"
	"presswork/internal/markdown"
	"presswork/internal/markdown/block"
	"presswork/internal/markdown/cite"
	"presswork/themes"
)

// Part is a document that is printed after another one and with it. It begins
// on a new page; of its front matter only the title counts, which becomes its
// heading if it has none.
type Part struct {
	Content []byte
	// Path is where it lies, slash-separated. A link to it from the document or
	// another Part leads to its pages. Warnings and errors begin with its base.
	Path string
	// Asset and Include are as in Document.
	Asset, Include func(name string) ([]byte, error)
}

// merger puts the parts of a document together.
type merger struct {
	index map[string]int // part by path
	parts []mergedPart
	taken map[string]bool // ids in use
}

type mergedPart struct {
	markdown.Document
	path string
	// start is the id that links to the whole part lead to.
	start string
	// ids holds the part's anchors, by the name they have in its source.
	ids map[string]string
}

// renderAll renders the document, and its Parts after it.
func (c *Converter) renderAll(
	ctx context.Context,
	d Document,
	matter metadata.FrontMatter,
	o presswork.Options,
	theme themes.Theme,
) (markdown.Document, error) {
	if len(d.Parts) == 0 {
		settings := c.markdownOptions(d, matter, o, theme)
		settings.Title = titleAbove(matter, o)

		return c.markdown.Parse(ctx, matter.Body, settings)
	}

	m := merger{index: map[string]int{path.Clean(d.Path): 0}, taken: map[string]bool{}}
	for i, p := range d.Parts {
		m.index[path.Clean(p.Path)] = i + 1
	}
	labelled := markdown.HasLabels(d.Content) ||
		slices.ContainsFunc(d.Parts, func(p Part) bool { return markdown.HasLabels(p.Content) })
	chapter := 1
	var counts map[markdown.Kind]int
	var drafts []partDraft

	for i, p := range append([]Part{{Content: d.Content, Path: d.Path, Asset: d.Asset, Include: d.Include}}, d.Parts...) {
		if i > 0 {
			var err error
			if matter, err = Check(p.Content, presswork.Options{}); err != nil {
				return markdown.Document{}, inPart(p.Path, err)
			}
		}

		settings := c.markdownOptions(Document{Path: p.Path, Asset: p.Asset, Include: p.Include}, matter, o, theme)
		if i > 0 {
			settings.Lang = drafts[0].body.Lang // one language for all
		}

		settings.Chapter, settings.Counts, settings.Library = chapter, counts, d.Asset
		if labelled {
			settings.Labels = map[string]markdown.Label{}
		}
		settings.Links = func(destination string, line int) (string, bool) { return m.resolve(p.Path, destination, line) }

		settings.Title = matter.Options.Title
		if i == 0 {
			settings.Title = titleAbove(matter, o)
		}

		body, err := c.markdown.Parse(ctx, matter.Body, settings)
		if err != nil {
			return markdown.Document{}, inPart(p.Path, err)
		}

		for _, h := range body.Headings {
			if h.Level == 1 {
				chapter++
			}
		}
		counts = body.Counts
		drafts = append(drafts, partDraft{path: p.Path, content: matter.Body, settings: settings, body: body})
	}
	citeTogether(drafts)

	for i, p := range drafts {
		if p.body.Unresolved { // perhaps another part has what it refers to
			p.settings.Labels, p.again = labelsBeside(drafts, i), true
		}

		if p.again {
			body, err := c.markdown.Parse(ctx, p.content, p.settings)
			if err != nil {
				return markdown.Document{}, inPart(p.path, err)
			}
			p.body = body
		}
		m.add(p.path, p.body)
	}

	return m.merged(), nil
}

// partDraft is a rendered part, and how it was rendered.
type partDraft struct {
	path     string
	content  []byte
	settings markdown.Options
	body     markdown.Document
	// again is set when it must be rendered once more, by what others hold.
	again bool
}

// citeTogether gives parts that cite one bibliography: in the first one that has a
// place for it, else in the last.
func citeTogether(drafts []partDraft) {
	var all []cite.Citation

	host := len(drafts) - 1
	for i, p := range slices.Backward(drafts) {
		all = slices.Concat(p.body.Cited, all)
		if p.body.HasRefs {
			host = i
		}
	}
	before := 0

	for i := range drafts {
		p := &drafts[i]
		own := len(p.body.Cited)

		p.settings.CitedBefore, p.settings.CitedAfter = all[:before], all[before+own:]
		if i != host {
			p.settings.EntriesAt = fmt.Sprintf("%s%d/0/", partLink, host)
		}
		p.again = len(all) > 0 && (own > 0 || i == host)
		before += own
	}
}

// labelsBeside are the labels of all parts but one, as links to them; of several
// the first.
func labelsBeside(drafts []partDraft, self int) map[string]markdown.Label {
	labels := map[string]markdown.Label{}

	for i, p := range drafts {
		if i == self {
			continue
		}

		for name, l := range p.body.Labels {
			if _, taken := labels[name]; !taken {
				l.ID = fmt.Sprintf("%s%d/0/%s", partLink, i, l.ID)
				labels[name] = l
			}
		}
	}

	return labels
}

// inPart names the one of several files that an error is about.
func inPart(name string, err error) error {
	e := fault.AsError(err)
	if e.Code == fault.Internal {
		return err
	}

	return fault.Errorf(e.Code, "%s: %s", path.Base(name), e.Message).WithParam(e.Param).WithCause(err)
}

// add takes a rendered part and gives its anchors names that no other has.
func (m *merger) add(name string, body markdown.Document) {
	p := mergedPart{Document: body, path: name, ids: map[string]string{}}
	block.EachTag(body.HTML, func(t *html.Token) bool {
		for _, a := range t.Attr {
			if a.Key == "id" && p.ids[a.Val] == "" {
				p.ids[a.Val] = m.name(a.Val)
			}
		}

		return false
	})

	if len(body.Headings) > 0 {
		p.start = p.ids[body.Headings[0].ID]
	} else {
		p.start = m.name("part-" + strconv.Itoa(len(m.parts)+1))
		p.HTML = `<a id="` + html.EscapeString(p.start) + "\"></a>\n" + p.HTML
		p.ids[p.start] = p.start
	}
	m.parts = append(m.parts, p)
}

func (m *merger) name(id string) string {
	name := id
	for n := len(m.parts) + 1; m.taken[name]; n++ {
		name = id + "-" + strconv.Itoa(n)
	}
	m.taken[name] = true

	return name
}

// merged is the whole: every anchor and every link to one has its new name.
func (m *merger) merged() markdown.Document {
	whole := markdown.Document{Title: m.parts[0].Title, Lang: m.parts[0].Lang}
	var out strings.Builder

	for i, p := range m.parts {
		base := path.Base(p.path)
		broken := map[string]int{} // the line of the first
		body := block.EachTag(p.HTML, func(t *html.Token) (changed bool) {
			for i, a := range t.Attr {
				val := a.Val
				switch a.Key {
				case "id":
					val = p.ids[a.Val]
				case "href":
					val = m.href(p, a.Val, broken)
				case "aria-labelledby", "aria-describedby", "headers":
					words := strings.Fields(val)
					for n, word := range words {
						if id, ok := p.ids[word]; ok {
							words[n] = id
						}
					}
					val = strings.Join(words, " ")
				}
				changed = changed || val != a.Val
				t.Attr[i].Val = val
			}

			return changed
		})
		whole.TOC = whole.TOC || p.TOC
		whole.Upright = whole.Upright || p.Upright
		whole.Letters = whole.Letters.With(p.Letters)
		whole.WidestFormula = max(whole.WidestFormula, p.WidestFormula)
		whole.Parts += p.Parts

		if i > 0 {
			out.WriteString("<div class=\"page-break\"></div>\n")
		}
		out.WriteString(body)

		for _, h := range p.Headings {
			h.ID = p.ids[h.ID]
			whole.Headings = append(whole.Headings, h)
		}

		for _, c := range p.Captions {
			c.ID = p.ids[c.ID]
			whole.Captions = append(whole.Captions, c)
		}

		for _, e := range p.Index {
			e.ID = p.ids[e.ID]
			whole.Index = append(whole.Index, e)
		}

		for _, link := range slices.Sorted(maps.Keys(broken)) {
			p.Warnings = append(p.Warnings, fault.Warning{
				Code: fault.LinkBroken, Line: broken[link],
				Message: fmt.Sprintf("link to %q, but nothing there has that anchor", link),
			})
		}

		for _, w := range p.Warnings {
			w.Message = base + ": " + w.Message
			whole.Warnings = append(whole.Warnings, w)
		}
	}
	whole.HTML = out.String()
	whole.Blocks = block.Read(whole.HTML)

	return whole
}
