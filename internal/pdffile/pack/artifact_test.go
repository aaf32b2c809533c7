package pack

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/pdffile"
	"presswork/internal/pdffile/filetest"
)

func TestUntaggedContentIsAnArtifact(t *testing.T) {
	t.Parallel()

	const tag, artifact = "/P <</MCID 0 >>BDC\n", "/Artifact BMC\n"
	for name, c := range map[string]struct{ in, want string }{
		"nothing":                             {"", ""},
		"a state alone":                       {"q\n1 0 0 1 0 0 cm\nQ\n", "q\n1 0 0 1 0 0 cm\nQ\n"},
		"a shape":                             {"q\n0 0 9 9 re\nf\nQ\n", "q\n" + artifact + "0 0 9 9 re\nf\nQ\nEMC\n"},
		"a clip is not an artifact":           {"0 0 9 9 re\nW\nn\n", "0 0 9 9 re\nW\nn\n"},
		"a path of lines":                     {"0 0 m\n9 9 l\nS\n", artifact + "0 0 m\n9 9 l\nS\nEMC\n"},
		"a gradient":                          {"/S1 sh\n", artifact + "/S1 sh\nEMC\n"},
		"an image":                            {"/X9 Do\n", artifact + "/X9 Do\nEMC\n"},
		"text":                                {"BT\n<0001> Tj\nET\n", artifact + "BT\n<0001> Tj\nET\nEMC\n"},
		"one before a tag":                    {"0 0 9 9 re\nf\n" + tag + "BT\nET\nEMC\n", artifact + "0 0 9 9 re\nf\nEMC\n" + tag + "BT\nET\nEMC\n"},
		"one after a tag":                     {tag + "EMC\n0 0 9 9 re\nf\n", tag + "EMC\n" + artifact + "0 0 9 9 re\nf\nEMC\n"},
		"adjacent shapes share one artifact":  {"0 0 9 9 re\nf\n1 1 2 2 re\nB\n", artifact + "0 0 9 9 re\nf\n1 1 2 2 re\nB\nEMC\n"},
		"a shape in a tag is not an artifact": {tag + "0 0 9 9 re\nf\nEMC\n", tag + "0 0 9 9 re\nf\nEMC\n"},
		"an artifact is kept":                 {"/Artifact <</Type /Pagination>>BDC\n0 0 9 9 re\nf\nEMC\n", "/Artifact <</Type /Pagination>>BDC\n0 0 9 9 re\nf\nEMC\n"},
		"a span with a text is not a tag":     {"/Span<</ActualText (a) >> BDC\nBT\nET\nEMC\n", "/Span<</ActualText (a) >> BDC\n" + artifact + "BT\nET\nEMC\nEMC\n"},
		"a form with tags of its own":         {"0 0 9 9 re\nf\n/X1 Do\n", artifact + "0 0 9 9 re\nf\nEMC\n/X1 Do\n"},
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

func TestOnlyTaggedFormsAreMarkedAndOnlyOnce(t *testing.T) {
	t.Parallel()
	form := func(name, entries, content string) string {
		return "-- " + name + " --\n<</Type /XObject\n/Subtype /Form\n/BBox [0 0 9 9]" + entries + ">> stream\n" +
			content
	}
	const shape = "0 0 9 9 re\nf\n"
	built := tagged(t, "", "",
		filetest.Pages("/XObject <</Plain @plain\n/Outer @outer\n/Image @image>>", "/Plain Do\n/Outer Do\n/Image Do\n"),
		form("plain", "", shape), form("outer", "\n/Resources <</XObject <</Inner @inner>>>>", shape+"/Inner Do\n"),
		form("inner", "\n/StructParents 0", "/P <</MCID 0 >>BDC\n"+shape+"EMC\n"+shape),
		"-- image --\n<</Type /XObject\n/Subtype /Image>> stream\n\n")

	_, objects := packed(t, built, Finish{PDFUA: true})
	for name, want := range map[string]string{
		"content-1": "/Artifact BMC\n/Plain Do\nEMC\n/Outer Do\n/Artifact BMC\n/Image Do\nEMC\n",
		"plain":     shape,
		"outer":     "/Artifact BMC\n" + shape + "EMC\n/Inner Do\n",
		"inner":     "/P <</MCID 0 >>BDC\n" + shape + "EMC\n/Artifact BMC\n" + shape + "EMC\n",
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, filetest.Content(t, objects[built.Number(t, name)])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
