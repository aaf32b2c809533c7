package pdf

import (
	"bytes"
	"context"
	"testing"

	"presswork"
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

// Inspect looks through a print as Converter.Print does.
func Inspect(ctx context.Context, d Composed, printed []byte) ([]presswork.Warning, error) {
	return d.preflight.inspect(ctx, d.Page.HTML, printed)
}
