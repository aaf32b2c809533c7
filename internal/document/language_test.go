package document_test

import (
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
)

// Addresses, code and tags are Latin in every language, so they do not count.
func TestLanguageAndDirectionAreThoseOfTheProse(t *testing.T) {
	t.Parallel()

	for content, want := range map[string]string{
		"Hello":                 `lang="en" dir="ltr"`,
		"日本語の文章です。":             `lang="ja" dir="ltr"`,
		"中文文档":                  `lang="zh" dir="ltr"`,
		"한국어 문서":                `lang="ko" dir="ltr"`,
		"مرحبا بالعالم":         `lang="ar" dir="rtl"`,
		"שלום עולם":             `lang="he" dir="rtl"`,
		"---\nlang: fa\n---\nx": `lang="fa" dir="rtl"`,
		"مرحبا بكم في [الموقع](https://example.com/a/very/long/path/index.html).\n\nاقرأ https://example.com/documentation/getting-started أيضا.\n\nشكرا.\n": `lang="ar" dir="rtl"`,
		"شكرا: redis://example.com/a/very/long/path/index.html\n":                                                                 `lang="ar" dir="rtl"`,
		"שלום עולם\n\n```go\nfunc main() { fmt.Println(\"a long line of code in Latin letters\") }\n```\n\nוגם `configuration`\n": `lang="he" dir="rtl"`,
		"<div align=\"center\" class=\"something-long-here\">\n<p>שלום לכולם</p>\n</div>\n\nעוד\n":                                `lang="he" dir="rtl"`,
		"---\nheader_text: A long text for the head of every page\n---\nسلام\n":                                                   `lang="ar" dir="rtl"`,
		"An English text about a word.\n\n> שלום עולם\n":                                                                          `lang="en" dir="ltr"`,
		"یہ اردو زبان میں لکھا ہوا ایک مضمون ہے اور اس میں کئی جملے ہیں۔":                                                         `lang="ur" dir="rtl"`,
		"این یک متن فارسی است که برای آزمایش نوشته شده است.":                                                                      `lang="fa" dir="rtl"`,
		"ٹھیک ہے": `lang="ur" dir="rtl"`,
		"चाय":     `lang="hi" dir="ltr"`,
		"हे एक मराठी वाक्य आहे आणि ते खूप छान आहे.":  `lang="mr" dir="ltr"`,
		"यह एक हिन्दी का वाक्य है और बहुत अच्छा है।": `lang="hi" dir="ltr"`,
		"এটি একটি বাংলা বাক্য।":                      `lang="bn" dir="ltr"`,
		"នេះជាប្រយោគភាសាខ្មែរ":                       `lang="km" dir="ltr"`,
		"Це українське речення, і воно є коротким.":  `lang="uk" dir="ltr"`,
		"これは短い文です。Kubernetes and Redis":              `lang="ja" dir="ltr"`,
		"用 Kubernetes 部署你的服务":                        `lang="zh" dir="ltr"`,
		"한국어 문장입니다":                                  `lang="ko" dir="ltr"`,
		"2026":                                       `lang="en" dir="ltr"`,
	} {
		t.Run(content, func(t *testing.T) {
			html := compose(t, document.Document{Content: []byte(content)}).Page.HTML
			if tag := html[strings.Index(html, "<html"):]; !strings.HasPrefix(tag, "<html "+want) {
				t.Errorf("got %.60s, want %s", tag, want)
			}
		})
	}
}

// The option wins over the text. Without it, the text of the first of several documents decides.
func TestLanguageIsThatOfTheOptionOrTheFirstDocument(t *testing.T) {
	t.Parallel()

	given := compose(t, document.Document{Content: []byte("שלום"), Options: presswork.Options{Lang: "yi"}}).Page.HTML
	if !strings.Contains(given, `<html lang="yi" dir="rtl"`) {
		t.Errorf("got %.200s, want the language yi", given)
	}

	several := compose(t, document.Document{
		Content: []byte("שלום עולם"),
		Parts:   []document.Part{{Path: "b.md", Content: []byte("English text")}},
	}).Page.HTML
	if !strings.Contains(several, `<html lang="he" dir="rtl"`) ||
		!strings.Contains(several, `<p dir="ltr">English text`) {
		t.Errorf("got %.200s, want the language he, and English paragraphs from left to right", several)
	}
}

// Isolating code from the text around it costs time, and has no effect in a document with one text direction.
func TestCodeIsIsolatedOnlyInTextOfBothDirections(t *testing.T) {
	t.Parallel()

	for content, want := range map[string]bool{
		"Say `x`, naïvely. 日本語 `y`":           false,
		"Say `x` to שלום":                     true,
		"Say `سلام`":                          true,
		"A mark\u200f and `x`":                true,
		`<p dir="rtl">Say <code>x</code></p>`: true,
		"---\nlang: fa\n---\nSay `x`":         true,
	} {
		t.Run(content, func(t *testing.T) {
			got := strings.Contains(
				compose(t, document.Document{Content: []byte(content)}).Page.HTML,
				"unicode-bidi: isolate",
			)
			if got != want {
				t.Errorf("isolated %v, want %v", got, want)
			}
		})
	}
}
