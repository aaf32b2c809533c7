package upload

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"presswork/internal/fault"
	"presswork/internal/input"
)

const (
	// MaxAssets is the largest number of files of a submission, without its documents.
	MaxAssets = 200
	// maxAssetName is the longest path of a file, in bytes.
	maxAssetName = 512
	// maxInMemory is the size up to which an asset stays in memory, in bytes.
	maxInMemory = 256 << 10
)

// Asset is a file of a request, kept until it is stored.
type Asset struct {
	// Name is the clean path by which the document refers to the file.
	Name string
	// Size is in bytes.
	Size int64
	// SHA256 is the digest in hexadecimal.
	SHA256 string

	// bytes is the content of a small asset.
	bytes []byte
	// file holds a large asset. The file has no name in its folder any more, so that the system frees it after a
	// crash.
	file *os.File
	hold *Hold
}

// NewAsset returns an asset without content. hold counts the bytes that Fill will read.
func NewAsset(name string, hold *Hold) *Asset { return &Asset{Name: name, hold: hold} }

// Open returns a new reader of the content. It reads from the start, or at any offset.
func (a *Asset) Open() interface {
	io.Reader
	io.ReaderAt
} {
	if a.file != nil {
		return io.NewSectionReader(a.file, 0, a.Size)
	}

	return bytes.NewReader(a.bytes)
}

// Discard deletes the content. The asset must not be opened after it. It may be called again.
func (a *Asset) Discard() {
	if a.file != nil {
		a.file.Close()
	}
	a.bytes = nil
}

// Fill reads the content, and moves it to a temporary file when it is larger than 256 KiB. Errors: those of Broken and
// of Hold, and StoreUnavailable when the temporary folder is full.
func (a *Asset) Fill(r io.Reader) error {
	sum := sha256.New()
	r = io.TeeReader(r, sum)

	head, err := io.ReadAll(io.LimitReader(a.hold.InMemory(r), maxInMemory))
	if err != nil {
		return Broken(err)
	}

	a.bytes, a.Size = head, int64(len(head))
	if len(head) == maxInMemory {
		if err := a.spill(head, r); err != nil {
			return err
		}
	}
	a.SHA256 = hex.EncodeToString(sum.Sum(nil))

	return nil
}

// spill moves the content to a temporary file and reads the rest of it.
func (a *Asset) spill(head []byte, rest io.Reader) error {
	if err := a.hold.moveToDisk(int64(len(head))); err != nil {
		return err
	}

	file, err := os.CreateTemp("", "presswork-upload-*")
	if err != nil {
		return errDiskFull(err)
	}

	a.file, a.bytes = file, nil
	if err := os.Remove(file.Name()); err != nil {
		return errDiskFull(err)
	}

	if _, err := file.Write(head); err != nil {
		return errDiskFull(err)
	}
	n, err := io.Copy(file, a.hold.OnDisk(rest))
	a.Size += n

	if _, disk := errors.AsType[*os.PathError](err); disk {
		return errDiskFull(err)
	}

	if err != nil {
		return Broken(err)
	}

	return nil
}

// errDiskFull returns the error for an upload that does not fit into the temporary folder. The client may retry:
// space may become free, or another node may have some.
func errDiskFull(err error) error {
	return fault.Errorf(fault.StoreUnavailable, "the server has no disk space left for the upload; try again later").
		WithCause(err)
}

// Broken returns the public error for a body whose read failed with err: err itself when it is public, else
// InvalidRequest.
func Broken(err error) error {
	if fault.CodeOf(err) != fault.Internal {
		return err
	}

	return fault.Errorf(fault.InvalidRequest, "the body ended early or is not encoded as its headers say").
		WithCause(err)
}

// checkAssetName returns an error unless name is a clean relative path: one that a document can refer to and that
// leads out of no folder.
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

// badAsset returns the error for an asset; problem continues a sentence that begins with its name.
func badAsset(name, problem string) *fault.Error {
	return fault.Errorf(fault.InvalidOption, "the asset %s %s", input.Quote(name), problem).WithParam("assets")
}

// tooManyFiles returns the error for more than MaxAssets files.
func tooManyFiles(param string) error {
	return fault.Errorf(fault.ContentTooLarge, "a submission may have at most %d files", MaxAssets).WithParam(param)
}
