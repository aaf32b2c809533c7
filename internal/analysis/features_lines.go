package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"presswork/internal/markdown"
)

// lineFeatures sets the features of lines and paragraphs: verse, dialogue, labels and amounts of money.
func lineFeatures(r *reading, f map[string]float64) {
	var lines, short, stanzas, paragraphs, longer, labels, quoted, cells, money, inTable, rows int
	var words, single int

	for _, p := range r.passages {
		if m := amounts(p.text); m > 0 {
			money += m
			inTable += count(p.Kind == markdown.RowBlock)
		}

		if p.Kind == markdown.RowBlock {
			cells++
			continue
		}

		if p.Kind != markdown.ParagraphBlock && p.Kind != markdown.QuoteBlock {
			continue
		}
		paragraphs++

		words += 1 + strings.Count(p.text, " ")
		if strings.Count(p.text, " ") > 55 {
			longer++
		}
		quoted += openedQuotes(p.text) + count(opensWithDash(p.text))
		source := p.lines

		rows += len(source)
		if len(p.Bold) == 0 && stanza(source) {
			stanzas++
		}
		single += count(p.Kind == markdown.ParagraphBlock && len(source) == 1 && isVerseLine(source[0]))

		for i, l := range source {
			lines++
			l = strings.TrimRight(l, " \\")

			n := utf8.RuneCountInString(l)
			alone, last := len(source) == 1, i == len(source)-1
			sentence := strings.HasSuffix(l, ".") && !last // a wrapped line of prose may end here
			// A line of verse is short. A single line, or one that ends a sentence, must be shorter to count.
			short += count(n > 2 && n < 62 && (!alone || n < 48) && (!sentence || n < 45))

			// A label such as "Date:" begins a line, in bold or before a short text.
			colon := strings.IndexAny(l, ":：")
			afterLabel := p.Lead && i == 0 || !alone || len(l) < 90
			labels += count(colon > 1 && colon < 30 && afterLabel)
		}
	}
	f["prose"] = ratio(lines, max(r.Lines, 1))
	f["verse"] = verse(ratio(short, lines), ratio(rows, paragraphs), paragraphs, ratio(lines, max(r.Lines, 1)))
	f["stanzas"] = saturate(ratio(stanzas, paragraphs), 0.2) * f["prose"]
	f["loose_verse"] = ratio(single, len(r.Blocks)) * saturate(float64(single), 4)
	f["paragraph_long"] = ratio(longer, paragraphs)
	f["ragged"] = ragged(r.passages) * f["prose"]
	f["labels"] = ratio(labels, max(lines, 1)) * saturate(float64(labels), 1)
	f["dialogue"] = saturate(float64(quoted)/max(1, float64(words)/100), 1.5)
	f["money"] = saturate(float64(money)/max(1, float64(r.proseWords()+r.cells)/100), 1)
	f["money_table"] = ratio(inTable, cells) * saturate(float64(inTable), 1)
}

// amounts counts sums of money.
func amounts(s string) int {
	if !hasDigit(s) {
		return 0
	}

	return len(moneyLike().FindAllStringIndex(s, 40))
}

// stanza reports whether lines are verse rather than wrapped prose: short, uneven, and broken although the next
// word would have fitted.
func stanza(lines []string) bool {
	if len(lines) < 2 {
		return false
	}
	longest, widest := 0, 0 // widest is the length of a line with the first word of the next

	for i, l := range lines {
		n := utf8.RuneCountInString(l)
		longest = max(longest, n)

		if i < len(lines)-1 {
			first, _, _ := strings.Cut(lines[i+1], " ")
			widest = max(widest, n+1+utf8.RuneCountInString(first))
		}

		if strings.Contains(l, ": ") {
			return false
		}
	}

	return longest < 64 && widest < 70
}

// isVerseLine reports whether the only line of a paragraph is short and does not end a sentence. Some poems have a
// blank line after each line.
func isVerseLine(line string) bool {
	const longest = 60
	line = strings.TrimRight(line, ` "'”»`)
	last, _ := utf8.DecodeLastRuneInString(line)

	return utf8.RuneCountInString(line) < longest && (unicode.IsLetter(last) || strings.ContainsRune(",;，；—–", last))
}

// verse returns a high value for paragraphs of several short lines that are not wrapped prose.
func verse(short, rows float64, paragraphs int, prose float64) float64 {
	if paragraphs == 0 || rows < 1.6 && paragraphs < 4 {
		return 0
	}

	return short * short * min(1, rows/2.5) * prose
}

// ragged returns the share of lines that end early: the next word would have fitted, and no sentence ends there.
// It detects verse with lines of any length. The available width is that of the widest line of all paragraphs.
func ragged(passages []passage) float64 {
	const enough, widestUsed = 6, 90
	widest, lines, early := 0, 0, 0
	var all [][]string

	for _, p := range passages[:min(len(passages), 200)] {
		if p.Kind != markdown.ParagraphBlock || strings.Contains(p.text, ": ") {
			continue
		}

		source := strings.Split(strings.TrimRight(p.text, "\n"), "\n")
		for _, l := range source {
			widest = max(widest, min(utf8.RuneCountInString(l), widestUsed))
		}
		all = append(all, source)
	}

	for _, source := range all {
		for i, l := range source[:len(source)-1] {
			first, _, _ := strings.Cut(source[i+1], " ")
			l = strings.TrimRight(l, " \\")
			lines++
			early += count(
				l != "" && utf8.RuneCountInString(l)+1+utf8.RuneCountInString(first) < widest &&
					!strings.ContainsAny(l[len(l)-1:], ".:"),
			)
		}
	}

	if lines < enough {
		return 0
	}

	return ratio(early, lines)
}

// opensWithDash reports whether a paragraph begins with the dash that opens direct speech in many languages.
func opensWithDash(s string) bool {
	return strings.HasPrefix(s, "— ") || strings.HasPrefix(s, "– ")
}

// openedQuotes counts quotations by their opening marks, and straight quotes by pairs.
func openedQuotes(s string) int {
	return strings.Count(s, `"`)/2 + strings.Count(s, "“") + strings.Count(s, "«") + strings.Count(s, "„")
}
