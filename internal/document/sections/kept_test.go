package sections

import (
	"bytes"
	"testing"
)

func TestKeptPrintOfALargeDocumentTakesLittleMemory(t *testing.T) {
	t.Parallel()
	print := bytes.Repeat([]byte("<</Type /StructElem\n/S /P>>\n"), 100_000)

	d := &division{Plan: Plan{Must: true}}

	if k := d.keep(print, nil); k.file != nil || cap(k.packed) > len(print)/10 {
		t.Errorf("a print of %d bytes takes %d, want at most a tenth", len(print), cap(k.packed))
	}
}
