package source

import "strings"

// CodeFence is a fence of tildes for code that may hold fences of backticks.
const CodeFence = "~~~~~~"

// OneLine returns a text for the first line of a block, such as a title. It is on one line, and has parentheses in
// place of braces, which would begin attributes.
func OneLine(text string) string {
	return strings.NewReplacer("{", "(", "}", ")").Replace(strings.Join(strings.Fields(text), " "))
}
