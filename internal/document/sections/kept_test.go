package sections

import (
	"bytes"
	"testing"
)

func TestKeptPrintTakesLittleMemory(t *testing.T) {
	t.Parallel()
	print := bytes.Repeat([]byte("<</Type /StructElem\n/S /P>>\n"), 100_000)

	if k := keep(print); cap(k) > len(print)/10 {
		t.Errorf("a print of %d bytes takes %d, want at most a tenth", len(print), cap(k))
	}
}
