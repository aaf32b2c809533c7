package pdf

import (
	"strconv"

	"presswork/internal/markdown"
	"presswork/internal/pdf/file"
)

// revision is what a page can only hold once it has been printed: the numbers of
// its contents, the titles of the chapters that run over its pages.
type revision struct {
	// chapters are those that header or footer name; none when they do not.
	chapters []markdown.Heading
	// contents are the anchors of the entries of the table of contents and of the
	// lists, in the order of the page.
	contents []string
}

// revisionOf is nil when the page has nothing of the kind.
func revisionOf(chapters []markdown.Heading, contents []string) *revision {
	if len(chapters) == 0 && len(contents) == 0 {
		return nil
	}
	return &revision{chapters: chapters, contents: contents}
}

// texts reads a print of all pages: what goes into the page's elements with a
// data-fill attribute, in document order.
func (r *revision) texts(printed []byte) ([]string, error) {
	f, err := file.Read(printed)
	if err != nil {
		return nil, err
	}
	total, err := f.Pages()
	if err != nil {
		return nil, err
	}
	pages, err := f.Anchors()
	if err != nil {
		return nil, err
	}
	var texts []string
	if len(r.chapters) > 0 {
		texts = append(texts, chapterCSS(r.chapters, pages, total))
	}
	for _, id := range r.contents {
		text := ""
		if page := pages[id]; page > 0 {
			text = strconv.Itoa(page)
		}
		texts = append(texts, text)
	}
	return texts, nil
}
