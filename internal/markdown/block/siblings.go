package block

import (
	"strings"

	"golang.org/x/net/html"
)

// SiblingSteps returns, summed over all elements of a body, the number of siblings before each. A selector with ~ may
// make a browser look at so many elements.
func SiblingSteps(body string) int {
	steps := 0
	open := []int{0} // the number of children of each open element so far

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
