package pack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/pdffile"
	"presswork/internal/pdffile/filetest"
)

func TestTagsAreImproved(t *testing.T) {
	t.Parallel()

	p, err := Pack(filetest.Write(filetest.Tagged()), Meta{Title: "x"},
		Finish{PDFUA: true, Headings: []Heading{{Level: 2, Text: "One two"}, {Level: 1, Text: "1 One two"}}})
	if err != nil || len(p.Missing) > 0 {
		t.Fatalf("got %v and missing parts %q, want none", err, p.Missing)
	}

	objects := filetest.Objects(t, p.Data)
	for n, want := range map[int]string{
		8:  "<</Type /StructElem\n/S /H1\n/P 7 0 R\n/K 0\n/ID (node00000001)\n/Pg 4 0 R>>",
		9:  "", // merged into 8
		11: "<</Type /StructElem\n/S /LI\n/P 10 0 R\n/K [12 0 R 26 0 R]>>",
		13: "<</Type /StructElem\n/S /Link\n/P 26 0 R\n/K [<</Type /OBJR\n/Obj 22 0 R\n/Pg 4 0 R>>]>>",
		14: "<</Type /StructElem\n/S /Figure\n/P 7 0 R\n/K [15 0 R 16 0 R]\n/Alt (a dog\\))>>",
		15: "<</Type /StructElem\n/S /NonStruct\n/P 14 0 R\n/Pg 4 0 R\n/K [3]>>",
		17: "<</Type /StructElem\n/S /Formula\n/Alt <FEFF007800B2>\n/P 7 0 R\n/Pg 4 0 R\n/K 5>>",
		19: "[8 0 R 12 0 R 13 0 R 15 0 R 16 0 R 17 0 R]",
		20: "<</destination-1 [4 0 R /XYZ 0 0 0]\n/destination-2 [4 0 R /XYZ 0 0 0]>>",
		22: "<</Type /Annot\n/Subtype /Link\n/F 4\n/Dest /destination-1\n/StructParent 1\n/Contents (" + strings.Repeat("x", 200) + ")>>",
		24: "<</Limits [(node00000001) (node00000001)]\n/Names [(node00000001) 8 0 R]>>",
		25: "<</Title (1 One two)\n/Dest [4 0 R /XYZ 0 0 0]\n/Parent 21 0 R\n/SE 8 0 R>>",
		26: "<</Type /StructElem\n/S /LBody\n/P 11 0 R\n/K [13 0 R]>>",
	} {
		t.Run(fmt.Sprintf("object %d", n), func(t *testing.T) {
			if diff := cmp.Diff(want, objects[n]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}

	want := "/Pattern cs 1 0 0 rg\n0 0 9 9 re\nW n\n/Artifact BMC\n1 1 1 1 re\nf\nEMC\n/H1 <</MCID 0 >>BDC\nBT\n/F1 9 Tf\n<00010002> Tj\nET\nEMC\n" +
		"/Artifact BMC\nBT\n/F1 9 Tf\n<0003> Tj\nET\nEMC\n"
	if diff := cmp.Diff(want, string(filetest.Inflate(t, []byte(objects[5])))); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
}

func TestUnexpectedContentIsRejected(t *testing.T) {
	t.Parallel()

	c := pdffile.Canvas{Faces: map[string]pdffile.Face{"F1": {Width: 2}}, Forms: map[string]int{"X1": 9}}

	for name, content := range map[string]string{
		"a mark that does not end":   "/P <</MCID 0 >>BDC\n",
		"an end of none":             "EMC\n",
		"text that does not end":     "BT\n",
		"a tag within a path":        "0 0 m\n/P <</MCID 0 >>BDC\nEMC\nf\n",
		"a tag within untagged text": "BT\n/P <</MCID 0 >>BDC\nEMC\nET\n",
		"an image within":            "BI\n",
		"a form drawn twice":         "/X1 Do\n/X1 Do\n",
		"cut off":                    "(",
		"too deep":                   strings.Repeat("[", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			if out, err := markArtifacts(c, []byte(content), map[int]int{}); err == nil {
				t.Errorf("got %q, want an error", out)
			}
		})
	}

	for content, want := range map[string]bool{
		"/F1 9 Tf\n<00010100> Tj\n":          false,
		"/F1 9 Tf\n<00010000> Tj\n":          true,
		"/F1 9 Tf\n[<0001> -20 <0000>] TJ\n": true,
	} {
		t.Run(content, func(t *testing.T) {
			if got, err := c.ShowsNotdef([]byte(content)); err != nil || got != want {
				t.Errorf("%q: %v, %v", content, got, err)
			}
		})
	}
}
