package api

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"mime/multipart"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"presswork/internal/fault"
	"presswork/internal/input"
)

const (
	maxAssets    = 200
	maxAssetName = 512
	// maxField is the longest text field of a form; the options may hold CSS.
	maxField = 1 << 20
	// formOverhead is what a form may hold beside content and assets.
	formOverhead = 4 << 20
	// formBuffer is how much of a form is read at a time: the library would take 4 KB.
	formBuffer = 64 << 10
	// inMemory is the size up to which an asset waits in memory.
	inMemory = 256 << 10
)

// asset is a file that came with a submission, put aside until it is stored.
type asset struct {
	name   string
	size   int64
	sha256 string
	bytes  []byte
	// file holds a large asset; it has no name any more.
	file *os.File
	// held counts the bytes that the asset takes from the node's intake.
	held *hold
}

// open reads the asset from its start, or from anywhere.
func (a *asset) open() interface {
	io.Reader
	io.ReaderAt
} {
	if a.file != nil {
		return io.NewSectionReader(a.file, 0, a.size)
	}

	return bytes.NewReader(a.bytes)
}

func (a *asset) discard() {
	if a.file != nil {
		a.file.Close()
	}
	a.bytes = nil
}

// form is a multipart submission while it is read.
type form struct {
	req  conversion
	held *hold
	seen map[string]bool
	// documents are what came as content.
	documents []namedText
	// folder is set when files came that say by their names what they are.
	folder bool
	// content and uploads are the bytes that may still come.
	content, uploads int64
	maxContent       int64
	maxUpload        int64
}

func (s *Server) newForm(c *fiber.Ctx) *form {
	return &form{
		held:       &metadataOf(c.Context()).held,
		seen:       map[string]bool{},
		content:    s.MaxContentBytes,
		uploads:    s.MaxUploadBytes,
		maxContent: s.MaxContentBytes,
		maxUpload:  s.MaxUploadBytes,
	}
}

// end is the submission, once all of it has been read.
func (f *form) end(err error) (conversion, error) {
	switch {
	case err != nil:
	case f.folder:
		err = f.takeFolder()
	default:
		err = f.takeDocuments()
	}

	if err != nil {
		for _, a := range f.req.assets {
			a.discard()
		}

		return conversion{}, err
	}

	return f.req, nil
}

func (s *Server) parseMultipart(c *fiber.Ctx, boundary string) (conversion, error) {
	if boundary == "" {
		return conversion{}, fault.Errorf(fault.InvalidRequest, "the Content-Type of a form needs a boundary")
	}
	limit := s.MaxContentBytes + s.MaxUploadBytes + formOverhead

	b, err := s.body(c, limit, "a form")
	if err != nil {
		return conversion{}, err
	}
	f := s.newForm(c)

	return f.end(f.read(multipart.NewReader(bufio.NewReaderSize(b, formBuffer), boundary)))
}

func (f *form) read(parts *multipart.Reader) error {
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return nil
		}

		if err != nil {
			return broken(err)
		}

		if err := f.take(part); err != nil {
			return err
		}
	}
}

func (f *form) take(part *multipart.Part) error {
	// The library's FileName drops the path, which the Markdown refers to.
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return fault.Errorf(fault.InvalidRequest, "a part of the form has no readable Content-Disposition").
			WithCause(err)
	}

	field, file := params["name"], params["filename"]
	if name, path, ok := strings.Cut(
		field,
		"[",
	); ok && strings.HasSuffix(path, "]") &&
		slices.Contains([]string{"assets", "content", "files"}, name) {
		field, file = name, strings.TrimSuffix(path, "]")
	}

	switch field {
	case "assets":
		return f.takeAsset(part, file)
	case "files":
		f.folder = true

		if hidden(file) {
			return nil
		}

		return f.takeAsset(part, file)
	case "archive":
		f.folder = true
		return f.takeArchive(part)
	case "content":
		return f.takeContent(part, file)
	}

	if f.seen[field] {
		return fault.Errorf(fault.InvalidType, "the form has the field %s twice", input.Quote(field)).
			WithParam(input.Clip(field))
	}

	f.seen[field] = true
	if !slices.Contains(textFields, field) {
		return input.UnknownField(
			field,
			append([]string{"content", "assets", "assets[path]", "files", "files[path]", "archive"}, textFields...),
		)
	}

	data, err := readPart(f.held.inMemory(part), maxField, field)
	if err != nil {
		return err
	}

	return f.req.setText(field, data)
}

