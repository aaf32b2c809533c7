package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown"
)

// itemFeatures sets the features of lists.
func itemFeatures(r *reading, f map[string]float64) {
	var items, ordered, tasks, short, long, quantities, speakers, commands int

	for _, p := range r.passages {
		if p.Kind != markdown.ItemBlock {
			continue
		}
		items++
		ordered += count(p.Ordered)
		tasks += count(p.Task)
		n := 1 + strings.Count(p.text, " ")
		short += count(n < 7)
		long += count(n > 25)
		quantities += count(n < 22 && !strings.HasPrefix(p.text, "http") && quantityLike().MatchString(p.text))
		speakers += count(speakerLike().MatchString(p.text))
		first, _, _ := strings.Cut(strings.ToLower(p.text), " ")
		commands += count(imperatives[strings.TrimRight(first, ",.:")])
	}
	weight := saturate(float64(items), 3)
	f["ordered"] = ratio(ordered, items) * weight
	f["tasks"] = ratio(tasks, items) * weight
	f["item_short"] = ratio(short, items) * weight
	f["item_long"] = ratio(long, items) * weight
	f["quantities"] = ratio(quantities, items) * weight
	f["speakers"] = ratio(speakers, items) * weight
	f["imperative"] = ratio(commands, items) * weight
}

// speakerLike matches a spoken line: "Name: text" or "text [name]".
var speakerLike = lazyregexp.New(`^@?[\p{L}+&/. -]{2,24}: \P{Lu}|\[@?[a-z]+\]\.?$|^@\w+ `)

// count returns 1 if b holds, else 0.
func count(b bool) int {
	if b {
		return 1
	}

	return 0
}

// wordFeatures sets the features of the sample's words.
func wordFeatures(r *reading, f map[string]float64) {
	var i, we, you, they, past, shall, digits, questions, exclaims, sentences, percent, versions, words int

	for _, t := range r.tokens {
		if t == "" {
			continue
		}
		words++

		switch t {
		case "i", "me", "my", "ich", "mein", "meine", "je", "mon", "mes", "yo", "mi", "eu", "meu":
			i++
		case "we", "us", "our", "wir", "unser", "unsere", "nous", "notre", "nos", "nosotros", "nuestro", "nuestra":
			we++
		case "you", "your", "sie", "ihr", "ihre", "vous", "votre", "usted", "tu", "du", "dein":
			you++
		case "he", "she", "him", "his", "her", "they", "er", "elle", "il", "él", "ella", "ihm", "ihn", "lui":
			they++
		case "shall", "hereby", "herein", "thereof", "pursuant", "must":
			shall++
		case "was",
			"were",
			"had",
			"said",
			"went",
			"came",
			"saw",
			"took",
			"told",
			"knew",
			"thought",
			"stood",
			"felt",
			"found",
			"made",
			"gave",
			"began",
			"sat",
			"fell",
			"turned",
			"looked",
			"asked",
			"war",
			"hatte",
			"sagte",
			"était",
			"avait",
			"dit",
			"fue",
			"era",
			"dijo",
			"había":
			past++
		default:
			if len(t) > 4 && strings.HasSuffix(t, "ed") {
				past++
			} else if t[0] >= '0' && t[0] <= '9' {
				digits++
			}
		}
	}

	for _, p := range r.passages {
		percent += strings.Count(p.text, "%")
		if hasDigit(p.text) {
			versions += len(versionInText().FindAllStringIndex(p.text, 20))
		}

		if p.prose() {
			questions += strings.Count(p.text, "?")
			exclaims += strings.Count(p.text, "!")
			sentences += 1 + strings.Count(p.text, ". ")
		}
	}

	hundreds := max(0.5, float64(words)/100)
	for name, rate := range map[string]struct{ n, half float64 }{
		"i":        {float64(i), 2},
		"we":       {float64(we), 2},
		"you":      {float64(you), 2},
		"they":     {float64(they), 3},
		"past":     {float64(past), 4},
		"shall":    {float64(shall), 0.6},
		"digits":   {float64(digits), 5},
		"percent":  {float64(percent), 0.6},
		"versions": {float64(versions), 0.6},
	} {
		f[name] = saturate(rate.n/hundreds, rate.half)
	}
	f["questions"] = saturate(ratio(questions, max(sentences, 4)), 0.2)
	f["exclaims"] = saturate(ratio(exclaims, max(sentences, 4)), 0.2)
	f["sentence_long"] = saturate(ratio(r.proseWords(), max(sentences, 1)), 20)
}

