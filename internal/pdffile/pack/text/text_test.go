package text_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/pdffile/filetest"
	"presswork/internal/pdffile/pack"
)

// glyphs maps 1 to 26 to letters, 27 to a soft hyphen, and 28 to a hyphen. Presentation forms of Arabic letters
// start at 40.
func glyphs() map[int]string {
	texts := map[int]string{27: "\u00ad", 28: "\u2010", 29: "-", 40: "\uFE8E", 41: "\uFEFB", 42: "\u0628", 43: ""}
	for c := 'a'; c <= 'z'; c++ {
		texts[int(c-'a')+1] = string(c)
	}

	return texts
}

// rewritten packs a page and returns its content and the ToUnicode map of its font.
func rewritten(t *testing.T, content string, finish pack.Finish) (after, fontMap string) {
	t.Helper()
	built := filetest.Build(t, filetest.Pages("/Font <</F1 @f>>", content), filetest.Font("f", glyphs()))
	objects := packed(t, built, finish)

	return filetest.Content(
			t,
			objects[built.Number(t, "content-1")],
		), filetest.Content(
			t,
			objects[built.Number(t, "f-map")],
		)
}

const (
	soft   = "/Span<</ActualText <FEFF00AD> >> BDC\n"
	hyphen = "/Span<</ActualText <FEFF2010> >> BDC\n"
	begin  = "BT\n/F1 9 Tf\n"
)

func TestSoftHyphensWithinALineAreRemoved(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ in, want string }{
		"with a move":    {begin + "<0001> Tj\n" + soft + "8.1 0 Td\n<001B> Tj\nEMC\n0 0 Td\n<0002> Tj\nET\n", begin + "<0001> Tj\n8.1 0 Td <0002> Tj\nET\n"},
		"without a move": {begin + "<0001> Tj\n" + soft + "<001B> Tj\nEMC\n8.1 0 Td\n<0002> Tj\nET\n", begin + "<0001> Tj\n8.1 0 Td\n<0002> Tj\nET\n"},
		"before a span": {
			begin + soft + "8.1 0 Td\n<001B> Tj\nEMC\n/Span<</ActualText (n) >> BDC\n0 0 Td\n<0002> Tj\nEMC\nET\n",
			begin + "/Span<</ActualText (n) >> BDC\n8.1 0 Td <0002> Tj\nEMC\nET\n",
		},
		"two in a word": {
			begin + soft + "1 0 Td\n<001B> Tj\nEMC\n0 0 Td\n<0002> Tj\n" + soft +
				"2 0 Td\n<001B> Tj\nEMC\n0 0 Td\n<0003> Tj\nET\n",
			begin + "1 0 Td <0002> Tj\n2 0 Td <0003> Tj\nET\n",
		},
		"at the end of a line": {
			begin + "<0001> Tj\n" + soft + "8 0 Td\n<001B> Tj\nEMC\nET\n" + begin + "<001C> Tj\nET\n",
			begin + "<0001> Tj\nET\n" + begin + soft + "<001C> Tj\nEMC\nET\n",
		},
		"at the end of a line, as ASCII": {begin + soft + "8 0 Td\n<001B> Tj\nEMC\nET\n" + begin + "<001D> Tj\nET\n", begin + "ET\n" + begin + soft + "<001D> Tj\nEMC\nET\n"},
		"at the end of a line with an underline": {
			begin + soft + "8 0 Td\n<001B> Tj\nEMC\nET\n0 0 9 1 re\nf\nBT\n1 0 0 -1 0 73 Tm\n/F1 9 Tf\n<001C> Tj\nET\n",
			begin + "ET\n0 0 9 1 re\nf\nBT\n1 0 0 -1 0 73 Tm\n/F1 9 Tf\n" + soft + "<001C> Tj\nEMC\nET\n",
		},
		"at the end of a line, in a span": {
			begin + soft + "8 0 Td\n<001B> Tj\nEMC\nET\nBT\n" + hyphen + "/F1 9 Tf\n<001C> Tj\nEMC\nET\n",
			begin + "ET\nBT\n" + soft + "/F1 9 Tf\n<001C> Tj\nEMC\nET\n",
		},
		"another glyph follows the line": {begin + soft + "8 0 Td\n<001B> Tj\nEMC\nET\n" + begin + "<0001> Tj\nET\n", begin + "ET\n" + begin + "<0001> Tj\nET\n"},
		"another tag follows the line":   {begin + soft + "8 0 Td\n<001B> Tj\nEMC\nET\n/P <</MCID 1 >>BDC\n" + begin + "<001C> Tj\nET\nEMC\n", begin + "ET\n/P <</MCID 1 >>BDC\n" + begin + "<001C> Tj\nET\nEMC\n"},
		"next to letters of another font": {
			begin + "<0001> Tj\nET\nBT\n" + soft + "/F2 9 Tf\n1 0 0 -1 0 73 Tm\n8 0 Td\n<001B> Tj\nEMC\nET\n" +
				begin + "1 0 0 -1 0 73 Tm\n8 0 Td\n<0002> Tj\nET\n",
			begin + "<0001> Tj\nET\nBT\nET\n" + begin + "1 0 0 -1 0 73 Tm\n8 0 Td\n<0002> Tj\nET\n",
		},
		"one in another form is kept":      {begin + soft + "8 0 Td\n<001B> Tj\n<001B> Tj\nEMC\n0 0 Td\n<0002> Tj\nET\n", ""},
		"one before a move from elsewhere": {begin + soft + "8 0 Td\n<001B> Tj\nEMC\n5 0 Td\n<0002> Tj\nET\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if c.want == "" {
				c.want = c.in
			}

			got, _ := rewritten(t, c.in, pack.Finish{Hyphenated: true})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}

			if got, _ := rewritten(t, c.in, pack.Finish{}); got != c.in {
				t.Errorf("without Hyphenated: got %s, want the content unchanged", got)
			}
		})
	}
}

