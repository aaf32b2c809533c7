package pack

import (
	"fmt"
	"strings"
	"testing"

	"presswork/internal/pdffile"
	"presswork/internal/pdffile/filetest"
)

func TestPackKeepsEveryObject(t *testing.T) {
	t.Parallel()

	for _, extra := range []int{0, 20, 2500} {
		t.Run(fmt.Sprintf("%d more objects", extra), func(t *testing.T) {
			original := filetest.Small(extra)

			p, err := Pack(original, Meta{Title: "New"}, Finish{})
			if err != nil || p.Pages != 2 {
				t.Fatalf("got %d pages, %v; want 2", p.Pages, err)
			}
			packed := p.Data

			before, err := pdffile.Read(original)
			if err != nil {
				t.Fatal(err)
			}

			if extra == 2500 && len(packed) > len(original)/5 {
				t.Errorf("packed %d bytes into %d, want at most a fifth", len(original), len(packed))
			}

			after := filetest.Objects(t, packed)
			for n, o := range before.Objects {
				if n != before.Info && n != before.Root && o != nil && after[n] != string(o) {
					t.Fatalf("object %d became %q, was %q", n, after[n], o)
				}
			}

			info := after[before.Info]
			if !strings.HasPrefix(
				info,
				"<</Title (New)\n/Creator (Presswork)\n/Producer (Skia/PDF m156)\n/CreationDate (D:2026",
			) ||
				!strings.HasSuffix(info, ">>") {
				t.Errorf("Info is %q, want the title and the fields of Skia", info)
			}
		})
	}
}

func TestTextStringEscapesSpecialCharacters(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"plain":       "(plain)",
		`a(b)\c`:      `(a\(b\)\\c)`,
		"é":           "<FEFF00E9>",
		"😀":           "<FEFFD83DDE00>",
		") /JS (x":    `(\) /JS \(x)`,
		"line\nbreak": "<FEFF006C0069006E0065000A0062007200650061006B>",
	} {
		t.Run(text, func(t *testing.T) {
			if got := pdffile.TextString(text); got != want {
				t.Errorf("TextString(%q) = %s, want %s", text, got, want)
			}
		})
	}
}

func TestPackRejectsUnknownForms(t *testing.T) {
	t.Parallel()

	valid := string(filetest.Small(3))
	for name, data := range map[string]string{
		"empty":           "",
		"not a PDF":       "hello",
		"cut off":         valid[:len(valid)/2],
		"no trailer":      strings.Replace(valid, "trailer", "trailor", 1),
		"encrypted":       strings.Replace(valid, "/Root", "/Encrypt 9 0 R\n/Root", 1),
		"a revision":      strings.Replace(valid, "/Root", "/Prev 9\n/Root", 1),
		"bad offset":      strings.Replace(valid, "65535 f \n0", "65535 f \n9", 1),
		"negative offset": strings.Replace(valid, "65535 f \n0", "65535 f \n-", 1),
		"no info":         strings.Replace(valid, "/Info", "/Imfo", 1),
		"root elsewhere":  strings.Replace(valid, "/Root 2", "/Root 99", 1),
		"huge table":      strings.Replace(valid, "xref\n0 1", "xref\n0 9991", 1),
		"no pages":        strings.Replace(valid, "/Pages 3", "/Pages 77", 1),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Pack([]byte(data), Meta{}, Finish{}); err == nil {
				t.Errorf("Pack of a file that is invalid (%s): got nil, want an error", name)
			}
		})
	}
}

func BenchmarkPack(b *testing.B) {
	for name, extra := range map[string]int{"small": 50, "large": 50_000} {
		b.Run(name, func(b *testing.B) {
			data := filetest.Small(extra)
			b.SetBytes(int64(len(data)))

			for b.Loop() {
				if _, err := Pack(data, Meta{Title: "x"}, Finish{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
