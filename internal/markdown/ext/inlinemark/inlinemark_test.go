package inlinemark_test

import (
	"strings"
	"testing"

	"presswork/internal/markdown/ext/inlinemark"
	"presswork/internal/test/rendered"
)

func TestMarks(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"marked":                {"==a *b*==", "<p><mark>a <em>b</em></mark></p>"},
		"inserted":              {"++a++", "<p><ins>a</ins></p>"},
		"raised and lowered":    {"x^2^ H~2~O", "<p>x<sup>2</sup> H<sub>2</sub>O</p>"},
		"words of programs":     {"C++17 and a==b, a++ b++", "<p>C++17 and a==b, a++ b++</p>"},
		"three signs":           {"===a=== +++a+++", "<p>===a=== +++a+++</p>"},
		"spaces":                {"x^a b^ y~a b~ ~a~", "<p>x^a b^ y~a b~ ~a~</p>"},
		"markup in raised text": {"x^<b>^", "<p>x^<b>^</p>"},
		"never closed":          {"==a ++b", "<p>==a ++b</p>"},
		"too long":              {"x^" + strings.Repeat("a", 300) + "^", "<p>x^" + strings.Repeat("a", 300) + "^</p>"},
	}, nil, inlinemark.Extension{})
}
