package pdffile

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCutValueReturnsOneValue(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ in, value, rest string }{
		"a name ends at a space":                 {"/Type /Page", "/Type", " /Page"},
		"a name ends at the next one":            {"/S/P", "/S", "/P"},
		"an empty name":                          {"/ 1", "/", " 1"},
		"a number":                               {"-12.5 0", "-12.5", " 0"},
		"a reference is one value":               {"12 0 R /K", "12 0 R", " /K"},
		"a reference before an end":              {"12 0 R>>", "12 0 R", ">>"},
		"two numbers are not a reference":        {"12 0 RG", "12", " 0 RG"},
		"a signed number is not a reference":     {"-12 0 R", "-12", " 0 R"},
		"spaces and lines before a value":        {" \n \n7 8", "7", " 8"},
		"brackets within a string":               {"(a(b)c) 1", "(a(b)c)", " 1"},
		"an escaped bracket in a string":         {`(a\)b) 1`, `(a\)b)`, " 1"},
		"an escaped backslash ends a string":     {`(a\\) 1`, `(a\\)`, " 1"},
		"a string with the end of an array":      {"[(]) 1] 2", "[(]) 1]", " 2"},
		"hexadecimal digits":                     {"<FEFF0041>5", "<FEFF0041>", "5"},
		"an array in an array":                   {"[1 [2 3] 4]5", "[1 [2 3] 4]", "5"},
		"a dictionary in a dictionary":           {"<</A <</B 1>>>>/C", "<</A <</B 1>>>>", "/C"},
		"hexadecimal digits in a dictionary":     {"<</A <00>>>1", "<</A <00>>>", "1"},
		"a reference in an array is not a value": {"[12 0 R] 13 0 R", "[12 0 R]", " 13 0 R"},
		"a keyword":                              {"null]", "null", "]"},
		"fifty arrays within each other":         {strings.Repeat("[", 50) + strings.Repeat("]", 50), strings.Repeat("[", 50) + strings.Repeat("]", 50), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			value, rest, err := cutValue([]byte(c.in))
			if err != nil || string(value) != c.value || string(rest) != c.rest {
				t.Errorf("got %q and %q, %v; want %q and %q", value, rest, err, c.value, c.rest)
			}
		})
	}
}

