package upload

import (
	"archive/zip"
	"bufio"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/input"
)

const (
	// maxDirectory is how many bytes of an archive are read to list its files: 100 times what the names of
	// MaxAssets files need. archive/zip keeps the whole list in memory.
	maxDirectory = 2 << 20
	// maxRatio is the largest ratio of a file's unpacked to its packed size; it applies to files over ratioFree
	// bytes. Text packs to a tenth, drawings to a hundredth.
	maxRatio = 200
	// ratioFree is the unpacked size up to which the ratio to the packed size is not checked, in bytes.
	ratioFree = 1 << 20
)

// ReadArchive reads a submission whose body is a zip archive of a folder; fields holds what came in the query.
// Errors: as ReadForm.
func ReadArchive(body io.Reader, fields Conversion, l Limits, h *Hold) (Conversion, error) {
	f := newForm(l, h)
	f.req, f.folder = fields, true

	return f.finish(f.readArchive(bufio.NewReaderSize(body, Buffer)))
}

// readArchive reads the files of a zip archive. Their unpacked sizes count against the limit of files.
func (f *form) readArchive(r io.Reader) error {
	packed := NewAsset("archive", f.hold)
	defer packed.Discard()

	if err := packed.Fill(io.LimitReader(r, f.limits.Files+1)); err != nil {
		return err
	}

	if packed.Size > f.limits.Files {
		return fault.Errorf(fault.ContentTooLarge, "the archive has more than %d bytes", f.limits.Files).
			WithParam("archive")
	}
	directory := &boundedReaderAt{ReaderAt: packed.Open(), left: maxDirectory}

	archive, err := zip.NewReader(directory, packed.Size)
	switch {
	case errors.Is(err, errTooMuchRead):
		return tooManyFiles("archive")
	case err != nil:
		return fault.Errorf(fault.InvalidRequest, "the archive is not a zip file, or is damaged; allowed: zip").
			WithParam("archive").
			WithCause(err)
	}
	directory.left = -1 // the list is read; the limits of files apply from now on

	for _, entry := range archive.File {
		if err := f.readEntry(entry); err != nil {
			return err
		}
	}

	return nil
}

// readEntry reads a file of an archive. It skips folders and hidden files. It rejects names that lead out of the
// folder, links, and files that unpack to much more than their size.
func (f *form) readEntry(entry *zip.File) error {
	name := strings.ReplaceAll(entry.Name, `\`, "/") // some Windows programs write backslashes
	if strings.HasSuffix(name, "/") || hidden(name) {
		return nil
	}

	if err := checkAssetName(strings.TrimPrefix(name, "./")); err != nil {
		return err
	}

	switch {
	case entry.Mode()&fs.ModeSymlink != 0:
		return badAsset(name, "is a link; an archive may hold files and folders")
	case !entry.Mode().IsRegular():
		return badAsset(name, "is not a regular file; an archive may hold files and folders")
	case entry.Flags&1 != 0:
		return badAsset(name, "is encrypted; send the archive without a password")
	case entry.Method != zip.Store && entry.Method != zip.Deflate:
		return badAsset(name, "uses an unknown compression method; allowed: stored, deflated")
	}

	r, err := entry.Open()
	if err != nil {
		return damaged(name, err)
	}
	defer r.Close()
	allowed := max(ratioFree, maxRatio*int64(min(entry.CompressedSize64, uint64(f.limits.Files))))
	unpacked := &boundedReader{Reader: r, left: allowed}

	err = f.readAsset(unpacked, name)
	switch {
	case unpacked.left < 0:
		return fault.Errorf(fault.ContentTooLarge, "the file %s of the archive unpacks to more than %d times its size",
			input.Quote(name), maxRatio).WithParam("archive")
	case errors.Is(err, zip.ErrChecksum), errors.Is(err, zip.ErrFormat), fault.CodeOf(err) == fault.InvalidRequest:
		return damaged(name, err)
	}

	return err
}

// damaged returns the error for a file of an archive that cannot be unpacked.
func damaged(name string, err error) error {
	return fault.Errorf(fault.InvalidRequest, "the file %s of the archive is damaged", input.Quote(name)).
		WithParam("archive").
		WithCause(err)
}

// hidden reports whether a file is hidden, or one that a file manager adds to a folder.
func hidden(name string) bool {
	base := strings.ToLower(path.Base(name))

	return base == "thumbs.db" || base == "desktop.ini" ||
		slices.ContainsFunc(strings.Split(name, "/"), func(folder string) bool {
			return folder == "__MACOSX" || strings.HasPrefix(folder, ".") && folder != "." && folder != ".."
		})
}

// errTooMuchRead is returned by the bounded readers of this file after their limit.
var errTooMuchRead = errors.New("more was read than is allowed")

// boundedReaderAt fails once more than left bytes were read. A negative left means no bound.
type boundedReaderAt struct {
	io.ReaderAt
	left int64
}

// ReadAt implements io.ReaderAt.
func (r *boundedReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if r.left >= 0 {
		if r.left -= int64(len(p)); r.left < 0 {
			r.left = 0
			return 0, errTooMuchRead
		}
	}

	return r.ReaderAt.ReadAt(p, off)
}

// boundedReader fails once more than left bytes were read.
type boundedReader struct {
	io.Reader
	left int64
}

// Read implements io.Reader.
func (r *boundedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if r.left -= int64(n); r.left < 0 {
		return 0, errTooMuchRead
	}

	return n, err
}
