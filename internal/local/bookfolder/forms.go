package bookfolder

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/markdown/frontmatter"
)

// copyKeys takes the values of keys as metadata. Each pair is a key of the settings and one of front matter.
func (r *reader) copyKeys(settings map[string]any, pairs ...[2]string) {
	for _, p := range pairs {
		switch v := settings[p[0]].(type) {
		case nil, unreadable:
		case string:
			// A date such as `r Sys.Date()` is code that is not run.
			if v = strings.TrimSpace(v); v != "" && !strings.HasPrefix(v, "`r ") {
				r.book.metadata[p[1]] = v
			}
		default:
			r.book.metadata[p[1]] = v
		}
	}
}

// sameNames returns pairs of copyKeys for keys with the same name in front matter.
func sameNames(keys ...string) (pairs [][2]string) {
	for _, key := range keys {
		pairs = append(pairs, [2]string{key, key})
	}

	return pairs
}

// numberHeadings numbers chapters and, within them, figures.
func (r *reader) numberHeadings() {
	r.book.metadata["numbered_headings"] = true
	r.book.metadata["numbering"] = "chapter"
}

// quarto reads _quarto.yml (https://quarto.org/docs/books/book-structure.html).
func (r *reader) quarto(settings map[string]any) error {
	if err := checkReadable(settings, "book"); err != nil {
		return err
	}

	book, ok := settings["book"].(map[string]any)
	if !ok {
		return errNoBook
	}

	r.copyKeys(settings, sameNames("bibliography", "csl", "lang", "nocite")...)
	r.copyKeys(book, sameNames("title", "subtitle", "author", "date", "abstract", "bibliography", "csl", "lang")...)
	r.copyKeys(book, [2]string{"description", "subject"})
	r.book.metadata["toc"] = contentsDepth

	if notFalse(settings, "number-sections") {
		r.numberHeadings()
	}
	r.quartoChapters(list(book["chapters"]), false, 0)
	r.quartoChapters(list(book["appendices"]), true, 0)

	return nil
}

// notFalse reports whether a setting of Quarto is not false, for all formats or for one of them. Quarto numbers
// sections by default in books.
func notFalse(settings map[string]any, key string) bool {
	formats, _ := settings["format"].(map[string]any)
	for _, f := range formats {
		if options, ok := f.(map[string]any); ok && options[key] == "false" {
			return false
		}
	}

	return settings[key] != "false"
}

// quartoChapters adds the chapters of a Quarto book. Parts may have chapters; chapters may not.
func (r *reader) quartoChapters(items []any, appendix bool, level int) {
	for _, item := range items {
		switch item := item.(type) {
		case string:
			// Quarto allows a line of dashes as a separator.
			if !strings.HasPrefix(item, "---") {
				r.addChapter(item, Entry{Appendix: appendix})
			}
		case map[string]any:
			part, _ := item["part"].(string)
			if IsChapter(part) {
				r.addChapter(part, Entry{Part: true, Appendix: appendix})
			} else if part != "" {
				r.addEntry(Entry{Title: part, Part: true, Appendix: appendix})
			}

			if file, _ := cmp.Or(item["file"], item["href"]).(string); file != "" {
				r.addChapter(file, Entry{Title: text(item["text"]), Appendix: appendix})
			}

			if level == 0 {
				r.quartoChapters(list(item["chapters"]), appendix, level+1)
			}
		}
	}
}

// bookdown reads _bookdown.yml (https://bookdown.org/yihui/bookdown/configuration.html). Without rmd_files, all
// files of the folder are chapters by name, except those that begin with an underscore.
func (r *reader) bookdown(settings map[string]any) error {
	if err := checkReadable(settings, "rmd_files"); err != nil {
		return err
	}
	files := list(settings["rmd_files"])

	if formats, ok := settings["rmd_files"].(map[string]any); ok {
		files = list(cmp.Or(formats["latex"], formats["html"]))
	}

	if len(files) == 0 {
		for _, name := range r.pages(".", ".rmd", settings["rmd_subdir"] == "true") {
			files = append(files, name)
		}
	}

	for _, f := range files {
		if name, ok := f.(string); ok {
			r.addChapter(name, Entry{})
		}
	}

	if len(r.book.Entries) > 0 {
		r.fromChapter(r.book.Entries[0].File)
	}
	r.book.metadata["toc"] = contentsDepth
	r.numberHeadings()

	return nil
}

