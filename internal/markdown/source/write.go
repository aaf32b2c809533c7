package source

import "strings"

// CodeFence is a fence of tildes for code that may hold fences of backticks.
const CodeFence = "~~~~~~"

// OneLine returns a text as it may stand in the head of a block.
func OneLine(text string) string {
	return strings.NewReplacer("{", "(", "}", ")").Replace(strings.Join(strings.Fields(text), " "))
}
