package pdffile

import "bytes"

// Rewriting builds in Out a changed copy of the content stream In. A visitor copies the parts to keep by CopyTo, writes
// new parts to Out, and leaves out a part by setting Copied to its end.
type Rewriting struct {
	In     []byte
	Out    bytes.Buffer
	Copied int // offset in In up to which it was copied or left out
}

// CopyTo copies the part of In from Copied to offset.
func (r *Rewriting) CopyTo(offset int) {
	r.Out.Write(r.In[r.Copied:offset])
	r.Copied = offset
}

// Rewrite visits the content of all pages and forms that contain mark. begin returns the function that gets each
// operation of one content; the Rewriting is reused for the next one. Rewrite stores the content again only if the
// visitor copied or left out something. It stops at the first error of begin or visit. Contents that were visited
// before stay changed.
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
