package analysis

import (
	"fmt"
	"testing"

	"presswork/internal/analysis/plaintext"
)

func TestFormalityOrdersGenres(t *testing.T) {
	t.Parallel()
	last := 2.0

	for _, c := range []struct{ label, kind, text string }{
		{"formal", "legal", "This Agreement shall be governed by the laws of the Republic. The parties hereby submit to the exclusive jurisdiction of the courts. No amendment shall be effective unless executed in writing by an authorized representative of each party. The provisions of this section survive termination."},
		{"formal", "rfc", "This proposal introduces a second retry queue. The current implementation discards a message after three attempts, which results in data loss under sustained load. An alternative would be to persist failed messages; however, this increases latency considerably."},
		{"neutral", "tutorial", "In this step you will create a small web page. Open your editor and make a new file. Type the code below and save it. When you reload the page, the title should appear at the top."},
		{"informal", "letter", "Hey Sam! Thanks so much for the cool pics, they're awesome. I can't believe you guys got stuck there lol. Anyway, I gotta run, but let's grab a coffee soon, ok? Miss ya!!"},
	} {
		t.Run(c.label, func(t *testing.T) {
			got := scoreFormality(plaintext.Sentences(c.text), documentCues{Type: c.kind, Language: "en"})
			if got.Label != c.label || got.Score >= last {
				t.Errorf(
					"%s is %s with %.2f, want %s with less than the last, %.2f",
					c.kind,
					got.Label,
					got.Score,
					c.label,
					last,
				)
			}
			last = got.Score
		})
	}
}

func TestOnlyEnglishHasSentimentAndFormality(t *testing.T) {
	t.Parallel()

	for _, text := range []string{
		"Wir danken Ihnen für Ihr Schreiben und bestätigen Ihnen den Eingang Ihrer Unterlagen. Bitte senden Sie uns die fehlenden Angaben.",
		"这是一篇关于春天的文章。春天来了，花开了，鸟儿在树上唱歌，孩子们在草地上奔跑。",
		"hello",
	} {
		t.Run(fmt.Sprintf("%.20s", text), func(t *testing.T) {
			if a := Analyze([]byte(text)); a.Sentiment.Label != "" || a.Formality.Label != "" {
				t.Errorf("language %s: sentiment %+v, formality %+v; want none", a.Language, a.Sentiment, a.Formality)
			}
		})
	}

	a := Analyze([]byte("We thank you for your letter and confirm that your documents have arrived here."))
	if a.Sentiment.Label == "" || a.Formality.Label == "" {
		t.Errorf("English text: got %+v, want a sentiment and a formality", a)
	}
}