func TestArabicIsReadAsLetters(t *testing.T) {
	t.Parallel()

	const alif, lamAlif = "/Span<</ActualText <FEFF0627> >> BDC\n", "/Span<</ActualText <FEFF06440627> >> BDC\n"
	for name, c := range map[string]struct{ in, want string }{
		"a span that repeats its glyph is removed":       {begin + alif + "<0028> Tj\nEMC\nET\n", begin + "<0028> Tj\nET\n"},
		"the span of a ligature is removed":              {begin + lamAlif + "<0029> Tj\nEMC\nET\n", begin + "<0029> Tj\nET\n"},
		"a span around a move is removed":                {begin + alif + "3 0 Td\n<0028> Tj\nEMC\nET\n", begin + "3 0 Td\n<0028> Tj\nET\n"},
		"a span with another text is kept":               {begin + alif + "<002A> Tj\nEMC\nET\n", ""},
		"a span around a glyph without a letter is kept": {begin + alif + "<002B> Tj\nEMC\nET\n", ""},
		"another tag is kept":                            {"/P <</MCID 0 >>BDC\n" + begin + alif + "<0028> Tj\nEMC\nET\nEMC\n", "/P <</MCID 0 >>BDC\n" + begin + "<0028> Tj\nET\nEMC\n"},
		"spans of spans":                                 {begin + alif + alif + "<0028> Tj\nEMC\nEMC\nET\n", begin + alif + "<0028> Tj\nEMC\nET\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if c.want == "" {
				c.want = c.in
			}

			got, fontMap := rewritten(t, c.in, pack.Finish{RightToLeft: true})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}

			if !strings.Contains(
				fontMap,
				"\n<0028> <0627>\n<0029> <06270644>\n<002A> <0628>\n<002B> <0000>\nendbfchar\nendcmap",
			) ||
				!strings.HasPrefix(
					fontMap,
					"1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n33 beginbfchar\n",
				) {
				t.Errorf("the ToUnicode map is %s, want letters instead of presentation forms", fontMap)
			}
		})
	}

	_, fontMap := rewritten(t, begin+"<0028> Tj\nET\n", pack.Finish{RightToLeft: true})
	if !strings.Contains(fontMap, "<0028> <FE8E>") {
		t.Errorf("a page without spans: the ToUnicode map is %s, want it unchanged", fontMap)
	}
}