// fromChapter takes the metadata from the front matter of a chapter.
func (r *reader) fromChapter(file string) {
	text, err := readFile(r.folder, file)
	if err != nil {
		return
	}

	d, err := frontmatter.Read(text)
	if err != nil {
		return // the printer reports the error
	}
	values := map[string]any{}

	for _, f := range d.Fields {
		if v, err := f.Text(); err == nil {
			values[f.Key] = v
		}
	}
	r.copyKeys(values, sameNames("title", "subtitle", "author", "date", "bibliography", "csl", "nocite", "lang")...)
	r.copyKeys(values, [2]string{"biblio-style", "csl"}, [2]string{"description", "subject"})

	if _, file := r.book.metadata["csl"].(string); file && values["csl"] == nil {
		delete(r.book.metadata, "csl") // a style of LaTeX
	}
}

// jupyter reads _toc.yml, and _config.yml next to it (https://jupyterbook.org/en/stable/structure/toc.html).
func (r *reader) jupyter(toc map[string]any) error {
	if err := checkReadable(toc, "root", "parts", "chapters", "sections"); err != nil {
		return err
	}
	config := r.readSettings("_config.yml")
	r.copyKeys(config, sameNames("title", "author")...)
	r.copyKeys(config, [2]string{"bibtex_bibfiles", "bibliography"})
	r.book.metadata["toc"] = contentsDepth

	r.addChapter(text(toc["root"]), Entry{})
	isNumbered := toc["numbered"] != nil

	for _, p := range list(toc["parts"]) {
		part, ok := p.(map[string]any)
		if !ok {
			continue
		}

		if caption := text(part["caption"]); caption != "" {
			r.addEntry(Entry{Title: caption, Part: true})
		}
		isNumbered = isNumbered || part["numbered"] != nil
		r.jupyterFiles(list(part["chapters"]), 0)
	}
	r.jupyterFiles(list(toc["chapters"]), 0)
	r.jupyterFiles(list(toc["sections"]), 0)

	if options, ok := toc["options"].(map[string]any); isNumbered || ok && options["numbered"] != nil {
		r.numberHeadings()
	}

	return nil
}

// jupyterFiles adds the files of a Jupyter Book's table of contents, and those of their sections.
func (r *reader) jupyterFiles(items []any, depth int) {
	for _, i := range items {
		item, ok := i.(map[string]any)
		if !ok {
			continue
		}

		if file := text(item["file"]); file != "" {
			r.addChapter(file, Entry{Title: text(item["title"]), Depth: depth})
		}

		if glob := text(item["glob"]); glob != "" {
			names, err := fs.Glob(r.folder, glob)
			if err == nil {
				for _, name := range names {
					r.addChapter(name, Entry{Depth: depth})
				}
			}
		}
		r.jupyterFiles(list(item["sections"]), depth+1)
	}
}

// myst reads myst.yml (https://mystmd.org/guide/table-of-contents). Without a toc, all files are chapters by name.
func (r *reader) myst(settings map[string]any) error {
	if err := checkReadable(settings, "project"); err != nil {
		return err
	}

	project, ok := settings["project"].(map[string]any)
	if !ok {
		return errNoBook
	}
	r.copyKeys(project, sameNames("title", "subtitle", "date", "bibliography")...)
	r.copyKeys(project, [2]string{"authors", "author"}, [2]string{"description", "subject"})
	r.book.metadata["toc"] = contentsDepth

	toc := list(project["toc"])
	if len(toc) == 0 {
		for _, name := range r.pages(".", ".md", true) {
			r.addChapter(name, Entry{})
		}
	}
	r.mystFiles(toc, 0)

	return nil
}

