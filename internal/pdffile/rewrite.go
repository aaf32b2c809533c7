package pdffile

import (
	"bytes"
)

// rewriting is a content stream that is made anew: all that is not left out is copied.
type rewriting struct {
	in     []byte
	out    bytes.Buffer
	copied int // bytes of in that are in out or left out
}

func (r *rewriting) copyTo(offset int) {
	r.out.Write(r.in[r.copied:offset])
	r.copied = offset
}

// rewrite goes through the content of all pages and forms that have a mark in it, and
// writes those anew of which something was copied or left out. begin returns what
// sees each operation of one.
func (f *File) rewrite(mark string, begin func(Canvas, *rewriting) (visit func(Operation) error, err error)) error {
	canvases, err := f.Canvases()
	if err != nil {
		return err
	}
	r := &rewriting{}

	for _, c := range canvases {
		d, content, err := f.Stream(c.Content)
		if err != nil {
			return err
		}

		if !bytes.Contains(content, []byte(mark)) {
			continue
		}
		r.in, r.copied = content, 0
		r.out.Reset()

		visit, err := begin(c, r)
		if err != nil {
			return err
		}

		if err := EachOperation(content, visit); err != nil {
			return err
		}

		if r.copied > 0 {
			r.copyTo(len(content))
			f.SetStream(c.Content, d, r.out.Bytes())
		}
	}

	return nil
}
