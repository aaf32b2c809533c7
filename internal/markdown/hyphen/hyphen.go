// Package hyphen finds the places where words may be divided, with Liang's algorithm and the pattern files of
// hyph-utf8 from the TeX community. A Library has a Dictionary for each language; Dictionary.Breaks divides a word.
package hyphen

import (
	"archive/zip"
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"
)

// patternsZip has the unchanged files of hyph-utf8. Each language has patterns (pat), exceptions (hyp), and its
// author and licence (lic).
//
//go:embed patterns.zip
var patternsZip []byte

// files returns the pattern files by language. A language stands for all its regions and scripts without a file of
// their own.
func files() map[string]string {
	m := map[string]string{
		"de": "de-1996", "el": "el-monoton", "en": "en-us", "en-gb": "en-gb", "no": "nb", "nn": "nb",
		"ku": "kmr", "mn": "mn-cyrl", "sr": "sh-cyrl", "sr-latn": "sh-latn", "bs": "sh-latn", "bs-cyrl": "sh-cyrl",
		"cnr": "sh-latn",
	}
	for _, british := range []string{"en-au", "en-nz", "en-ie", "en-za", "en-in"} {
		m[british] = "en-gb"
	}

	const same = "af be bg ca cy da eo es et fi fr fur ga gl hr hsb ia is it ka kmr kn la lt ml nb nl oc pl pms pt rm " +
		"ro ru sl sv ta te tk tr uk"
	for name := range strings.FieldsSeq(same) {
		m[name] = name
	}

	return m
}

// maxLetters is the length of the longest word that is divided, in characters. Longer words do not occur in text, and
// hostile input cannot make the search expensive.
const maxLetters = 80

// Library holds the dictionaries. It reads each on first use, which takes up to 20 ms. It is safe for concurrent
// use.
type Library struct {
	files map[string]string // see the function files

	mu    sync.Mutex             // guards known
	known map[string]*Dictionary // by file
}

// New returns a Library that has not read any dictionary yet.
func New() *Library { return &Library{files: files(), known: map[string]*Dictionary{}} }

// For returns the dictionary of a language (BCP 47), nil if there is none.
func (l *Library) For(lang string) *Dictionary {
	tag, err := language.Parse(lang)
	if err != nil || tag == language.Und {
		return nil
	}
	base, _ := tag.Base()
	region, _ := tag.Region()
	script, _ := tag.Script()

	name := base.String()

	file := cmp.Or(
		l.files[name+"-"+strings.ToLower(region.String())],
		l.files[name+"-"+strings.ToLower(script.String())],
		l.files[name],
	)
	if file == "" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()

	d, ok := l.known[file]
	if !ok {
		if d, err = read(file); err != nil {
			// The files are part of the program, and a test reads them all: this cannot happen.
			panic(fmt.Sprintf("hyphen: %s: %v", file, err))
		}
		l.known[file] = d
	}

	return d
}

// Dictionary divides the words of one language.
type Dictionary struct {
	// patterns has the digits of each pattern by its letters: for "a1b2", the key "ab" has the digits 0, 1, 2.
	patterns map[string][]byte
	// longest is the length of the longest key, in bytes.
	longest int
	// exceptions has the breaks of words for which the patterns are wrong.
	exceptions map[string][]int
}

// read reads the patterns and exceptions of a language from the embedded files.
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

// addPattern adds a pattern such as ".ab1a". A digit is the value of a place between letters, 0 if it is missing. A dot
// is the start or the end of a word.
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

// addException adds a divided word such as "ta-ble".
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

// Breaks returns the offsets in bytes at which a word may be divided. At least first characters are before each offset,
// and at least last after it. Breaks returns nil for a word with other characters than letters and their marks, or with
// a capital after its first letter. It also returns nil for a word of more than maxLetters characters.
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

// lowered returns a word in lower case. ok is false if the word cannot be divided, or if its offsets would change.
func lowered(word string) (lower string, ok bool) {
	n := 0

	for i, r := range word {
		switch {
		case r == utf8.RuneError || !unicode.In(r, unicode.L, unicode.M):
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

	return lower + word[len(lower):], n <= maxLetters
}

// find applies the patterns. Between two letters, the highest digit of all matching patterns counts. An odd digit
// allows a break.
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
		if digits[at+1]%2 == 0 || !utf8.RuneStart(lower[at]) {
			continue
		}

		// A mark stays with its letter.
		if next, _ := utf8.DecodeRuneInString(lower[at:]); !unicode.Is(unicode.M, next) {
			breaks = append(breaks, at)
		}
	}

	return breaks
}