// versionInText matches a version such as v1.2.3.
var versionInText = lazyregexp.New(`\bv?\d+\.\d+\.\d+\b`)

// edgeFeatures sets the features of a document's first and last lines, and r.salutation and r.closing.
func edgeFeatures(r *reading, f map[string]float64) {
	var head []string
	for _, h := range r.headings[:min(2, len(r.headings))] {
		head = append(head, h.text)
	}

	n := len(r.passages)
	for _, p := range r.passages[:min(12, n)] {
		for _, line := range p.lines {
			head = append(head, asciiDigits(strings.Trim(line, " \t*_\\|")))
		}
	}

	head = head[:min(len(head), 24)]
	for i, line := range head {
		if len(line) > 400 {
			line = line[:400]
		}

		if i < 12 && hasDigit(line) && dateLike().MatchString(line) {
			f["date_top"] = 1
		}

		// Contact details stand in the first lines.
		if i < 14 && len(line) < 200 && (hasDigit(line) || strings.Contains(line, "@")) &&
			contactLike().MatchString(line) {
			f["contact"] = 1
		}

		if len(line) < 100 && greeting().MatchString(line) {
			f["salutation"], r.salutation = 1, true
		}
	}
	spans := 0

	for _, p := range r.passages {
		if !hasDigit(p.text) {
			continue
		}
		spans += len(spanLike().FindAllStringIndex(p.text, 20))
	}

	for _, h := range r.headings[:min(len(r.headings), 100)] {
		spans += count(spanLike().MatchString(h.text))
	}

	f["spans"] = saturate(float64(spans)/max(1, float64(r.proseWords())/300), 1)
	for _, p := range r.passages[max(0, n-7):] {
		for _, line := range p.lines {
			line = strings.TrimRightFunc(strings.Trim(line, " \t*_\\"), notLetter)
			if len(line) < 90 && signedOff().MatchString(line) {
				f["closing"], r.closing = 1, true
			}
		}
	}
}

// asciiDigits returns a text with the digits of all scripts as those of ASCII.
func asciiDigits(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '٫':
			return '.'
		case c < utf8.RuneSelf || !unicode.IsDigit(c):
			return c
		}

		for _, digits := range unicode.Nd.R16 { // each range begins with the digits 0 to 9
			if rune(digits.Lo) <= c && c <= rune(digits.Hi) {
				return '0' + (c-rune(digits.Lo))%10
			}
		}

		return c
	}, s)
}

// hasDigit reports whether s has an ASCII digit. It saves running the patterns that need one.
func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

func notLetter(c rune) bool { return !unicode.IsLetter(c) }

// imperatives are verbs that begin an instruction.
var imperatives = func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(`add allow apply arrange attach bake beat blend boil bring brush build change check
		choose chop clean click clone close combine configure connect cook cool copy cover create cut define delete
		deploy discard divide download drain drizzle drop edit enter fill find flip fold follow fork fry garnish
		generate give go grate grind heat import install keep knead launch leave let locate log make marinate mash
		measure melt mix move navigate open paste peel pick place poach pour preheat prepare press publish pull push
		put reduce refrigerate register remove rename replace rinse roast roll run save scroll season select send
		separate serve set shake simmer slice soak sprinkle start steam stir store strain switch take taste test tie
		toast toss transfer turn type update upload use verify wait warm wash whisk wipe wrap write
		schneiden geben mischen verrühren backen lassen öffnen klicken wählen ajouter mélanger couper faire laisser
		verser cuire ajoutez mélangez coupez faites laissez versez añadir mezclar cortar poner dejar cocinar
		añade mezcla`) {
		set[w] = true
	}

	return set
}()
