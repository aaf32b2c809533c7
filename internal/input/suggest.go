package input

import (
	"fmt"
	"strings"
)

// Nearest returns the choice closest to word, or "" when none is close. It allows edits of at most a third of the
// word's length, and at least one edit.
func Nearest(word string, choices []string) string {
	word = strings.ToLower(word)
	if len(word) > 64 {
		return ""
	}

	return nearest(word, choices, max(1, len(word)/3))
}

// Typo returns the choice that differs from word by at most one edit, or "". Case does not count. Words of up to three
// letters are close to too many others, so they get "", and so do words of more than 64 bytes.
func Typo(word string, choices []string) string {
	if len(word) <= 3 || len(word) > 64 {
		return ""
	}

	return nearest(strings.ToLower(word), choices, 1)
}

// nearest returns the first of the closest choices, at most edits away, or "".
func nearest(word string, choices []string, edits int) string {
	best := ""

	for _, c := range choices {
		if d := distance(word, strings.ToLower(c)); d <= edits {
			best, edits = c, d-1
		}
	}

	return best
}

// DidYouMean returns `; did you mean "x"?`, or "" if no choice is close.
func DidYouMean(word string, choices []string) string {
	if n := Nearest(word, choices); n != "" {
		return fmt.Sprintf("; did you mean %q?", n)
	}

	return ""
}

// distance returns the number of insertions, deletions, substitutions and swaps of neighbours that turn a into b.
func distance(a, b string) int {
	// Each slice is a row of the usual table: the distances of the first bytes of a to all beginnings of b.
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}

	for i := 1; i <= len(a); i++ {
		cur[0] = i

		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}

			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}

	return prev[len(b)]
}
