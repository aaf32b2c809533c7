package upload

import (
	"bufio"
	"io"
	"mime"
	"mime/multipart"
	"slices"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/markdown/dialect/htmldoc"
)

const (
	// maxField is the longest text field of a form, in bytes; the options may hold CSS.
	maxField = 1 << 20
	// FormOverhead is how many bytes a form may have in addition to its files.
	FormOverhead = 4 << 20
	// Buffer is the read buffer for forms, in bytes: mime/multipart alone reads 4 KiB at a time.
	Buffer = 64 << 10
)

// Limits are the sizes that a submission may have, in bytes.
type Limits struct {
	// Content bounds the sum of all documents, Files the sum of all other files.
	Content, Files int64
}

// Form returns the largest body of a form within the limits, in bytes.
func (l Limits) Form() int64 { return l.Content + l.Files + FormOverhead }

// form is a submission of several parts while it is read.
type form struct {
	req Conversion
	// hold counts the bytes of the request. seen has the names of the text fields that have arrived.
	hold *Hold
	seen map[string]bool
	// documents are the parts named content.
	documents []namedText
	// folder is set when the form has the files of a folder. Their names decide which of them are documents.
	folder bool
	// limits are those of the whole submission, left the bytes that may still arrive.
	limits, left Limits
}

// newForm returns a form that has read nothing.
func newForm(l Limits, h *Hold) *form {
	return &form{hold: h, seen: map[string]bool{}, limits: l, left: l}
}

// finish returns the submission after it was read. It discards the submission when err is not nil or the documents
// are not valid.
func (f *form) finish(err error) (Conversion, error) {
	switch {
	case err != nil:
	case f.folder:
		err = f.useFolder()
	default:
		err = f.useDocuments()
	}

	if err != nil {
		f.req.Discard()

		return Conversion{}, err
	}

	return f.req, nil
}

// ReadForm reads a submission in a form of the type multipart/form-data. Errors: those of Broken and of Hold,
// ContentTooLarge, ContentEmpty, UnknownField, InvalidType, InvalidOption, InvalidRequest.
func ReadForm(body io.Reader, boundary string, l Limits, h *Hold) (Conversion, error) {
	f := newForm(l, h)

	return f.finish(f.read(multipart.NewReader(bufio.NewReaderSize(body, Buffer), boundary)))
}

// read reads the parts of the form in order.
func (f *form) read(parts *multipart.Reader) error {
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return nil
		}

		if err != nil {
			return Broken(err)
		}

		if err := f.readField(part); err != nil {
			return err
		}
	}
}

// readField reads a part of the form.
func (f *form) readField(part *multipart.Part) error {
	// multipart's FileName drops the folders, which the Markdown refers to.
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return fault.Errorf(fault.InvalidRequest, "a part of the form has no readable Content-Disposition").
			WithCause(err)
	}
	field, file := fieldOf(params["name"], params["filename"])

	switch field {
	case "assets":
		return f.readAsset(part, file)
	case "files":
		f.folder = true

		if hidden(file) {
			return nil
		}

		return f.readAsset(part, file)
	case "archive":
		f.folder = true
		return f.readArchive(part)
	case "content":
		return f.readContent(part, file)
	}

	if f.seen[field] {
		return fault.Errorf(fault.InvalidType, "the form has the field %s twice", input.Quote(field)).
			WithParam(input.Clip(field))
	}

	f.seen[field] = true
	if !slices.Contains(TextFields(), field) {
		known := []string{"content", "assets", "assets[path]", "files", "files[path]", "archive"}
		return input.UnknownField(field, append(known, TextFields()...))
	}

	data, err := ReadPart(f.hold.InMemory(part), maxField, field)
	if err != nil {
		return err
	}

	return f.req.SetField(field, data)
}

// fieldOf returns the field and the file name of a part. The field assets[img/a.png] is the field assets with the file
// name img/a.png: many clients cannot send a path as a file name.
func fieldOf(name, filename string) (field, file string) {
	list, path, ok := strings.Cut(name, "[")
	if ok && strings.HasSuffix(path, "]") && slices.Contains([]string{"assets", "content", "files"}, list) {
		return list, strings.TrimSuffix(path, "]")
	}

	return name, filename
}

// readContent reads a document, which counts against the limit of documents.
func (f *form) readContent(part io.Reader, name string) error {
	if len(f.documents) > MaxAssets {
		return tooManyFiles("content")
	}

	data, err := ReadPart(f.hold.InMemory(part), f.left.Content, "content")
	if fault.CodeOf(err) == fault.ContentTooLarge && len(f.documents) > 0 {
		return f.documentsTooLarge()
	}

	if err != nil {
		return err
	}
	f.left.Content -= int64(len(data))

	switch {
	case htmldoc.IsName(name):
		if data, err = fromHTML(data); err != nil {
			return err
		}
	case isWord(name):
		return fault.Errorf(fault.UnsupportedMediaType,
			"%s is a Word document; allowed: Markdown and HTML; `presswork md2pdf` prints Word documents with pandoc",
			input.Quote(name)).WithParam("content")
	}
	f.documents = append(f.documents, namedText{name, data})

	return nil
}

// ReadPart reads a part of a form that may have limit bytes; name is the part's name in the error ContentTooLarge.
// Other errors: those of Broken.
func ReadPart(part io.Reader, limit int64, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(part, limit+1))
	if err != nil {
		return nil, Broken(err)
	}

	if int64(len(data)) > limit {
		return nil, fault.Errorf(fault.ContentTooLarge, "%s has more than %d bytes", name, limit).WithParam(name)
	}

	return data, nil
}

// readAsset reads a file, which counts against the limit of files.
func (f *form) readAsset(part io.Reader, name string) error {
	return f.addAsset(strings.TrimPrefix(name, "./"), io.LimitReader(part, f.left.Files+1), &f.left.Files)
}

// addAsset reads a file and subtracts its size from left. A nil left means that the size is already counted.
func (f *form) addAsset(name string, r io.Reader, left *int64) error {
	if err := checkAssetName(name); err != nil {
		return err
	}

	switch {
	case len(f.req.Assets) == MaxAssets:
		return tooManyFiles("assets")
	case f.req.Find(name) != nil:
		return badAsset(name, "is there twice")
	}
	a := NewAsset(name, f.hold)

	f.req.Assets = append(f.req.Assets, a)
	if err := a.Fill(r); err != nil || left == nil {
		return err
	}

	if *left -= a.Size; *left < 0 {
		return fault.Errorf(fault.ContentTooLarge, "the files have more than %d bytes together", f.limits.Files).
			WithParam("assets")
	}

	return nil
}
