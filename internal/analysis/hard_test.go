package analysis_test

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"presswork/internal/analysis"
	"presswork/internal/analysis/finding"
	"presswork/internal/analysis/recommend"
	"presswork/internal/test/golden"
	"presswork/themes"
)

//go:embed testdata/hard.txt
var hardCases string

// TestHardCases checks short documents that were once misread. A case has a line "-- name | types | language |
// words" and the text. The words are types, tones and themes that the result must not
// have, or "nfd" for decomposed letters.
func TestHardCases(t *testing.T) {
	t.Parallel()
	catalogue := themes.Open(themes.Options{})
	advisor := recommend.New(recommend.Options{})
	var out bytes.Buffer
	languages, cases := map[string]bool{}, 0

	for _, part := range strings.Split("\n"+hardCases, "\n-- ")[1:] {
		head, text, _ := strings.Cut(part, "\n")
		fields := strings.Split(head, "|")
		types, language, _ := strings.Cut(strings.TrimSpace(fields[1]), " ")

		notes := strings.Fields(fields[2])
		if slices.Contains(notes, "nfd") {
			text = norm.NFD.String(text)
		}
		name := strings.TrimSpace(fields[0])
		cases++
		languages[language] = true

		result, err := advisor.Recommend(t.Context(), "", []byte(text), catalogue.List(), recommend.Preference{})
		if err != nil {
			t.Fatal(err)
		}

		a, rec := result.Analysis, result.Recommendation
		if types != "-" && !slices.Contains(strings.Split(types, ","), a.DocumentType) {
			t.Errorf("%s: type %s (%.2f), want %s", name, a.DocumentType, a.TypeConfidence, types)
		}

		if a.Language != language {
			t.Errorf("%s: language %s, want %s", name, a.Language, language)
		}

		// Sentiment and formality have word lists in English only.
		judged := a.Sentiment != (finding.Leaning{}) || a.Formality != (finding.Leaning{})
		if judged != (language == "en") {
			t.Errorf("%s: sentiment %+v and formality %+v in %s", name, a.Sentiment, a.Formality, language)
		}

		for _, forbidden := range notes {
			if a.EmotionalTone == forbidden || a.DocumentType == forbidden ||
				slices.Contains(append(rec.Alternatives, rec.Primary), forbidden) && forbidden != "dark" {
				t.Errorf(
					"%s must not be %s: type %s, tone %s, theme %v",
					name,
					forbidden,
					a.DocumentType,
					a.EmotionalTone,
					rec,
				)
			}
		}

		if a.TypeConfidence > 0.98 || rec.Confidence > 0.97 || a.ReadingMinutes < 1 {
			t.Errorf(
				"%s: confidence %.2f of the type and %.2f of the theme, %d minutes to read; want at most 0.98, 0.97 and at least 1",
				name,
				a.TypeConfidence,
				rec.Confidence,
				a.ReadingMinutes,
			)
		}

		if strings.Contains(strings.Join(rec.Reasons, ""), "there is no text") {
			t.Errorf("%s: the reasons %v say that there is no text", name, rec.Reasons)
		}
		fmt.Fprintf(&out, "%s: %s, %s, %s, %s\n", name, a.DocumentType, a.Language, a.EmotionalTone, rec.Primary)

		for _, k := range a.Keywords[:min(len(a.Keywords), 5)] {
			fmt.Fprintf(&out, "    %s\n", k.Term)
		}

		for _, reason := range rec.Reasons {
			fmt.Fprintf(&out, "  %s\n", reason)
		}
	}

	if cases < 40 || len(languages) < 15 {
		t.Errorf("%d cases in %d languages, want 40 in 15", cases, len(languages))
	}
	golden.Check(t, "hard.golden", out.Bytes())
}

func TestDecomposedLettersDoNotChangeTheAnalysis(t *testing.T) {
	t.Parallel()

	for _, text := range []string{
		"# Résumé d'été\n\nLa bouilloire chantait déjà quand elle est rentrée du jardin, et personne n'avait pensé aux tasses préférées.",
		"# Quy tắc ứng xử\n\nChúng tôi cam kết để mọi người tham gia cộng đồng mà không bị quấy rối, bất kể tuổi tác hay ngoại hình.",
	} {
		a, b := analysis.Analyze([]byte(text)), analysis.Analyze([]byte(norm.NFD.String(text)))
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("composed letters: %+v\ndecomposed: %+v", a, b)
		}
	}
}

func TestKeywordsOfLanguagesWithoutLatinLetters(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"# हिन्दी किताबें\n\nहिन्दी किताबें पुस्तकालय में हैं। पुस्तकालय बड़ा है और पुस्तकालय में हिन्दी किताबें मिलती हैं।": "पुस्तकालय",
		"# நூலகம்\n\nநூலகம் பெரியது. நூலகம் காலை திறக்கும். மாணவர்கள் நூலகம் செல்வார்கள்.":                                   "நூலகம்",
		"# 数据库\n\n数据库很重要。我们用数据库保存文件，数据库的速度很快，新的数据库也支持搜索。每个数据库都有备份。":                                                          "数据库",
		"# データベース\n\nデータベースは重要です。このデータベースに保存し、データベースを検索します。新しいデータベースもあります。":                                                  "データベース",
	} {
		t.Run(text, func(t *testing.T) {
			var terms []string
			for _, k := range analysis.Analyze([]byte(text)).Keywords {
				terms = append(terms, k.Term)
			}

			if !slices.ContainsFunc(terms, func(s string) bool { return strings.Contains(s, want) }) {
				t.Errorf("keywords %q, want one with %s", terms, want)
			}
		})
	}
}
