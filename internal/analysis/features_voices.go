package analysis

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"presswork/internal/markdown"
)

// voiceData lists words that tell who speaks, in languages other than English.
//
//go:embed data/doctype/voices.txt
var voiceData string

// voice is a group of words in voices.txt.
type voice uint8

const (
	selfVoice voice = iota
	otherVoice
	pastVoice
	orderVoice
	voiceCount
)

// voiceNames holds the names of the groups in voices.txt, which are the features' names.
var voiceNames = [voiceCount]string{"self", "others", "narrated", "orders"}

// voiceHalves holds, for each group, the words per hundred that give a feature of 0.5.
var voiceHalves = [voiceCount]float64{3, 3, 4, 1.5}

// voiceWords maps whole words to their groups. ends holds the endings of each group, longest first.
type voiceWords struct {
	words map[string]voice
	ends  [voiceCount][]string
}

var voiceLists = sync.OnceValue(func() voiceWords { return parseVoices(voiceData) })

// parseVoices reads lines "group: word word -ending …".
func parseVoices(data string) voiceWords {
	lists := voiceWords{words: map[string]voice{}}

	for line := range strings.Lines(data) {
		name, list, _ := strings.Cut(line, ":")

		v := slices.Index(voiceNames[:], name)
		if v < 0 {
			continue
		}

		for word := range strings.FieldsSeq(list) {
			if ending, ok := strings.CutPrefix(word, "-"); ok {
				lists.ends[v] = append(lists.ends[v], ending)
			} else {
				lists.words[word] = voice(v)
			}
		}
	}

	return lists
}

// of returns the group of a word. ok is false if it has none.
func (l voiceWords) of(word string) (v voice, ok bool) {
	if v, ok = l.words[word]; ok {
		return v, true
	}

	if word[0] < utf8.RuneSelf && len(word) < 5 {
		return 0, false
	}

	for v := range voiceCount {
		for _, ending := range l.ends[v] {
			if len(word) > len(ending) && strings.HasSuffix(word, ending) {
				return v, true
			}
		}
	}

	return 0, false
}

// voiceFeatures sets the features of the words that tell who speaks, and of direct speech.
func voiceFeatures(r *reading, f map[string]float64) {
	lists := voiceLists()
	var counts [voiceCount]int
	words := 0.0

	for _, t := range r.tokens {
		if t == "" {
			continue
		}

		if w := glyphWords(t); w > 0 {
			words += w
		} else {
			words++
		}

		if v, ok := lists.of(t); ok {
			counts[v]++
		}
	}

	for v, name := range voiceNames {
		f[name] = saturate(float64(counts[v])/max(0.5, words/100), voiceHalves[v])
	}
	spoken, paragraphs, introduced := 0, 0, false

	for _, p := range r.passages {
		if p.Kind != markdown.ParagraphBlock && p.Kind != markdown.QuoteBlock {
			continue
		}
		paragraphs++
		spoken += count(hasSpeech(p.text))
		introduced = introduced || paragraphs < 6 && introduction().MatchString(clip(p.text, 400))
	}
	f["speech"] = ratio(spoken, paragraphs) * saturate(float64(spoken), 2)
	f["introduction"] = indicator(introduced)
}

// hasSpeech reports whether a paragraph has direct speech: it begins with a dash, or has a quotation of a sentence.
func hasSpeech(s string) bool {
	if opensWithDash(s) || strings.HasPrefix(s, "- ") {
		return true
	}

	for _, pair := range [][2]string{{"「", "」"}, {"『", "』"}, {"“", "”"}, {"«", "»"}, {"„", "“"}, {`"`, `"`}, {"‘", "’"}} {
		_, rest, open := strings.Cut(s, pair[0])
		said, _, closed := strings.Cut(rest, pair[1])

		if open && closed && isUtterance(said) {
			return true
		}
	}

	return false
}

// isUtterance reports whether quoted text is a sentence and not a name: it ends with a mark that ends or interrupts
// a sentence.
func isUtterance(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, " *_"))

	return len(s) > 5 && strings.ContainsRune("。，！？…!?,.", last)
}
