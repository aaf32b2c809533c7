package document_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
)

// If Chromium finds no bold face, it draws a regular one thicker, as Type 3 fonts.
func TestHeadingsHaveTheBoldFaceOfTheirScript(t *testing.T) {
	t.Parallel()

	for lang, c := range map[string]struct{ text, face string }{
		"ar": {"عنوان الفصل", "NotoSansArabic-Bold"},
		"ur": {"باب کا عنوان", "NotoSansArabic-Bold"},
		"he": {"כותרת הפרק", "NotoSansHebrew-Bold"},
		"hi": {"अध्याय का शीर्षक", "NotoSansDevanagari-Bold"},
		"ta": {"அத்தியாயத் தலைப்பு", "NotoSansTamil-Bold"},
		"th": {"หัวข้อของบท", "NotoSansThai-Bold"},
		"km": {"ចំណងជើងជំពូក", "NotoSansKhmer-Bold"},
		"my": {"အခန်း ခေါင်းစဉ်", "NotoSansMyanmar-Bold"},
		"ka": {"თავის სათაური", "NotoSansGeorgian-Bold"},
	} {
		for _, theme := range []string{"light", "dracula"} { // headings of dracula have a monospaced face
			t.Run(lang+" "+theme, func(t *testing.T) {
				t.Parallel()

				_, path := printDocument(t, document.Document{
					Content: []byte("# " + c.text + "\n\n" + c.text + " **" + c.text + "**\n"),
					Theme:   theme, Options: presswork.Options{Lang: lang},
				})

				used := poppler(t, "pdffonts", path)
				if !strings.Contains(used, c.face) || strings.Contains(used, "Type 3") {
					t.Errorf("want %s and no Type 3 fonts, got\n%s", c.face, used)
				}
			})
		}
	}
}

func TestLinesOfTallScriptsAreApart(t *testing.T) {
	t.Parallel()

	top := regexp.MustCompile(`<word xMin="[^"]*" yMin="([^"]*)"`)
	const (
		textSize, headingSize = 10.6875, 10.6875 * 2.042 // of the theme light, in points
		rounded               = .06                      // lines begin at whole pixels
	)

	for lang, c := range map[string]struct {
		word          string
		text, heading float64 // the distance of lines, in ems
	}{
		"en": {"word", 1.5, 1.12},
		"ar": {"عنوان", 1.6, 1.45},
		"ur": {"عنوان", 1.6, 1.45},
		"hi": {"शीर्षक", 1.7, 1.45},
		"ta": {"தலைப்பு", 1.7, 1.45},
		"th": {"หัวข้อ", 1.7, 1.45},
		"km": {"ជំពូក", 1.8, 1.7},
		"my": {"အခန်း", 1.8, 1.7},
	} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()

			_, path := printDocument(t, document.Document{
				Content: []byte("# " + c.word + "<br>" + c.word + "\n\n" + c.word + "<br>" + c.word + "\n"),
				Theme:   "light", Options: presswork.Options{Lang: lang, FooterText: new("")},
			})

			var tops []float64

			for _, m := range top.FindAllStringSubmatch(poppler(t, "pdftotext", "-bbox", path, "-"), -1) {
				y, err := strconv.ParseFloat(m[1], 64)
				if err != nil {
					t.Fatal(err)
				}

				if len(tops) == 0 || y > tops[len(tops)-1]+1 {
					tops = append(tops, y)
				}
			}

			if len(tops) != 4 {
				t.Fatalf("the lines begin at %v, want four", tops)
			}

			if got := (tops[1] - tops[0]) / headingSize; math.Abs(got-c.heading) > rounded {
				t.Errorf("lines of the heading are %.2f em apart, want %.2f", got, c.heading)
			}

			if got := (tops[3] - tops[2]) / textSize; math.Abs(got-c.text) > rounded {
				t.Errorf("lines of the text are %.2f em apart, want %.2f", got, c.text)
			}
		})
	}
}

func TestJapaneseLinesEndAfterPhrases(t *testing.T) {
	t.Parallel()

	const (
		heading = "# 分散システムにおける推論とドキュメント変換の設計について考える\n\n"
		text    = "プレスワークは、ブラウザを使ってマークダウンの文書を美しい形に変換するための分散システムです。"
	)

	for name, c := range map[string]struct {
		as    string
		words string // that must be on one line
	}{
		"text":      {"", "変換 文書 マークダウン 分散システム ブラウザ"},
		"justified": {"paper", "変換の"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			content := heading + text
			if c.as != "" {
				content = heading
			}
			_, path := printDocument(t, document.Document{
				Content: []byte(content), Theme: "light",
				Options: presswork.Options{Lang: "ja", PageSize: "A6", As: c.as},
			})

			printed := poppler(t, "pdftotext", path, "-")
			for word := range strings.FieldsSeq(c.words) {
				if !strings.Contains(printed, word) {
					t.Errorf("want %s undivided in\n%s", word, printed)
				}
			}
		})
	}
}
