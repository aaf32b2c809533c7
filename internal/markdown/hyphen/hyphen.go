// Package hyphen knows where words may be divided: Liang's algorithm on the
// pattern files of the TeX community's hyph-utf8.
package hyphen

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"
)

// The files are as hyph-utf8 has them: for each language its patterns (pat),
// words that are exceptions (hyp), and its author and licence (lic).
//
//go:embed patterns.zip
var patternsZip []byte

// files are the pattern files by language. Where a language has several, the
// one without a region is for those regions that have none.
func files() map[string]string {
	m := map[string]string{"de": "de-1996", "el": "el-monoton", "en": "en-us", "en-gb": "en-gb", "no": "nb", "nn": "nb"}
	for _, same := range []string{"en-au", "en-nz", "en-ie", "en-za", "en-in"} {
		m[same] = "en-gb"
	}

	for name := range strings.FieldsSeq("af bg ca da es et fi fr gl hr is it lt nb nl pl pt ro ru sl sv tr uk") {
		m[name] = name
	}

	return m
}

// longest is the longest word that is divided, in characters: no language has
// longer ones, and no input can make the search expensive.
const longest = 80

// Library holds the dictionaries, each read when it is first asked for: up to
// 20 ms. It is safe for concurrent use.
type Library struct {
	mu    sync.Mutex
	files map[string]string
	known map[string]*Dictionary
}

// New makes a Library.
func New() *Library { return &Library{files: files(), known: map[string]*Dictionary{}} }

// For returns the dictionary of a language (BCP 47), nil if there is none.
func (l *Library) For(lang string) *Dictionary {
	tag, err := language.Parse(lang)
	if err != nil || tag == language.Und {
		return nil
	}
	base, _ := tag.Base()
	region, _ := tag.Region()

	file, ok := l.files[base.String()+"-"+strings.ToLower(region.String())]
	if !ok {
		if file, ok = l.files[base.String()]; !ok {
			return nil
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()

	d, ok := l.known[file]
	if !ok {
		if d, err = read(file); err != nil {
			// It is embedded, so that this is found by the tests.
			panic(fmt.Sprintf("hyphen: %s: %v", file, err))
		}
		l.known[file] = d
	}

	return d
}

// Dictionary divides the words of one language.
type Dictionary struct {
	// patterns are the digits of a pattern by its letters: 0, 1, 2 for "a1b2",
	// by "ab".
	patterns map[string][]byte
	// longest is the length of the longest key, in bytes.
	longest int
	// exceptions are the breaks of words that the patterns get wrong.
	exceptions map[string][]int
}

func read(name string) (*Dictionary, error) {
	z, err := zip.NewReader(bytes.NewReader(patternsZip), int64(len(patternsZip)))
	if err != nil {
		return nil, err
	}

	d := &Dictionary{patterns: map[string][]byte{}, exceptions: map[string][]int{}}
	for kind, add := range map[string]func(string){"pat": d.addPattern, "hyp": d.addException} {
		f, err := z.Open("hyph-" + name + "." + kind + ".txt")
		if err != nil {
			if kind == "hyp" {
				continue // few languages have exceptions
			}

			return nil, err
		}

		text, err := io.ReadAll(f)
		if err != nil {
			return nil, err
		}

		for line := range strings.FieldsSeq(string(text)) {
			add(line)
		}
	}

	return d, nil
}

// addPattern takes a pattern such as ".ab1a": digits stand between letters.
func (d *Dictionary) addPattern(pattern string) {
	letters := make([]byte, 0, len(pattern))
	digits := []byte{0}

	for i := 0; i < len(pattern); i++ {
		if c := pattern[i]; c >= '0' && c <= '9' {
			digits[len(digits)-1] = c - '0'
			continue
		}
		letters = append(letters, pattern[i])
		digits = append(digits, 0)
	}
	d.patterns[string(letters)] = digits
	d.longest = max(d.longest, len(letters))
}

// addException takes a divided word: "ta-ble".
func (d *Dictionary) addException(divided string) {
	var breaks []int

	word := ""
	for part := range strings.SplitSeq(divided, "-") {
		if word != "" {
			breaks = append(breaks, len(word))
		}
		word += part
	}
	d.exceptions[word] = breaks
}

// Breaks returns the offsets in bytes at which a word may be divided, leaving
// at least first characters before and last after each. A word that is not of
// letters alone, all small but for the first, is not divided.
func (d *Dictionary) Breaks(word string, first, last int) []int {
	lower, ok := lowered(word)
	if !ok {
		return nil
	}

	breaks, known := d.exceptions[lower]
	if !known {
		breaks = d.find(lower)
	}
	var kept []int

	for _, at := range breaks {
		if utf8.RuneCountInString(lower[:at]) >= first && utf8.RuneCountInString(lower[at:]) >= last {
			kept = append(kept, at)
		}
	}

	return kept
}

// lowered is a word in small letters of the same lengths.
func lowered(word string) (lower string, ok bool) {
	n := 0

	for i, r := range word {
		switch {
		case r == utf8.RuneError || !unicode.IsLetter(r):
			return "", false
		case unicode.IsUpper(r):
			small := unicode.ToLower(r)
			if i > 0 || utf8.RuneLen(small) != utf8.RuneLen(r) {
				return "", false
			}
			lower = string(small)
		}
		n++
	}

	return lower + word[len(lower):], n <= longest
}

// find applies the patterns: between two letters, the highest digit of those
// that match there is the one that counts, and a break is where it is odd.
func (d *Dictionary) find(lower string) (breaks []int) {
	dotted := "." + lower + "."

	digits := make([]byte, len(dotted)+1)
	for from := range len(dotted) {
		for to := from + 1; to <= min(from+d.longest, len(dotted)); to++ {
			for i, digit := range d.patterns[dotted[from:to]] {
				digits[from+i] = max(digits[from+i], digit)
			}
		}
	}

	for at := 1; at < len(lower); at++ {
		if digits[at+1]%2 == 1 && utf8.RuneStart(lower[at]) {
			breaks = append(breaks, at)
		}
	}

	return breaks
}
