package pdffile_test

import (
	"testing"

	"presswork/internal/pdffile"
)

func TestNodesAreRenamedInIDAndHeadersOnly(t *testing.T) {
	t.Parallel()

	rename := func(id []byte) []byte { return append([]byte("new"), id[len("node"):]...) }
	for name, test := range map[string]struct{ element, id, want string }{
		"no id":                {"<</S /P\n/K 1>>", "", "<</S /P\n/K 1>>"},
		"an id":                {"<</ID (node07)\n/K 1>>", "node07", "<</ID (new07)\n/K 1>>"},
		"header cells":         {"<</A <</Headers [(node1) (node2)]>>>>", "", "<</A <</Headers [(new1) (new2)]>>>>"},
		"both":                 {"<</A <</Headers [(node1)]>>\n/ID (node3)>>", "node3", "<</A <</Headers [(new1)]>>\n/ID (new3)>>"},
		"text":                 {"<</Alt (node1)\n/ID (node3)>>", "node3", "<</Alt (node1)\n/ID (new3)>>"},
		"not a number":         {"<</ID (nodes)\n/Headers [(node) (node4x) (node5)]>>", "", "<</ID (nodes)\n/Headers [(node) (node4x) (new5)]>>"},
		"cut off":              {"<</ID (node1", "", "<</ID (node1"},
		"headers cut off":      {"<</Headers [(node1)", "", "<</Headers [(node1)"},
		"cut off after the id": {"<</ID (node12)", "node12", "<</ID (new12)"},
		"empty":                {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := string(pdffile.NodeID([]byte(test.element))); got != test.id {
				t.Errorf("the id is %q, want %q", got, test.id)
			}

			if got := string(pdffile.RenameNode([]byte(test.element), rename)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
