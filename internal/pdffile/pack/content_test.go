package pack

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/pdffile"
	"presswork/internal/pdffile/filetest"
)

// hyphens maps 1 to 26 to letters, 27 to a soft hyphen, 28 to a hyphen; Arabic letters
// in their forms are at 40 and above.
func glyphs() map[int]string {
	texts := map[int]string{27: "\u00ad", 28: "\u2010", 29: "-", 40: "\uFE8E", 41: "\uFEFB", 42: "\u0628", 43: ""}
	for c := 'a'; c <= 'z'; c++ {
		texts[int(c-'a')+1] = string(c)
	}

	return texts
}

// rewritten is the content of a page of a file after Pack, and its font's map.
func rewritten(t *testing.T, content string, finish Finish) (after, fontMap string) {
	t.Helper()
	built := filetest.Build(t, filetest.Pages("/Font <</F1 @f>>", content), filetest.Font("f", glyphs()))
	_, objects := packed(t, built, finish)

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

func TestSoftHyphensWithinALineGo(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ in, want string }{
		"with a move": {begin + "<0001> Tj\n" + soft + "8.1 0 Td\n<001B> Tj\nEMC\n0 0 Td\n<0002> Tj\n" +
			"ET\n", begin + "<0001> Tj\n8.1 0 Td <0002> Tj\nET\n"},
		"without a move": {begin + "<0001> Tj\n" + soft + "<001B> Tj\nEMC\n8.1 0 Td\n<0002> Tj\n" +
			"ET\n", begin + "<0001> Tj\n8.1 0 Td\n<0002> Tj\nET\n"},
		"before a span": {
			begin + soft + "8.1 0 Td\n<001B> Tj\nEMC\n/Span<</ActualText (n) >> BDC\n0 0 Td\n<0002> Tj\nEMC\nET\n",
			begin + "/Span<</ActualText (n) >> BDC\n8.1 0 Td <0002> Tj\nEMC\nET\n",
		},
		"two in a word": {
			begin + soft + "1 0 Td\n<001B> Tj\nEMC\n0 0 Td\n<0002> Tj\n" + soft + "2 0 Td\n<001B> Tj\nEMC\n0 0 Td\n" +
				"<0003> Tj\nET\n",
			begin + "1 0 Td <0002> Tj\n2 0 Td <0003> Tj\nET\n",
		},
		"at the end of a line": {
			begin + "<0001> Tj\n" + soft + "8 0 Td\n<001B> Tj\nEMC\nET\n" + begin + "<001C> Tj\nET\n",
			begin + "<0001> Tj\nET\n" + begin + soft + "<001C> Tj\nEMC\nET\n",
		},
		"at the end of a line, as ASCII": {begin + soft + "8 0 Td\n<001B> Tj\nEMC\nET\n" + begin + "<001D> Tj\n" +
			"ET\n", begin + "ET\n" + begin + soft + "<001D> Tj\nEMC\nET\n"},
		"at the end of a line with an underline": {
			begin + soft + "8 0 Td\n<001B> Tj\nEMC\nET\n0 0 9 1 re\nf\nBT\n1 0 0 -1 0 73 Tm\n/F1 9 Tf\n<001C> Tj\nET\n",
			begin + "ET\n0 0 9 1 re\nf\nBT\n1 0 0 -1 0 73 Tm\n/F1 9 Tf\n" + soft + "<001C> Tj\nEMC\nET\n",
		},
		"at the end of a line, in a span": {
			begin + soft + "8 0 Td\n<001B> Tj\nEMC\nET\nBT\n" + hyphen + "/F1 9 Tf\n<001C> Tj\nEMC\nET\n",
			begin + "ET\nBT\n" + soft + "/F1 9 Tf\n<001C> Tj\nEMC\nET\n",
		},
		"another glyph follows the line": {begin + soft + "8 0 Td\n<001B> Tj\nEMC\n" +
			"ET\n" + begin + "<0001> Tj\nET\n", begin + "ET\n" + begin + "<0001> Tj\nET\n"},
		"another tag follows the line": {begin + soft + "8 0 Td\n<001B> Tj\nEMC\nET\n" +
			"/P <</MCID 1 >>BDC\n" + begin + "<001C> Tj\nET\nEMC\n", begin + "ET\n" +
			"/P <</MCID 1 >>BDC\n" + begin + "<001C> Tj\nET\nEMC\n"},
		"one that is written otherwise stays": {begin + soft + "8 0 Td\n<001B> Tj\n<001B> Tj\nEMC\n0 0 Td\n" +
			"<0002> Tj\nET\n", ""},
		"one before a move from elsewhere": {begin + soft + "8 0 Td\n<001B> Tj\nEMC\n5 0 Td\n<0002> Tj\nET\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if c.want == "" {
				c.want = c.in
			}

			got, _ := rewritten(t, c.in, Finish{Hyphenated: true})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}

			if got, _ := rewritten(t, c.in, Finish{}); got != c.in {
				t.Errorf("without hyphenation, it became %s", got)
			}
		})
	}
}

