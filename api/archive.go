package api

import (
	"archive/zip"
	"bufio"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"presswork/internal/fault"
	"presswork/internal/input"
)

const (
	// maxDirectory is how much of an archive is read to learn what is in it, in
	// bytes: a hundred times what maxAssets names need. The library keeps the whole.
	maxDirectory = 2 << 20
	// maxRatio is how many times its size a file may unpack to, beyond ratioFree
	// bytes. Text is packed to a tenth, drawn pictures to a hundredth.
	maxRatio  = 200
	ratioFree = 1 << 20
)

// parseArchive reads a submission whose body is an archive.
func (s *Server) parseArchive(c *fiber.Ctx) (conversion, error) {
	f := s.newForm(c)
	f.folder = true

	err := f.req.setQuery(c)
	if err == nil {
		var b *body
		if b, err = s.body(c, s.MaxUploadBytes, "an archive"); err == nil {
			err = f.takeArchive(bufio.NewReaderSize(b, formBuffer))
		}
	}

	return f.end(err)
}

// takeArchive takes the files of a zip archive. They count as what they unpack to.
func (f *form) takeArchive(r io.Reader) error {
	packed := &asset{held: f.held}
	defer packed.discard()

	if err := packed.fill(io.LimitReader(r, f.maxUpload+1)); err != nil {
		return err
	}

	if packed.size > f.maxUpload {
		return fault.Errorf(fault.ContentTooLarge, "an archive may have %d bytes", f.maxUpload).WithParam("archive")
	}
	directory := &boundedReaderAt{ReaderAt: packed.open(), left: maxDirectory}

	archive, err := zip.NewReader(directory, packed.size)
	switch {
	case errors.Is(err, errTooMuchRead):
		return tooManyFiles("archive")
	case err != nil:
		return fault.Errorf(fault.InvalidRequest, "the archive is no zip file, or is damaged; allowed: zip").
			WithParam("archive").
			WithCause(err)
	}
	directory.left = -1

	for _, entry := range archive.File {
		if err := f.takeEntry(entry); err != nil {
			return err
		}
	}

	return nil
}

// takeEntry takes a file of an archive. Folders, and what is hidden, are left out.
func (f *form) takeEntry(entry *zip.File) error {
	name := strings.ReplaceAll(entry.Name, `\`, "/") // as some packers for Windows write it
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
		return badAsset(name, "is no file; an archive may hold files and folders")
	case entry.Flags&1 != 0:
		return badAsset(name, "is encrypted; send the archive without a password")
	case entry.Method != zip.Store && entry.Method != zip.Deflate:
		return badAsset(name, "is packed in a way that is not understood; allowed: stored, deflated")
	}

	r, err := entry.Open()
	if err != nil {
		return damaged(name, err)
	}
	defer r.Close()
	allowed := max(ratioFree, maxRatio*int64(min(entry.CompressedSize64, uint64(f.maxUpload))))
	unpacked := &boundedReader{Reader: r, left: allowed}

	err = f.takeAsset(unpacked, name)
	switch {
	case unpacked.left < 0:
		return fault.Errorf(
			fault.ContentTooLarge,
			"the file %s of the archive unpacks to more than %d times its size",
			input.Quote(name),
			maxRatio,
		).
			WithParam("archive")
	case errors.Is(err, zip.ErrChecksum), errors.Is(err, zip.ErrFormat), fault.CodeOf(err) == fault.InvalidRequest:
		return damaged(name, err)
	}

	return err
}

func damaged(name string, err error) error {
	return fault.Errorf(fault.InvalidRequest, "the file %s of the archive is damaged", input.Quote(name)).
		WithParam("archive").
		WithCause(err)
}

// hidden reports whether a file is one that file managers put beside those of
// people.
func hidden(name string) bool {
	base := strings.ToLower(path.Base(name))

	return base == "thumbs.db" || base == "desktop.ini" ||
		slices.ContainsFunc(strings.Split(name, "/"), func(folder string) bool {
			return folder == "__MACOSX" || strings.HasPrefix(folder, ".") && folder != "." && folder != ".."
		})
}

var errTooMuchRead = errors.New("more was read than is allowed")

// boundedReaderAt fails once more than left bytes were read; less than 0 is no bound.
type boundedReaderAt struct {
	io.ReaderAt
	left int64
}

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

func (r *boundedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if r.left -= int64(n); r.left < 0 {
		return 0, errTooMuchRead
	}

	return n, err
}
