package block

import (
	"strings"

	"golang.org/x/net/html"
)

// SiblingSteps returns the number of steps that a browser takes to visit, for each element of a body, all siblings
// before it.
func SiblingSteps(body string) int {
	steps := 0
	open := []int{0} // how many children each open element has so far

	z := html.NewTokenizer(strings.NewReader(body))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			steps += open[len(open)-1]

			open[len(open)-1]++
			if name, _ := z.TagName(); kind == html.StartTagToken && !IsVoid(string(name)) {
				open = append(open, 0)
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); len(open) > 1 && !IsVoid(string(name)) {
				open = open[:len(open)-1]
			}
		}
	}

	return steps
}