func TestArabicIsReadAsLetters(t *testing.T) {
	t.Parallel()

	const alif, lamAlif = "/Span<</ActualText <FEFF0627> >> BDC\n", "/Span<</ActualText <FEFF06440627> >> BDC\n"
	for name, c := range map[string]struct{ in, want string }{
		"a span that repeats its glyph goes": {begin + alif + "<0028> Tj\nEMC\nET\n", begin + "<0028> Tj\nET\n"},
		"a ligature's span goes": {begin + lamAlif + "<0029> Tj\nEMC\nET\n", begin + "<0029> Tj\n" +
			"ET\n"},
		"a span around a move goes": {begin + alif + "3 0 Td\n<0028> Tj\nEMC\n" +
			"ET\n", begin + "3 0 Td\n<0028> Tj\nET\n"},
		"a span that says something else stays":    {begin + alif + "<002A> Tj\nEMC\nET\n", ""},
		"a span around a glyph of no letter stays": {begin + alif + "<002B> Tj\nEMC\nET\n", ""},
		"another tag stays": {"/P <</MCID 0 >>BDC\n" + begin + alif + "<0028> Tj\nEMC\nET\n" +
			"EMC\n", "/P <</MCID 0 >>BDC\n" + begin + "<0028> Tj\nET\nEMC\n"},
		"spans of spans": {begin + alif + alif + "<0028> Tj\nEMC\nEMC\n" +
			"ET\n", begin + alif + "<0028> Tj\nEMC\nET\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if c.want == "" {
				c.want = c.in
			}

			got, fontMap := rewritten(t, c.in, Finish{RightToLeft: true})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}

			if !strings.Contains(
				fontMap,
				"\n<0028> <0627>\n<0029> <06270644>\n<002A> <0628>\n<002B> <0000>\nendbfchar\nendcmap",
			) ||
				!strings.HasPrefix(fontMap, "1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n"+
					"33 beginbfchar\n") {
				t.Errorf("the font is mapped as %s", fontMap)
			}
		})
	}

	if _, fontMap := rewritten(
		t,
		begin+"<0028> Tj\nET\n",
		Finish{RightToLeft: true},
	); !strings.Contains(
		fontMap,
		"<0028> <FE8E>",
	) {
		t.Errorf("a page without spans is mapped as %s", fontMap)
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
		"a letter": {big + "<0001> Tj\nET\n0 0 0 rg\n" + small + "<000200030004> Tj\n" +
			"ET\n", big + empty + "<0001> Tj\nEMC\n\nET\n" +
			"0 0 0 rg\n" + small + "/Span<</ActualText <FEFF00610062> >> BDC\n<0002> Tj\nEMC\n<00030004> Tj\n\n" +
			"ET\n"},
		"a word of one glyph": {big + "<0001> Tj\nET\n" + small + "<0002> Tj\nET\n", big + empty + "<0001> Tj\n" +
			"EMC\n\nET\n" + small + "/Span<</ActualText <FEFF00610062> >> BDC\n<0002> Tj\nEMC\n\nET\n"},
		"a quotation mark and a letter": {
			big + "<001D0001> Tj\nET\n" + small + "<0002> Tj\nET\n",
			big + empty + "<001D0001> Tj\nEMC\n\nET\n" + small + "/Span<</ActualText <FEFF002D00610062> >> BDC\n" +
				"<0002> Tj\nEMC\n\nET\n",
		},
		"a quotation mark, then a letter": {
			big + "<001D> Tj\n<0001> Tj\nET\n" + small + "<0002> Tj\nET\n",
			big + empty + "<001D> Tj\n<0001> Tj\nEMC\n\n" +
				"ET\n" + small + "/Span<</ActualText <FEFF002D00610062> >> BDC\n<0002> Tj\nEMC\n\nET\n",
		},
		"before a span": {
			big + "<0001> Tj\nET\nBT\n/Span<</ActualText (n) >> BDC\n/F1 16 Tf\n<0002> Tj\nEMC\nET\n",
			big + empty + "<0001> Tj\nEMC\n\nET\nBT\n/Span<</ActualText <FEFF0061006E> >> BDC\n/F1 16 Tf\n" +
				"<0002> Tj\nEMC\nET\n",
		},
		"three large letters are a word":    {big + "<000100020003> Tj\nET\n" + small + "<0002> Tj\nET\n", ""},
		"a letter that is not large enough": {"BT\n/F1 35 Tf\n<0001> Tj\nET\n" + small + "<0002> Tj\nET\n", ""},
		"something is drawn between":        {big + "<0001> Tj\nET\n/X1 Do\n" + small + "<0002> Tj\nET\n", ""},
		"another tag begins between": {big + "<0001> Tj\nET\n/P <</MCID 0 >>BDC\n" + small + "<0002> Tj\n" +
			"ET\nEMC\n", ""},
		"three shows are a word": {big + "<0001> Tj\n<0002> Tj\n<0003> Tj\n" +
			"ET\n" + small + "<0002> Tj\nET\n", ""},
		"a text between": {big + "<0001> Tj\nET\n" + big + "<000100020003> Tj\n" +
			"ET\n" + small + "<0002> Tj\nET\n", ""},
		"nothing follows":                      {big + "<0001> Tj\nET\n", ""},
		"a letter of a font that is not there": {"BT\n/F9 70 Tf\n<0001> Tj\nET\n" + small + "<0002> Tj\nET\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if c.want == "" {
				c.want = c.in
			}

			got, _ := rewritten(t, c.in, Finish{DropCaps: true})
			if diff := cmp.Diff(
				strings.ReplaceAll(c.want, "\n\n", "\n"),
				strings.ReplaceAll(got, "\n\n", "\n"),
			); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsPaintedOutsideTagsIsAnArtifact(t *testing.T) {
	t.Parallel()

	const tag, art = "/P <</MCID 0 >>BDC\n", "/Artifact BMC\n"
	for name, c := range map[string]struct{ in, want string }{
		"nothing":         {"", ""},
		"a state alone":   {"q\n1 0 0 1 0 0 cm\nQ\n", "q\n1 0 0 1 0 0 cm\nQ\n"},
		"a shape":         {"q\n0 0 9 9 re\nf\nQ\n", "q\n" + art + "0 0 9 9 re\nf\nQ\nEMC\n"},
		"a clip is none":  {"0 0 9 9 re\nW\nn\n", "0 0 9 9 re\nW\nn\n"},
		"a path of lines": {"0 0 m\n9 9 l\nS\n", art + "0 0 m\n9 9 l\nS\nEMC\n"},
		"a gradient":      {"/S1 sh\n", art + "/S1 sh\nEMC\n"},
		"an image":        {"/X9 Do\n", art + "/X9 Do\nEMC\n"},
		"text":            {"BT\n<0001> Tj\nET\n", art + "BT\n<0001> Tj\nET\nEMC\n"},
		"one before a tag": {"0 0 9 9 re\nf\n" + tag + "BT\nET\nEMC\n", art + "0 0 9 9 re\nf\n" +
			"EMC\n" + tag + "BT\nET\nEMC\n"},
		"one after a tag": {tag + "EMC\n0 0 9 9 re\nf\n", tag + "EMC\n" + art + "0 0 9 9 re\nf\nEMC\n"},
		"two are one": {"0 0 9 9 re\nf\n1 1 2 2 re\nB\n", art + "0 0 9 9 re\nf\n1 1 2 2 re\nB\n" +
			"EMC\n"},
		"a shape in a tag is none": {tag + "0 0 9 9 re\nf\nEMC\n", tag + "0 0 9 9 re\nf\nEMC\n"},
		"an artifact stays one": {"/Artifact <</Type /Pagination>>BDC\n0 0 9 9 re\nf\n" +
			"EMC\n", "/Artifact <</Type /Pagination>>BDC\n0 0 9 9 re\nf\nEMC\n"},
		"a span with a text covers not": {"/Span<</ActualText (a) >> BDC\nBT\nET\n" +
			"EMC\n", "/Span<</ActualText (a) >> BDC\n" + art + "BT\nET\nEMC\nEMC\n"},
		"a form with tags of its own": {"0 0 9 9 re\nf\n/X1 Do\n", art + "0 0 9 9 re\nf\nEMC\n/X1 Do\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := markArtifacts(pdffile.Canvas{Forms: map[string]int{"X1": 7}}, []byte(c.in), map[int]int{})
			if diff := cmp.Diff(c.want, string(got)); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestTaggedFormsAreMarkedOnceAndOthersNot(t *testing.T) {
	t.Parallel()
	form := func(name, entries, content string) string {
		return "-- " + name + " --\n<</Type /XObject\n/Subtype /Form\n" +
			"/BBox [0 0 9 9]" + entries + ">> stream\n" + content
	}
	const shape = "0 0 9 9 re\nf\n"
	built := tagged(
		t,
		"",
		"",
		filetest.Pages("/XObject <</Plain @plain\n/Outer @outer\n/Image @image>>", "/Plain Do\n/Outer Do\n/Image Do\n"),
		form(
			"plain",
			"",
			shape,
		),
		form("outer", "\n/Resources <</XObject <</Inner @inner>>>>", shape+"/Inner Do\n"),
		form("inner", "\n/StructParents 0", "/P <</MCID 0 >>BDC\n"+shape+"EMC\n"+shape),
		"-- image --\n<</Type /XObject\n/Subtype /Image>> stream\n\n",
	)

	_, objects := packed(t, built, Finish{PDFUA: true})
	for name, want := range map[string]string{
		"content-1": "/Artifact BMC\n/Plain Do\nEMC\n/Outer Do\n/Artifact BMC\n/Image Do\n" +
			"EMC\n", "plain": shape, "outer": "/Artifact BMC\n" + shape + "EMC\n/Inner Do\n",
		"inner": "/P <</MCID 0 >>BDC\n" + shape + "EMC\n/Artifact BMC\n" + shape + "EMC\n",
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, filetest.Content(t, objects[built.Number(t, name)])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
