package pdf

import (
	"bytes"
	"testing"
)

// Objects cuts a packed PDF into its objects, by its cross-references alone.
func Objects(t *testing.T, data []byte) map[int]string {
	t.Helper()
	if f, err := readSkia(data); err == nil {
		objects := map[int]string{}
		for n, o := range f.objects {
			if o != nil {
				objects[n] = string(o)
			}
		}
		return objects
	}
	if bytes.Contains(data, []byte("/Encrypt ")) {
		t.Fatal("the PDF is encrypted")
	}
	return unpack(t, data)
}
