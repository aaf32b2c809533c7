package analysis

import (
	"testing"
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
		got := scoreFormality(splitSentences(c.text), documentCues{Type: c.kind, Language: "en"})
		if got.Label != c.label || got.Score >= last {
			t.Errorf("%s is %s (%.2f, after %.2f), want %s and less", c.kind, got.Label, got.Score, last, c.label)
		}
		last = got.Score
	}
}

func TestFormalityOfOtherLanguages(t *testing.T) {
	t.Parallel()
	score := func(language, text string) float64 {
		return scoreFormality(splitSentences(text), documentCues{Language: language}).Score
	}
	for language, pair := range map[string][2]string{
		"de": {"Wir danken Ihnen für Ihr Schreiben und bestätigen Ihnen den Eingang Ihrer Unterlagen. Bitte senden Sie uns die fehlenden Angaben bis zum Ende des Monats.",
			"Hey, hast du dir das angeschaut? Das ist so cool!! Sag mir, ob du kommst, ich freu mich auf dich!"},
		"fr": {"Nous vous remercions de votre courrier et vous confirmons la réception de votre dossier. Veuillez agréer, Madame, nos salutations distinguées.",
			"Salut, tu viens ce soir ? C'est trop bien !! Amène ton copain, je t'attends !"},
	} {
		if formal, familiar := score(language, pair[0]), score(language, pair[1]); formal <= familiar+0.1 {
			t.Errorf("%s: polite %.2f, familiar %.2f", language, formal, familiar)
		}
	}
	if got := scoreFormality(nil, documentCues{}); got.Label != "neutral" || got.Score != 0.5 {
		t.Errorf("nothing is %+v", got)
	}
}
