package fonts_test

import (
	"slices"
	"strings"
	"testing"

	"presswork/internal/chromium/fonts"
)

func TestForScriptsNamesTheFamiliesOfTheSystem(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ lang, text, want string }{
		"embedded":          {"el", "Ελληνικά, русский, Tiếng Việt – “quotes” → ✓", ""},
		"Arabic":            {"ar", "مرحبا 123", "Noto Sans Arabic"},
		"Thai":              {"th", "<p>ภาษาไทย</p>", "Noto Sans Thai"},
		"two in one text":   {"en", "தமிழ் and עברית and தமிழ்", "Noto Sans Tamil, Noto Sans Hebrew"},
		"Japanese":          {"ja", "漢字とカナ", "Noto Sans CJK JP"},
		"Korean":            {"ko-KR", "한국어", "Noto Sans CJK KR"},
		"Chinese":           {"zh", "中文", "Noto Sans CJK SC"},
		"Taiwan":            {"zh-TW", "中文", "Noto Sans CJK TC"},
		"traditional":       {"zh-Hant-HK", "中文", "Noto Sans CJK TC"},
		"within English":    {"en", "the word 言葉", "Noto Sans CJK SC"},
		"no language":       {"", "ქართული", "Noto Sans Georgian"},
		"broken UTF-8":      {"en", "\xe0\xa4 \xff", ""},
		"emoji and signs":   {"en", "😀 ∑ ⌘ ﷐", ""},
		"at the very end":   {"en", "x က", "Noto Sans Myanmar"},
		"presentation form": {"ar", "ﻻ", "Noto Sans Arabic"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := strings.Join(fonts.ForScripts(c.lang, c.text), ", "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}

	want := []string{"Noto Sans Hebrew", "Noto Sans Arabic"}
	if got := fonts.ForScripts("ar", "", "שלום", "سلام"); !slices.Equal(got, want) {
		t.Errorf("several texts: got %q, want %q", got, want)
	}
}

func BenchmarkForScripts(b *testing.B) {
	text := strings.Repeat("<p>Latin prose — with dashes.</p>\n", 10_000)
	b.SetBytes(int64(len(text)))

	for b.Loop() {
		fonts.ForScripts("en", text)
	}
}