func (f *form) takeContent(part io.Reader, name string) error {
	if len(f.documents) > maxAssets {
		return tooManyFiles("content")
	}

	data, err := readPart(f.held.inMemory(part), f.content, "content")
	if fault.CodeOf(err) == fault.ContentTooLarge && len(f.documents) > 0 {
		return f.longDocuments()
	}

	if err != nil {
		return err
	}
	f.content -= int64(len(data))
	f.documents = append(f.documents, namedText{name, data})

	return nil
}

func readPart(part io.Reader, limit int64, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(part, limit+1))
	if err != nil {
		return nil, broken(err)
	}

	if int64(len(data)) > limit {
		return nil, fault.Errorf(fault.ContentTooLarge, "%s has more than %d bytes", name, limit).WithParam(name)
	}

	return data, nil
}

// takeAsset takes a file that may be as large as what may still come.
func (f *form) takeAsset(part io.Reader, name string) error {
	return f.keep(strings.TrimPrefix(name, "./"), io.LimitReader(part, f.uploads+1), &f.uploads)
}

// keep takes a file; left, if not nil, are the bytes that it counts against.
func (f *form) keep(name string, r io.Reader, left *int64) error {
	if err := checkAssetName(name); err != nil {
		return err
	}

	switch {
	case len(f.req.assets) == maxAssets:
		return tooManyFiles("assets")
	case f.req.find(name) != nil:
		return badAsset(name, "is there twice")
	}
	a := &asset{name: name, held: f.held}

	f.req.assets = append(f.req.assets, a)
	if err := a.fill(r); err != nil || left == nil {
		return err
	}

	if *left -= a.size; *left < 0 {
		return fault.Errorf(fault.ContentTooLarge, "the files have more than %d bytes together", f.maxUpload).
			WithParam("assets")
	}

	return nil
}

func tooManyFiles(param string) error {
	return fault.Errorf(fault.ContentTooLarge, "a submission may have %d files", maxAssets).WithParam(param)
}

// fill reads the asset, and puts it into an unnamed file when it is large.
func (a *asset) fill(r io.Reader) error {
	sum := sha256.New()
	r = io.TeeReader(r, sum)

	head, err := io.ReadAll(io.LimitReader(a.held.inMemory(r), inMemory))
	if err != nil {
		return broken(err)
	}

	a.bytes, a.size = head, int64(len(head))
	if len(head) == inMemory {
		if err := a.spill(head, r); err != nil {
			return err
		}
	}
	a.sha256 = hexSum(sum)

	return nil
}

// noRoom is the error of an upload for which the temporary directory has no place: it may
// have one later, and another node may.
func noRoom(err error) error {
	return fault.Errorf(fault.StoreUnavailable, "the server has no room to put the upload aside; try again later").
		WithCause(err)
}

func (a *asset) spill(head []byte, rest io.Reader) error {
	if err := a.held.toDisk(int64(len(head))); err != nil {
		return err
	}

	file, err := os.CreateTemp("", "presswork-upload-*")
	if err != nil {
		return noRoom(err)
	}

	a.file, a.bytes = file, nil
	if err := os.Remove(file.Name()); err != nil {
		return noRoom(err)
	}

	if _, err := file.Write(head); err != nil {
		return noRoom(err)
	}
	n, err := io.Copy(file, a.held.onDisk(rest))
	a.size += n

	if _, disk := errors.AsType[*os.PathError](err); disk {
		return noRoom(err)
	}

	if err != nil {
		return broken(err)
	}

	return nil
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// checkAssetName holds names to clean relative paths: what a document can
// refer to, and nothing that means something to a file system.
func checkAssetName(name string) error {
	switch {
	case name == "":
		return fault.Errorf(fault.InvalidOption,
			"an asset needs a path: as its file name, or in the field name as assets[img/a.png]").WithParam("assets")
	case len(name) > maxAssetName:
		return badAsset(name, fmt.Sprintf("is longer than %d bytes", maxAssetName))
	case !utf8.ValidString(name), strings.ContainsFunc(name, unicode.IsControl):
		return badAsset(name, "holds control characters or is not UTF-8")
	case strings.Contains(name, `\`):
		return badAsset(name, "holds a backslash; separate folders by /")
	case strings.HasPrefix(name, "/"), len(name) > 1 && name[1] == ':':
		return badAsset(name, "is absolute; it must be relative to the document")
	case slices.Contains(strings.Split(name, "/"), ".."):
		return badAsset(name, "leads out of the document's folder")
	case name == "." || path.Clean(name) != name:
		return badAsset(name, "has empty or dot folders; write it as "+input.Quote(path.Clean(name)))
	}

	return nil
}

func badAsset(name, what string) *fault.Error {
	return fault.Errorf(fault.InvalidOption, "the asset %s %s", input.Quote(name), what).WithParam("assets")
}
