package cite

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"presswork/internal/markdown/cite/bibfile"
)

// cased applies a text-case. Text in <span class="nocase"> keeps its case. See "Text-case".
func (r *renderer) cased(out rich, how string) rich {
	if how != "" {
		for _, x := range out {
			r.charge(2 * len(x.text))
		}
	}

	switch how {
	case "lowercase":
		return out.mapped(func(x run) string { return unlessFixed(x, strings.ToLower) })
	case "uppercase":
		return out.mapped(func(x run) string { return unlessFixed(x, strings.ToUpper) })
	case "capitalize-first":
		return capitalized(out)
	case "capitalize-all":
		return out.mapped(func(x run) string {
			return unlessFixed(x, func(s string) string { return bibfile.EachWord(s, upperFirst) })
		})
	case "sentence":
		text := out.plain()
		if strings.ToUpper(text) == text { // "Sentence Case Conversion": a title in capitals only
			out = out.mapped(func(x run) string { return unlessFixed(x, strings.ToLower) })
		}

		return capitalized(out)
	case "title":
		if !r.isEnglish() {
			return out
		}

		return titled(out)
	}

	return out
}

// isEnglish reports whether the work is in English. Other titles keep their case. See "Non-English Items".
func (r *renderer) isEnglish() bool {
	lang := r.work.item.Vars["language"]
	if lang == "" {
		lang = r.locale.lang
	}
	lang = strings.ToLower(lang)

	return lang == "en" || strings.HasPrefix(lang, "en-") || lang == "english" || lang == "american" ||
		lang == "british"
}

// unlessFixed returns the result of change for the text of a run, or the text itself if its case is fixed.
func unlessFixed(x run, change func(string) string) string {
	if x.look&fixed != 0 {
		return x.text
	}

	return change(x.text)
}

// capitalized makes the first letter a capital. It changes out.
func capitalized(out rich) rich {
	for i, x := range out {
		if strings.TrimSpace(x.text) == "" {
			continue
		}

		if x.look&fixed == 0 {
			out[i].text = upperFirst(x.text)
		}
		break
	}

	return out
}

// upperFirst returns a text whose first letter is a capital, unless a digit comes before that letter.
func upperFirst(word string) string {
	for i, r := range word {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return word[:i] + string(unicode.ToUpper(r)) + word[i+utf8.RuneLen(r):]
		}
	}

	return word
}

// stopWords are the words without a capital in English titles. See "Title Case Conversion".
const stopWords = " " +
	"a about above according across afore after against ahead along alongside although amid amidst among " +
	"amongst an and anenst apart apropos around as aside astride at athwart atop barring because before " +
	"behind below beneath beside besides between beyond but by c ca circa despite down during et except " +
	"for forenenst from given if in inside into like modulo near next nor notwithstanding of off on onto " +
	"or out over per plus pro qua sans since so than that the though through throughout thru till to " +
	"toward towards under underneath until unto up upon v versus via vis-à-vis vs when with within " +
	"without yet de d von van "

// titled gives the words of an English title their capitals. Words with a capital keep their case. Stop words
// get a capital only at the start and the end of the title, and at the start of a subtitle.
func titled(out rich) rich {
	after := true // whether the next word begins a title or a subtitle

	total := 0
	for _, x := range out {
		total += len(strings.Fields(x.text))
	}
	seen := 0

	return out.mapped(func(x run) string {
		return bibfile.EachWord(x.text, func(w string) string {
			seen++
			begins := after
			// The word after one of these marks begins a part of the title. A single letter with a full stop is an
			// initial.
			after = strings.HasSuffix(w, ":") || strings.HasSuffix(w, "?") || strings.HasSuffix(w, "!") ||
				strings.HasSuffix(w, ".") && len(w) > 2 || w == "—" || w == "–"

			bare := strings.ToLower(strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) }))
			switch {
			case x.look&fixed != 0 || w != strings.ToLower(w):
				return w
			case !begins && seen < total && strings.Contains(stopWords, " "+bare+" "):
				return w
			}

			return capitalizedParts(w)
		})
	})
}

// capitalizedParts gives the parts of a compound their capitals: "out-of-fashion" becomes "Out-of-Fashion".
func capitalizedParts(word string) string {
	signs := "-‐–—"
	if !strings.ContainsAny(word, "<>:.") { // not a URL or markup
		signs += "/"
	}
	var b strings.Builder

	for first := true; word != ""; first = false {
		end, width := len(word), 0
		if i := strings.IndexAny(word, signs); i >= 0 {
			_, width = utf8.DecodeRuneInString(word[i:])
			end = i
		}

		part := word[:end]
		if first || !strings.Contains(stopWords, " "+part+" ") {
			part = upperFirst(part)
		}
		b.WriteString(part + word[end:end+width])
		word = word[end+width:]
	}

	return b.String()
}