func TestDropCapsAreJoinedWithTheirWords(t *testing.T) {
	t.Parallel()

	const (
		empty = "/Span<</ActualText <FEFF> >> BDC\n"
		big   = "BT\n/F1 70.9 Tf\n"
		small = "BT\n/F1 16 Tf\n"
	)
	for name, c := range map[string]struct{ in, want string }{
		"a letter": {big + "<0001> Tj\nET\n0 0 0 rg\n" + small + "<000200030004> Tj\nET\n", big + empty + "<0001> Tj\nEMC\n\nET\n0 0 0 rg\n" + small +
			"/Span<</ActualText <FEFF00610062> >> BDC\n<0002> Tj\nEMC\n<00030004> Tj\n\nET\n"},
		"a word of one glyph": {big + "<0001> Tj\nET\n" + small + "<0002> Tj\nET\n", big + empty + "<0001> Tj\nEMC\n\nET\n" + small +
			"/Span<</ActualText <FEFF00610062> >> BDC\n<0002> Tj\nEMC\n\nET\n"},
		"a quotation mark and a letter": {
			big + "<001D0001> Tj\nET\n" + small + "<0002> Tj\nET\n",
			big + empty + "<001D0001> Tj\nEMC\n\nET\n" + small +
				"/Span<</ActualText <FEFF002D00610062> >> BDC\n<0002> Tj\nEMC\n\nET\n",
		},
		"a quotation mark, then a letter": {
			big + "<001D> Tj\n<0001> Tj\nET\n" + small + "<0002> Tj\nET\n",
			big + empty + "<001D> Tj\n<0001> Tj\nEMC\n\nET\n" + small +
				"/Span<</ActualText <FEFF002D00610062> >> BDC\n<0002> Tj\nEMC\n\nET\n",
		},
		"before a span": {
			big + "<0001> Tj\nET\nBT\n/Span<</ActualText (n) >> BDC\n/F1 16 Tf\n<0002> Tj\nEMC\nET\n",
			big + empty + "<0001> Tj\nEMC\n\nET\nBT\n/Span<</ActualText <FEFF0061006E> >> BDC\n/F1 16 Tf\n" +
				"<0002> Tj\nEMC\nET\n",
		},
		"three large letters are a word":         {big + "<000100020003> Tj\nET\n" + small + "<0002> Tj\nET\n", ""},
		"a letter that is not large enough":      {"BT\n/F1 35 Tf\n<0001> Tj\nET\n" + small + "<0002> Tj\nET\n", ""},
		"something is drawn between":             {big + "<0001> Tj\nET\n/X1 Do\n" + small + "<0002> Tj\nET\n", ""},
		"another tag begins between":             {big + "<0001> Tj\nET\n/P <</MCID 0 >>BDC\n" + small + "<0002> Tj\nET\nEMC\n", ""},
		"three shows are a word":                 {big + "<0001> Tj\n<0002> Tj\n<0003> Tj\nET\n" + small + "<0002> Tj\nET\n", ""},
		"a text between":                         {big + "<0001> Tj\nET\n" + big + "<000100020003> Tj\nET\n" + small + "<0002> Tj\nET\n", ""},
		"nothing follows":                        {big + "<0001> Tj\nET\n", ""},
		"a letter of a font that does not exist": {"BT\n/F9 70 Tf\n<0001> Tj\nET\n" + small + "<0002> Tj\nET\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if c.want == "" {
				c.want = c.in
			}

			got, _ := rewritten(t, c.in, pack.Finish{DropCaps: true})

			diff := cmp.Diff(strings.ReplaceAll(c.want, "\n\n", "\n"), strings.ReplaceAll(got, "\n\n", "\n"))
			if diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestGlyphsOfNoCharacterAreMapped(t *testing.T) {
	t.Parallel()

	built := filetest.Build(t, filetest.Pages("/Font <</F1 @f>>", ""),
		filetest.EmbeddedFont("f", map[int]string{0: "", 1: "a", 2: "", 3: "\u0000a"}, map[int]string{1: "aa"}))
	for name, finish := range map[string]pack.Finish{"PDF/A": {PDFA: "2u"}, "PDF/UA": {PDFUA: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			objects := packed(t, built, finish)

			got := built.Text(t, objects, "f-map")
			if !strings.Contains(got, "\n<0000> <FFFD>\n<0001> <0061>\n<0002> <FFFD>\n<0003> <00000061>\n") {
				t.Errorf("got %s, want U+FFFD for glyphs without a character", got)
			}
		})
	}

	objects := packed(t, built, pack.Finish{})
	if got := built.Text(t, objects, "f-map"); !strings.Contains(got, "\n<0000> <0000>\n") {
		t.Errorf("without PDF/A and PDF/UA: got %s, want it unchanged", got)
	}
}

// packed returns the objects of a file after Pack.
func packed(t testing.TB, built *filetest.Built, finish pack.Finish) map[int]string {
	t.Helper()

	p, err := pack.Pack(built.Data, pack.Meta{}, finish)
	if err != nil {
		t.Fatal(err)
	}

	return filetest.Objects(t, p.Data)
}