// mystFiles adds the files of a MyST table of contents. An entry with a title and no file is a heading; addresses are
// left out.
func (r *reader) mystFiles(items []any, depth int) {
	for _, i := range items {
		item, ok := i.(map[string]any)
		if !ok {
			continue
		}

		file, title := text(item["file"]), text(item["title"])
		if file != "" {
			r.addChapter(file, Entry{Title: title, Depth: depth})
		} else if title != "" && item["url"] == nil {
			r.addEntry(Entry{Title: title, Depth: depth})
		}
		r.mystFiles(list(item["children"]), depth+1)
	}
}

// mdBook reads book.toml and the SUMMARY.md that it names (https://rust-lang.github.io/mdBook/format/summary.html).
func (r *reader) mdBook(settings map[string]any) error {
	book, _ := settings["book"].(map[string]any)
	r.copyKeys(book, sameNames("title")...)
	r.copyKeys(book, [2]string{"authors", "author"}, [2]string{"description", "subject"}, [2]string{"language", "lang"})

	file := path.Join(cmp.Or(text(book["src"]), "src"), "SUMMARY.md")

	summary, err := readFile(r.folder, file)
	if err != nil {
		return fault.Errorf(fault.InvalidRequest, "%s: its list of chapters, %s, cannot be read", r.book.Settings[0], file).
			WithCause(err)
	}
	r.book.Settings = append(r.book.Settings, file)

	return r.summary(file, summary)
}

// mkDocs reads mkdocs.yml (https://www.mkdocs.org/user-guide/configuration/#nav). Without a nav, all files are
// chapters by name.
func (r *reader) mkDocs(settings map[string]any) error {
	if err := checkReadable(settings, "nav"); err != nil {
		return err
	}
	r.copyKeys(settings, [2]string{"site_name", "title"}, [2]string{"site_author", "author"},
		[2]string{"site_description", "subject"})
	r.book.metadata["toc"] = contentsDepth
	docs := cmp.Or(text(settings["docs_dir"]), "docs")
	nav := list(settings["nav"])

	if len(nav) == 0 {
		for _, name := range r.pages(docs, ".md", true) {
			r.addChapter(name, Entry{})
		}
	}
	r.navigate(nav, docs, 0)

	return nil
}

// navigate adds the pages of an MkDocs navigation. docs is the folder of the pages.
func (r *reader) navigate(items []any, docs string, depth int) {
	page := func(name, title string) {
		if !strings.Contains(name, "://") {
			r.addChapter(path.Join(docs, name), Entry{Title: title, Depth: depth})
		}
	}

	for _, item := range items {
		switch item := item.(type) {
		case string:
			page(item, "")
		case map[string]any:
			for title, target := range item { // there is one
				if name, ok := target.(string); ok {
					page(name, title)
					continue
				}
				r.addEntry(Entry{Title: title, Depth: depth})
				r.navigate(list(target), docs, depth+1)
			}
		}
	}
}

// pages returns the files of a folder with an extension, by name, the index of each folder first. Names that begin
// with a dot or an underscore are left out.
func (r *reader) pages(folder, ext string, below bool) []string {
	var found []string
	_ = fs.WalkDir(r.folder, folder, func(name string, d fs.DirEntry, err error) error {
		hidden := name != folder && (strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_"))

		switch {
		// Do not read hidden folders, nor other folders than the named one.
		case err != nil || d.IsDir() && (hidden || !below && name != folder):
			return fs.SkipDir
		case !hidden && strings.EqualFold(path.Ext(name), ext):
			found = append(found, name)
		}

		if len(found) > maxEntries {
			return fs.SkipAll
		}

		return nil
	})
	sortPages(found)

	return found
}

// sortPages sorts files by name, the index of each folder first.
func sortPages(files []string) {
	key := func(name string) string {
		dir, base := path.Split(name)
		switch strings.ToLower(strings.TrimSuffix(base, path.Ext(base))) {
		case "index", "readme":
			return dir
		}

		return name
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a, b)) })
}

// list returns a value that is a list, nil for another one.
func list(v any) []any {
	items, _ := v.([]any)
	return items
}

// text returns a value that is a string, without white space around it; "" for another one.
func text(v any) string {
	s, _ := v.(string)
	return strings.TrimSpace(s)
}
