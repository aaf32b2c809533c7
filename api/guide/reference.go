package guide

import (
	"context"
	"fmt"
	"html/template"
	"sync"

	"presswork/internal/markdown"
)

// tagPage is a page with the operations of a tag.
type tagPage struct {
	Path, Title, Summary string
	Operations           []operation
}

// pagesTag marks the pages for browsers, which are no part of the reference.
const pagesTag = "pages"

// addReference adds a page for each tag of the description.
func (g *Guide) addReference(d *description) {
	byTag := map[string][]operation{}
	for _, o := range d.operations() {
		byTag[o.Tag] = append(byTag[o.Tag], o)
	}
	var links []navLink

	for _, tag := range d.root.list("tags") {
		tag := asObject(tag)

		name := tag.text("name")
		if name == pagesTag {
			continue
		}
		p := tagPage{Home + "/api/" + name, tag.text("x-displayName"), tag.text("description"), byTag[name]}
		g.tags = append(g.tags, p)
		links = append(links, navLink{p.Path, p.Title})
		g.pages[p.Path] = sync.OnceValues(func() (Page, error) { return g.reference(p) })
	}
	g.groups = append(g.groups, group{"Reference", links})
}

// shownOperation is an operation with its texts and samples as HTML.
type shownOperation struct {
	operation
	Text  template.HTML
	Shown []shownSample // the samples as HTML
	Trial trial         // the form that sends a request
}

// trial is what the form for trying an operation begins with.
type trial struct {
	// Socket reports that the operation cannot be tried: its answer is a WebSocket.
	Socket bool
	// Type and Body are the content type and text of a body, Parts the fields of a form.
	Type, Body string
	Parts      []part
}

// trial returns the form of an operation: its example, and all fields of a form.
func (o *operation) trial() (trial, error) {
	r := o.request()
	t := trial{Socket: r.Socket, Parts: r.Form}

	for _, b := range o.Body[:min(len(o.Body), 1)] {
		t.Type = b.Type
	}

	if r.JSON == nil {
		return t, nil
	}
	var err error
	t.Body, err = indented(r.JSON)

	return t, err
}

// reference returns the page of one tag: its operations with their descriptions, forms to try them, and samples.
func (g *Guide) reference(p tagPage) (Page, error) {
	shown := make([]shownOperation, 0, len(p.Operations))

	for _, o := range p.Operations {
		text, err := g.html(o.Description)
		if err != nil {
			return Page{}, err
		}
		s := shownOperation{operation: o, Text: text}

		if s.Trial, err = o.trial(); err != nil {
			return Page{}, err
		}

		for _, sample := range o.Samples {
			code, err := g.html("```" + fence(sample.Language) + "\n" + sample.Text + "```\n")
			if err != nil {
				return Page{}, err
			}
			s.Shown = append(s.Shown, shownSample{sample.Language, code})
		}
		shown = append(shown, s)
	}

	return g.page("reference", p.Path, p.Title, map[string]any{"Summary": p.Summary, "Operations": shown})
}

// fence returns the name of a language after a code fence.
func fence(language string) string {
	for _, l := range languages {
		if l.name == language {
			return l.fence
		}
	}

	return ""
}

// html returns Markdown as HTML.
func (g *Guide) html(source string) (template.HTML, error) {
	d, err := g.renderer.Parse(context.Background(), []byte(source), markdown.Options{Dialect: "gfm", Lang: "en"})
	if err != nil {
		return "", fmt.Errorf("guide: %w", err)
	}

	return template.HTML(d.HTML), nil //nolint:gosec // the renderer sanitises all HTML
}

// home returns the first page: how to begin, the tasks, and every operation.
func (g *Guide) home(d *description) (Page, error) {
	rules, err := g.html(d.root.object("info").text("description"))
	if err != nil {
		return Page{}, err
	}

	first, err := g.render(context.Background(), g.tasks[0])
	if err != nil {
		return Page{}, err
	}

	return g.page("home", Home, "Presswork API", map[string]any{
		"Start": withTabs(first.Blocks[1:]), "Tasks": g.groups[0].Links, "Tags": g.tags, "Rules": rules,
	})
}
