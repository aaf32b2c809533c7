package evaluate

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/analysis"
)

func TestMeasuredDocumentsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	documents := measured([]Document{
		{Type: "recipe", Group: "a/b", Markdown: []byte("# Soup\n\n## Ingredients\n\n- 2 carrots\n- 1 l water\n")},
		{
			Type:     "letter",
			Group:    "c/d",
			Markdown: []byte("Dear Ada,\n\nyour engine runs.\n\nYours sincerely\nCharles\n"),
		},
		{Type: "letter", Group: "c/d"},
	})

	var out bytes.Buffer
	if err := WriteMeasured(&out, documents); err != nil {
		t.Fatal(err)
	}

	got, current, err := ReadMeasured(bytes.NewReader(out.Bytes()))
	if err != nil || !current || len(got) != len(documents) {
		t.Fatalf("%d documents, current %v, %v", len(got), current, err)
	}

	for i, d := range got {
		if d.Type != documents[i].Type || (d.Group == got[0].Group) != (documents[i].Group == documents[0].Group) {
			t.Errorf("%d: %s of %s", i, d.Type, d.Group)
		}

		for k, v := range documents[i].Features {
			if math.Abs(v-d.Features[k]) > 0.5/steps+1e-9 {
				t.Errorf("%d: feature %d is %v, was %v", i, k, d.Features[k], v)
			}
		}
	}

	if strings.Contains(out.String(), "a/b") || strings.Contains(out.String(), "Ada") {
		t.Error("the file holds text of a document:", out.String())
	}

	_, current, err = ReadMeasured(
		strings.NewReader(strings.Replace(out.String(), analysis.FeatureVersion(), "1-0", 1)),
	)
	if current || err != nil {
		t.Errorf("another lexicon: current %v, %v", current, err)
	}
}

func TestDamagedMeasuredDocumentsAreRejected(t *testing.T) {
	t.Parallel()

	for _, bad := range []string{
		"novel G 2:3", "letter", "letter 1 2:3", "letter G 2", "letter G 99999:1", "letter G 2:1001", "letter G -1:3",
		"letter G 2:x", "features 1-0 0", "features 1-0 x",
	} {
		t.Run(bad, func(t *testing.T) {
			file := "features 1-0 3\n" + strings.ReplaceAll(bad, "G", "0123456789abcdef") + "\n"
			if _, _, err := ReadMeasured(strings.NewReader(file)); err == nil ||
				!strings.Contains(err.Error(), "line 2") {
				t.Errorf("%q: %v", bad, err)
			}
		})
	}
}

// TestTheMeasuredDocumentsAreThere fails if `make train` cannot train on the checked-in features.
func TestTheMeasuredDocumentsAreThere(t *testing.T) {
	t.Parallel()

	b, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(MeasuredDocuments)))
	if err != nil {
		t.Fatal(err)
	}

	documents, _, err := ReadMeasured(bytes.NewReader(b))
	if err != nil || len(documents) < 700 || len(groupsOf(heldAs(documents))) < 250 {
		t.Fatalf("%d documents of %d groups, %v", len(documents), len(groupsOf(heldAs(documents))), err)
	}
}

func TestFeaturesThatADefinitionLacksAreFilledWithTheirMean(t *testing.T) {
	t.Parallel()

	width := len(analysis.DocumentFeatures(nil))
	document := func(value float64, known int) Document {
		d := Document{Known: known, Features: make([]float64, width)}
		for i := range d.Features {
			d.Features[i] = value
		}

		return d
	}
	documents := []Document{document(0.2, 0), document(0.4, width), document(0, width-1)}

	got := filled(documents)[2].Features
	if math.Abs(got[width-1]-0.3) > 1e-9 || got[width-2] != 0 || documents[2].Features[width-1] != 0 {
		t.Errorf("%v; the given documents must stay as they are", got[width-2:])
	}
}

func heldAs(documents []Document) (predictions []prediction) {
	for _, d := range documents {
		predictions = append(predictions, prediction{document: d})
	}

	return predictions
}
