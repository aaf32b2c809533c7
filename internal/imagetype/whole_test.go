package imagetype_test

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"
	"testing"

	"presswork/internal/imagetype"
)

func TestWholeRejectsDamagedImages(t *testing.T) {
	t.Parallel()
	pngFile := encodeGray(t, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) })
	jpegFile := encodeGray(t, func(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) })
	altered := bytes.Clone(pngFile)
	altered[bytes.Index(altered, []byte("IDAT"))+5] ^= 0xff

	scan := bytes.Index(jpegFile, []byte("\xff\xda"))
	for name, c := range map[string]struct {
		data  []byte
		whole bool
	}{
		"png":             {pngFile, true},
		"png and more":    {join(pngFile, []byte("trailing")), true},
		"png, cut":        {pngFile[:len(pngFile)-14], false},
		"png, altered":    {altered, false},
		"png, head only":  {pngFile[:33], false},
		"png, no pixels":  {join(pngFile[:33], pngFile[len(pngFile)-12:]), false},
		"jpeg":            {jpegFile, true},
		"jpeg, cut":       {jpegFile[:len(jpegFile)-4], true}, // browsers show the existing part
		"jpeg, head only": {jpegFile[:scan+6], false},
		"svg":             {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><g/></svg>`), true},
		"svg, latin 1":    {[]byte("<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><svg xmlns=\"http://www.w3.org/2000/svg\"><text>\xe4</text></svg>"), true},
		"svg, cut":        {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><g`), false},
		"svg, unclosed":   {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><g></svg>`), false},
	} {
		t.Run(name, func(t *testing.T) {
			info, err := imagetype.Inspect(c.data)
			if err != nil {
				t.Fatal(err)
			}

			if err := imagetype.Whole(c.data, info.ContentType); (err == nil) != c.whole {
				t.Errorf("Whole returned %v, want the image accepted: %v", err, c.whole)
			}
		})
	}
}

func FuzzWhole(f *testing.F) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("\xff\xd8\xff\xe0\x00\x02\xff\xda\x00\x02x"))
	f.Add([]byte("<svg><a>"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		if info, err := imagetype.Inspect(data); err == nil {
			_ = imagetype.Whole(data, info.ContentType)
		}
	})
}
