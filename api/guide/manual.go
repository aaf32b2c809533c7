package guide

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown"
)

// manual lists the pages that are made from the files of the manual, by group. The sections of tasksFile are pages of
// their own.
var manual = []struct {
	group string
	files []string
}{
	{"Tutorials", []string{
		"tutorials/writer.md", "tutorials/backend-developer.md", "tutorials/ai-developer.md", "tutorials/operator.md",
		"tutorials/cookbook.md", "tutorials/clients.md",
	}},
	{"Documents", []string{
		"studio.md", "markdown.md", "references.md", "layouts.md", "outputs.md", "themes.md", "fonts.md", "pdfa.md",
		"analysis.md", "pipelines.md",
	}},
	{"Models", []string{"inference.md", "mcp.md"}},
	{"Operations", []string{
		"operations.md", "configuration.md", "security.md", "reliability.md", "scale.md", "troubleshooting.md",
	}},
}

// tasksFile has a task in each section of level 2, with a program in each language.
const tasksFile = "rest.md"

// section is a page made from a file, or from one section of it.
type section struct {
	path, title, source string
	// file is the file's path below the folder of the manual.
	file string
}

var (
	headingTwo = lazyregexp.New(`(?m)^## (?:\d+\. )?(.+)$`)
	// gallery is the part of themes.md with a picture of each theme.
	gallery = lazyregexp.New(`(?s)<!-- themes:.*?<!-- /themes -->`)
	picture = lazyregexp.New(`(?m)^!\[[^\]]*\]\([^)]*\)\n`)
	link    = lazyregexp.New(`\]\(([^)\s:]+)\)`)
)

// linkBase begins the links to other pages until the page is rendered. The Markdown renderer drops links to files,
// because a printed page could not open them.
const linkBase = "https://page.invalid"

// tasks returns the sections of tasksFile.
func tasks(pages fs.FS) ([]section, error) {
	source, err := fs.ReadFile(pages, tasksFile)
	if err != nil {
		return nil, fmt.Errorf("guide: %w", err)
	}
	var all []section
	heads := headingTwo().FindAllSubmatchIndex(source, -1)

	for i, at := range heads {
		end := len(source)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		title := string(source[at[2]:at[3]])
		all = append(all, section{
			path: "/docs/tasks/" + slug(title), title: title, file: tasksFile,
			source: "# " + title + "\n" + string(source[at[1]:end]),
		})
	}

	return all, nil
}

// chapter returns the page of a whole file.
func chapter(pages fs.FS, file string) (section, error) {
	source, err := fs.ReadFile(pages, file)
	if err != nil {
		return section{}, fmt.Errorf("guide: %w", err)
	}
	text := gallery().ReplaceAllString(string(source), "")
	first, _, _ := strings.Cut(text, "\n")

	return section{
		path:   pagePath(file),
		title:  strings.TrimPrefix(first, "# "),
		source: picture().ReplaceAllString(text, ""),
		file:   file,
	}, nil
}

// pagePath returns the path of the page of a file.
func pagePath(file string) string { return "/docs/" + strings.TrimSuffix(file, ".md") }

// slug returns a title as the last part of a path.
func slug(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})

	return strings.Join(words, "-")
}

// target returns the path of the page that a link of a file leads to, "" if the guide has no such page.
func (g *Guide) target(from, to string) string {
	file, fragment, _ := strings.Cut(to, "#")
	if file == "" {
		if from != tasksFile {
			return to
		}
		file = from
	} else {
		file = path.Join(path.Dir(from), file)
	}

	if file == tasksFile {
		for _, task := range g.tasks {
			if strings.HasSuffix(fragment, path.Base(task.path)) {
				return task.path
			}
		}

		return g.tasks[0].path
	}

	if strings.HasSuffix(file, "openapi.yaml") {
		return "/openapi.yaml"
	}

	if _, ok := g.pages[pagePath(file)]; !ok || !strings.HasSuffix(file, ".md") {
		return ""
	}

	return strings.TrimSuffix(pagePath(file)+"#"+fragment, "#")
}

// render returns a section as HTML, with the headings for search.
func (g *Guide) render(ctx context.Context, s section) (markdown.Document, error) {
	linked := link().ReplaceAllStringFunc(s.source, func(whole string) string {
		to := g.target(s.file, link().FindStringSubmatch(whole)[1])
		if to == "" || strings.HasPrefix(to, "#") {
			return whole // the renderer drops the link, or keeps the fragment
		}

		return "](" + linkBase + to + ")"
	})

	d, err := g.renderer.Parse(ctx, []byte(linked), markdown.Options{Dialect: "gfm", Lang: "en"})
	if err != nil {
		return d, fmt.Errorf("guide: %s: %w", s.file, err)
	}
	d.HTML = strings.ReplaceAll(d.HTML, linkBase, "")

	for i := range d.Blocks {
		d.Blocks[i].HTML = strings.ReplaceAll(d.Blocks[i].HTML, linkBase, "")
	}

	return d, nil
}
