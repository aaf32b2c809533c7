package document

import (
	"strings"

	"presswork/internal/document/contents"
	"presswork/internal/markdown"
)

// maxRunningTitle is the most characters of a chapter's title in a header or footer.
const maxRunningTitle = 90

// chapterStyle is the counter style that turns a page's number into the title
// of the chapter on it.
const chapterStyle = "presswork-chapter"

// chaptersOf returns the headings that begin a chapter: those of level 1. If there is a single leading heading of
// level 1, it is the title, and chapters are the headings below it.
func chaptersOf(headings []markdown.Heading) []markdown.Heading {
	body := headings
	if contents.Titled(headings) && len(headings) > 1 {
		body = headings[1:]
	}

	top := 7
	for _, h := range body {
		top = min(top, h.Level)
	}
	var chapters []markdown.Heading

	for _, h := range body {
		if h.Level == top {
			chapters = append(chapters, h)
		}
	}

	return chapters
}

// runningTitles returns the title for each page: that of the first chapter on it, otherwise of the chapter that
// continues.
func runningTitles(chapters []markdown.Heading, pages map[string]int, total int) []string {
	begun := make([][]markdown.Heading, total+1)
	for _, c := range chapters {
		if page := pages[c.ID]; page > 0 && page <= total {
			begun[page] = append(begun[page], c)
		}
	}
	titles := make([]string, total)

	running := ""
	for i, begun := range begun[1:] {
		if titles[i] = running; len(begun) > 0 {
			titles[i], running = runningTitle(begun[0]), runningTitle(begun[len(begun)-1])
		}
	}

	return titles
}

func runningTitle(h markdown.Heading) string {
	title := []rune(contents.Label(h))
	if len(title) > maxRunningTitle {
		return strings.TrimSpace(string(title[:maxRunningTitle-1])) + "…"
	}

	return string(title)
}
