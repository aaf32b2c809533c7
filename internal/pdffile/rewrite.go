package pdffile

import (
	"bytes"
)

// Rewriting rewrites a content stream: it copies what the visitor does not leave out.
type Rewriting struct {
	In     []byte
	Out    bytes.Buffer
	Copied int // bytes of in that are in out or left out
}

// CopyTo copies the content up to an offset, from where the last copy ended.
func (r *Rewriting) CopyTo(offset int) {
	r.Out.Write(r.In[r.Copied:offset])
	r.Copied = offset
}

// Rewrite visits the content of all pages and forms that contain mark. It writes a content again if something in
// it was copied or left out. begin returns the function that gets each operation of a content.
func (f *File) Rewrite(mark string, begin func(Canvas, *Rewriting) (visit func(Operation) error, err error)) error {
	canvases, err := f.Canvases()
	if err != nil {
		return err
	}
	r := &Rewriting{}

	for _, c := range canvases {
		d, content, err := f.Stream(c.Content)
		if err != nil {
			return err
		}

		if !bytes.Contains(content, []byte(mark)) {
			continue
		}
		r.In, r.Copied = content, 0
		r.Out.Reset()

		visit, err := begin(c, r)
		if err != nil {
			return err
		}

		if err := EachOperation(content, visit); err != nil {
			return err
		}

		if r.Copied > 0 {
			r.CopyTo(len(content))
			f.SetStream(c.Content, d, r.Out.Bytes())
		}
	}

	return nil
}