func TestInvalidValuesAreRejected(t *testing.T) {
	t.Parallel()

	for name, in := range map[string]string{
		"nothing":                             "",
		"only spaces":                         " \n ",
		"an array without an end":             "[1 2",
		"a dictionary without an end":         "<</A 1",
		"a string without an end":             "(abc",
		"a string that ends with a backslash": `(abc\`,
		"an escaped end of a string":          `(abc\)`,
		"an inner bracket without an end":     "(a(b)",
		"hexadecimal digits without an end":   "<FEFF",
		"an end of an array":                  "]",
		"an end of a dictionary":              ">>",
		"an end of a string":                  ")",
		"a string without an end in an array": "[(a]",
		"fifty-one arrays within each other":  strings.Repeat("[", 51) + strings.Repeat("]", 51),
		"dictionaries and arrays without end": strings.Repeat("<</A [", 1_000_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if value, _, err := cutValue([]byte(in)); !errors.Is(err, ErrObject) {
				t.Errorf("got %.50q, %v; want %v", value, err, ErrObject)
			}
		})
	}
}

func TestReadDictKeepsTheOrderOfEntries(t *testing.T) {
	t.Parallel()
	in := "<</Type /Page\n/Kids [1 0 R <</A (>>)>>]/Alt (a >> b) /N null\n/Sub <<>>>> stream\n/No 1\nendstream"

	d, rest, err := ReadDict([]byte(in))
	if err != nil {
		t.Fatal(err)
	}

	var got []string
	for _, f := range d {
		got = append(got, f.Key+"="+string(f.Value))
	}

	diff := cmp.Diff([]string{"Type=/Page", "Kids=[1 0 R <</A (>>)>>]", "Alt=(a >> b)", "N=null", "Sub=<<>>"}, got)
	if diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}

	if string(rest) != " stream\n/No 1\nendstream" {
		t.Errorf("the rest is %q, want the stream", rest)
	}
	d.Set("Alt", "(new)")
	d.Set("Last", "1")
	d.Remove("Kids")
	d.Remove("Absent")

	if got, want := string(d.Bytes()), "<</Type /Page\n/Alt (new)\n/N null\n/Sub <<>>\n/Last 1>>"; got != want {
		t.Errorf("Bytes = %q, want %q", got, want)
	}

	if d.Get("Kids") != nil || d.Get("Last") == nil {
		t.Errorf("got Kids %q and Last %q, want none and 1", d.Get("Kids"), d.Get("Last"))
	}
}

func TestInvalidDictionariesAreRejected(t *testing.T) {
	t.Parallel()

	for name, in := range map[string]string{
		"nothing":                       "",
		"an array":                      "[1]",
		"no end":                        "<</A 1",
		"a key without a value":         "<</A>>",
		"a key that is no name":         "<<1 2>>",
		"an empty key":                  "<</ 1>>",
		"half an end":                   "<</A 1>",
		"a value without an end":        "<</A (b>>",
		"a stream without a dictionary": "stream\nendstream",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if d, _, err := ReadDict([]byte(in)); err == nil {
				t.Errorf("got %q, want an error", d.Bytes())
			}
		})
	}
}

func TestReadArrayReturnsEachValue(t *testing.T) {
	t.Parallel()

	for in, want := range map[string][]string{
		"[]":           nil,
		"[ \n ]":       nil,
		"[1 2 0 R /A]": {"1", "2 0 R", "/A"},
		"[[1 2] <</A [3]>> (])]": {
			"[1 2]",
			"<</A [3]>>", "(])",
		},
		"[<0001> -20 <0002>]": {"<0001>", "-20", "<0002>"},
		"12 0 R":              {"12 0 R"},
		"/One":                {"/One"},
	} {
		t.Run(in, func(t *testing.T) {
			t.Parallel()
			values, err := ReadArray([]byte(in))

			var got []string
			for _, v := range values {
				got = append(got, string(v))
			}

			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}

	for _, in := range []string{"[1 2", "[1 (]", "[1 ]]", "[1>>"} {
		t.Run("broken "+in, func(t *testing.T) {
			t.Parallel()

			if values, err := ReadArray([]byte(in)); err == nil {
				t.Errorf("got %q, want an error", values)
			}
		})
	}
}

func TestReferenceParsesGenerationZeroOnly(t *testing.T) {
	t.Parallel()

	for in, want := range map[string]int{"12 0 R": 12, "0 0 R": 0, "12": -1, "12 1 R": -1, "12 0 R ": -1, "-12 0 R": -1, " 0 R": -1, "": -1, "99999999999999999999 0 R": -1, "1.5 0 R": -1} {
		t.Run(in, func(t *testing.T) {
			t.Parallel()

			got, ok := Reference([]byte(in))
			if !ok {
				got = -1
			}

			if got != want {
				t.Errorf("got %d, want %d", got, want)
			}
		})
	}
}

func TestAReferenceToAMissingObjectIsAnError(t *testing.T) {
	t.Parallel()

	f := &File{Objects: make([][]byte, 3)}

	for in, want := range map[string]bool{"2 0 R": true, "3 0 R": false, "": false} {
		t.Run(in, func(t *testing.T) {
			if _, ok := f.Object([]byte(in)); ok != want {
				t.Errorf("Object(%q) = %v, want %v", in, ok, want)
			}
		})
	}

	if _, err := f.Dictionary([]byte("3 0 R")); err == nil {
		t.Error("Dictionary of an object past the last one: got nil, want an error")
	}
}

func TestTextStringsAreDecoded(t *testing.T) {
	t.Parallel()

	for in, want := range map[string]string{
		"(plain)":         "plain",
		"()":              "",
		`(a\(b\)\\)`:      `a(b)\`,
		`(\n\r\t\b\f)`:    "\n\r\t\b\f",
		`(\101\7\0409)`:   "A\a 9",
		`(\777)`:          "ÿ",
		`(M\374ller)`:     "Müller",
		`(\200\222\240)`:  "•™€",
		"(M\xfcller)":     "Müller",
		"(M\xc3\xbcller)": "Müller",
		"<EFBBBFC3BC>":    "ü",
		`(\1011)`:         "A1",
		`(\8\z)`:          "8z",
		`(a\`:             "a",
		`(\376\377\000A)`: "A",
		"<FEFF0041>":      "A",
		"<FEFFD83DDE00>":  "😀",
		"<FEFF>":          "",
		"<feff00e9>":      "é",
		"<4142>":          "AB",
		"<>":              "",
		"<FEFF004>":       "",
		"<FEFFD83D>":      "\ufffd",
		"<XY>":            "",
		"/Name":           "",
		"12":              "",
		"":                "",
		"(":               "",
	} {
		t.Run(in, func(t *testing.T) {
			t.Parallel()

			if got := DecodeText([]byte(in)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestWrittenTextStringsDecodeToTheSameText(t *testing.T) {
	t.Parallel()

	for _, text := range []string{
		"", "plain", `)\(`, "é", "\x7f", "a\nb", "\u2061x", "😀 + 漢", "\u0627\u0644", "\\101", "FEFF",
		strings.Repeat("(", 40_000),
	} {
		t.Run(text[:min(len(text), 8)], func(t *testing.T) {
			t.Parallel()

			written := TextString(text)
			if n, err := valueLength([]byte(written)); err != nil || n != len(written) {
				t.Fatalf("%.50s has the length %d, %v; want %d", written, n, err, len(written))
			}

			if got := DecodeText([]byte(written)); got != text {
				t.Errorf("got %.50q from %.50s, want %.50q", got, written, text)
			}
		})
	}
}

func TestOneLineCollapsesSpacesAndCutsLongText(t *testing.T) {
	t.Parallel()

	for in, want := range map[string]string{
		" a \t b\n\nc ":                "a b c",
		"a\x00b":                       "a b",
		"a\u0085b":                     "a b",
		"a\xffb":                       "a\ufffdb",
		"":                             "",
		"\n":                           "",
		"a\u00a0b":                     "a b",
		strings.Repeat("ä", MaxText+1): strings.Repeat("ä", MaxText),
	} {
		t.Run(in[:min(len(in), 8)], func(t *testing.T) {
			t.Parallel()

			if got := OneLine(in); got != want {
				t.Errorf("got %.60q, want %.60q", got, want)
			}
		})
	}
}

func TestReferencesAreRenumbered(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ in, want string }{
		"in a dictionary":             {"<</P 7 0 R\n/K [8 0 R 9 0 R]>>", "<</P 107 0 R\n/K [108 0 R 109 0 R]>>"},
		"in an array without spaces":  {"[7 0 R/A 8 0 R]", "[107 0 R/A 108 0 R]"},
		"not in a string":             {"<</T (7 0 R \\) 8 0 R)\n/P 9 0 R>>", "<</T (7 0 R \\) 8 0 R)\n/P 109 0 R>>"},
		"not in a name":               {"<</A7 0\n/P 9 0 R\n/K /7>>", "<</A7 0\n/P 109 0 R\n/K /7>>"},
		"not in hexadecimal digits":   {"<</ID <70>\n/P 9 0 R>>", "<</ID <70>\n/P 109 0 R>>"},
		"not in a stream's content":   {"<</R 7 0 R>> stream\n8 0 R\nendstream", "<</R 107 0 R>> stream\n8 0 R\nendstream"},
		"not other numbers":           {"<</W [7 0 12 1.5]\n/P 9 0 R>>", "<</W [7 0 12 1.5]\n/P 109 0 R>>"},
		"a string that does not end":  {"(7 0 R", "(107 0 R"},
		"nothing is to be renumbered": {"<</A 7>>", "<</A 7>>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := string(Renumber([]byte(c.in), func(n int) int { return n + 100 })); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestInvalidNumbersAreRejected(t *testing.T) {
	t.Parallel()

	for _, in := range []string{
		"", "-", "--1", "+", "1-1", "1e5", "NaN", "Inf", "-Infinity", "0x10", "0x1.00000000000000p10",
		"1_000_000_000_000_000", "Infinity00000000000", "1.2.3", "12345678901234567890x", "1e999999999999999999",
	} {
		t.Run(in, func(t *testing.T) {
			t.Parallel()

			if n, ok := Decimal([]byte(in)); ok {
				t.Errorf("got %v, want no number", n)
			}
		})
	}

	if _, err := Numbers([][]byte{[]byte("1"), []byte("x")}, 2); err == nil {
		t.Error("Numbers accepted a word")
	}

	many := make([][]byte, 8)
	for i := range many {
		many[i] = []byte("1")
	}

	if _, err := Numbers(many, len(many)); err == nil {
		t.Error("Numbers accepted eight operands")
	}
}
