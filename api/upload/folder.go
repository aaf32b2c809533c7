package upload

import (
	"cmp"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/lazyregexp"
)

// summary is the file of mdBook and GitBook that lists the documents of a folder in their order.
const summary = "SUMMARY.md"

// namedText is a document of a form and its file name, which may be empty.
type namedText struct {
	name string
	data []byte
}

// useDocuments sets the documents of the submission from the parts named content: one document, or several that are
// printed one after the other.
func (f *form) useDocuments() error {
	if len(f.documents) == 0 {
		return nil
	}
	first := f.documents[0]

	f.req.Content = string(first.data)
	if f.req.Filename == "" {
		f.req.Filename = first.name
	}

	if len(f.documents) == 1 {
		if isNotebook(first.name) {
			f.req.Path = NotebookName
		}

		return nil
	}

	for i := range f.documents {
		d := &f.documents[i]

		d.name = strings.TrimPrefix(d.name, "./")
		if d.name == "" {
			return fault.Errorf(fault.InvalidType,
				`the form has the field "content" twice; to send several documents, give each a file name`).
				WithParam("content")
		}

		if err := checkAssetName(d.name); err != nil {
			return err
		}

		if slices.ContainsFunc(f.documents[:i], func(o namedText) bool { return o.name == d.name }) {
			return badAsset(d.name, "is there twice")
		}
	}

	f.req.Path = first.name
	for _, d := range f.documents[1:] {
		if err := f.addAsset(d.name, strings.NewReader(string(d.data)), nil); err != nil {
			return err
		}
		f.req.Parts = append(f.req.Parts, d.name)
	}

	return nil
}

// useFolder sets the documents of the submission from the files of a folder. The first document becomes the
// content, and the others its parts. All files stay assets, because documents refer to them.
func (f *form) useFolder() error {
	if len(f.documents) > 0 {
		return fault.Errorf(fault.InvalidRequest,
			"the form has both content and a folder (files or archive); send one of them").WithParam("content")
	}
	dropCommonFolder(f.req.Assets)

	names := make([]string, 0, len(f.req.Assets))
	for _, a := range f.req.Assets {
		names = append(names, a.Name)
	}

	order, err := f.documentOrder(names)
	if err != nil {
		return err
	}

	left := f.limits.Content
	for _, name := range order {
		if left -= f.req.Find(name).Size; left < 0 {
			return f.documentsTooLarge()
		}
	}
	first := f.req.Find(order[0])

	data, err := io.ReadAll(first.Open())
	if err != nil {
		return err
	}
	f.req.Content, f.req.Path, f.req.Parts = string(data), first.Name, order[1:]

	return nil
}

// documentsTooLarge returns the error for documents that are too large together.
func (f *form) documentsTooLarge() error {
	return fault.Errorf(fault.ContentTooLarge, "the documents have more than %d bytes together", f.limits.Content).
		WithParam("content")
}

// documentOrder returns the names of the documents in the order in which they are printed. The SUMMARY.md nearest to
// the top lists them. Without one, the documents are all Markdown files and notebooks, except those whose name or
// folder begins with an underscore.
func (f *form) documentOrder(names []string) ([]string, error) {
	list := ""
	for _, name := range slices.Sorted(slices.Values(names)) {
		if path.Base(name) == summary && (list == "" || strings.Count(name, "/") < strings.Count(list, "/")) {
			list = name
		}
	}
	var order []string

	if list != "" {
		data, err := ReadPart(f.req.Find(list).Open(), f.limits.Content, summary)
		if err != nil {
			return nil, err
		}

		if order, err = linkedDocuments(list, string(data), names); err != nil {
			return nil, err
		}
	} else {
		for _, name := range names {
			if isDocument(name) && !strings.HasPrefix(name, "_") && !strings.Contains(name, "/_") {
				order = append(order, name)
			}
		}
		slices.SortFunc(order, compareDocuments)
	}

	if len(order) == 0 {
		return nil, fault.Errorf(fault.ContentEmpty,
			"there is no document to print: send files that end in .md, .markdown, .mdx or .ipynb").WithParam("content")
	}

	return order, nil
}

// chapterLink finds the targets of the links in a SUMMARY.md.
var chapterLink = lazyregexp.New(`\]\(\s*(?:<([^<>#?\n]*)|([^\s()<>#?]*))`)

// linkedDocuments returns the documents that the SUMMARY.md named list links to, each once. names are all files
// of the folder.
func linkedDocuments(list, text string, names []string) (order []string, err error) {
	for _, m := range chapterLink().FindAllStringSubmatch(text, -1) {
		target, err := url.PathUnescape(m[1] + m[2])
		if err != nil || !isDocument(target) || strings.Contains(target, "://") {
			continue
		}

		name := path.Join(path.Dir(list), target)
		switch {
		case slices.Contains(order, name):
		case !slices.Contains(names, name):
			return nil, fault.Errorf(fault.InvalidRequest, "%s lists %s, which is not among the files",
				list, input.Quote(target)).WithParam("content")
		default:
			order = append(order, name)
		}
	}

	return order, nil
}

// isNotebook reports whether a file name is that of a Jupyter notebook.
func isNotebook(name string) bool { return strings.EqualFold(path.Ext(name), ".ipynb") }

// isDocument reports whether a file name is that of a Markdown file or a notebook.
func isDocument(name string) bool {
	return isNotebook(name) || slices.Contains([]string{".md", ".markdown", ".mdx"}, strings.ToLower(path.Ext(name)))
}

// compareDocuments orders documents by name, folder by folder: index.md or README.md first, and numbers by their
// value.
func compareDocuments(a, b string) int {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	for i := range min(len(as), len(bs)) {
		rank := func(parts []string) int {
			stem := strings.ToLower(strings.TrimSuffix(parts[i], path.Ext(parts[i])))
			if i == len(parts)-1 && (stem == "index" || stem == "readme") {
				return 0
			}

			return 1
		}

		c := cmp.Or(cmp.Compare(rank(as), rank(bs)), compareNumbers(as[i], bs[i]), cmp.Compare(as[i], bs[i]))
		if c != 0 {
			return c
		}
	}

	return cmp.Compare(len(as), len(bs))
}

// compareNumbers compares names, and the numbers in them by their value: "2.md" is before "10.md".
func compareNumbers(a, b string) int {
	for a != "" && b != "" {
		an, bn := digits(a), digits(b)
		if an > 0 && bn > 0 {
			x, y := strings.TrimLeft(a[:an], "0"), strings.TrimLeft(b[:bn], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[an:], b[bn:]
			continue
		}

		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}

	return cmp.Compare(len(a), len(b))
}

// digits returns the number of decimal digits at the start of s.
func digits(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789"))
}

// dropCommonFolder removes the folder that all names begin with: archives of a folder have one.
func dropCommonFolder(files []*Asset) {
	for len(files) > 0 {
		folder, _, ok := strings.Cut(files[0].Name, "/")
		if !ok || slices.ContainsFunc(files, func(a *Asset) bool { return !strings.HasPrefix(a.Name, folder+"/") }) {
			return
		}

		for _, a := range files {
			a.Name = strings.TrimPrefix(a.Name, folder+"/")
		}
	}
}
