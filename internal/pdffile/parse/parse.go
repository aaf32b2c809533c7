// Package parse reads PDF files of any program. It writes their objects in the form that package pdffile expects,
// without encryption, object streams and earlier revisions.
//
// Read first reads the cross-reference tables of all revisions. Then it derives the key from the password. At last it
// reads each object of the table, decrypted and rewritten by the lexer. If a step fails, it searches the whole file for
// objects instead. Files are hostile: a budget of bytes bounds the work, see reader.budget.
//
// Unpack, EachOperation and Values read parts of such files: streams, page contents and character maps.
package parse

import (
	"bytes"
	"errors"
	"fmt"

	"presswork/internal/pdffile"
)

// Errors of Read. Other errors describe damage.
var (
	// ErrNotPDF is returned for data without a PDF header.
	ErrNotPDF = errors.New("the file is not a PDF")
	// ErrPassword is returned for an encrypted file whose password is missing or wrong.
	ErrPassword = errors.New("the PDF is encrypted and the password is missing or wrong")
	// ErrEncryption is returned for files that are encrypted for certificates or by an unknown method.
	ErrEncryption = errors.New("the PDF is encrypted by a method that is not supported; only passwords are")
	// ErrTooLarge is returned for files whose objects unpack to far more data than the file has.
	ErrTooLarge = errors.New("the objects of the PDF unpack to too much data")
)

// Document is a PDF file of any program.
type Document struct {
	*pdffile.File
	// Version is the PDF version, such as "1.7".
	Version string
	// Encryption names the cipher, such as "AES-256". It is empty for files without encryption.
	Encryption string
	// Permissions are the permission bits of an encrypted file (ISO 32000-2, table 22).
	Permissions uint32
	// Owner is true if the password was the owner's, or if the file is not encrypted.
	Owner bool
	// Repaired is true if the cross-references were damaged and a search found the objects.
	Repaired bool
}

// reader is the state of Read.
type reader struct {
	data    []byte
	table   []entry // the places of the objects, by number
	trailer pdffile.Dict
	cipher  *decryption // nil without encryption
	// budget is the number of bytes that may still be parsed and unpacked. It bounds time and memory for files
	// whose objects overlap or unpack to far more than the file holds.
	budget int
	// packed caches the unpacked object streams.
	packed map[int]*objectStream
}

// Read reads a PDF file. The password is empty for files that open without one. Time and memory are limited to a
// multiple of the size of data. Read does not change data, and the Document does not refer to it. If the
// cross-references are damaged, Read searches for the objects and sets Repaired. Errors: those of this package, and
// errors that describe the damage.
func Read(data []byte, password string) (*Document, error) {
	const headerWithin = 1024 // where readers look for the header

	at := bytes.Index(data[:min(len(data), headerWithin)], []byte("%PDF-"))
	if at < 0 {
		return nil, ErrNotPDF
	}
	data = data[at:] // offsets count from the header
	// Besides the file itself, allow 64 MB and 20 times its size, at most 512 MB.
	r := &reader{data: data, packed: map[int]*objectStream{}, budget: len(data) + min(64<<20+20*len(data), 512<<20)}

	d, err := r.read(password)
	if err == nil || errors.Is(err, ErrPassword) || errors.Is(err, ErrEncryption) || errors.Is(err, ErrTooLarge) {
		return d, err
	}
	damage := err

	r.table, r.trailer, r.cipher = nil, nil, nil
	clear(r.packed)

	if err := r.search(password); err != nil {
		return nil, repairError(damage, err)
	}

	if d, err = r.document(true); err != nil {
		return nil, repairError(damage, err)
	}

	return d, nil
}

// repairError returns the error of a failed repair. It names the first damage only if the repair found nothing.
func repairError(damage, err error) error {
	if errors.Is(err, ErrPassword) || errors.Is(err, ErrEncryption) || errors.Is(err, ErrTooLarge) {
		return err
	}

	return fmt.Errorf("the PDF is damaged: %w; the search for its objects failed: %w", damage, err)
}

// spend takes n bytes from the budget. It returns ErrTooLarge if the budget is used up.
func (r *reader) spend(n int) error {
	if r.budget -= n; r.budget < 0 {
		return ErrTooLarge
	}

	return nil
}

// read reads the file by its cross-reference table.
func (r *reader) read(password string) (*Document, error) {
	if err := r.readTable(); err != nil {
		return nil, err
	}

	if err := r.unlock(password); err != nil {
		return nil, err
	}

	return r.document(false)
}

// document reads all objects of the table. It skips malformed objects of a repaired file.
func (r *reader) document(repaired bool) (*Document, error) {
	f := &pdffile.File{Objects: make([][]byte, max(len(r.table), 1))}

	for n := range r.table {
		object, err := r.object(n)
		if repaired && err != nil && !errors.Is(err, ErrTooLarge) {
			continue // other readers treat it as null
		}

		if err != nil {
			return nil, fmt.Errorf("object %d: %w", n, err)
		}

		switch {
		case string(object) == "null":
		case pdffile.IsStream(object) && isOwn(object):
		default:
			f.Objects[n] = object
		}
	}

	if err := findRoot(f, r.trailer); err != nil {
		return nil, err
	}
	d := &Document{File: f, Owner: true, Repaired: repaired}
	d.Version = version(r.data, f)

	// The objects in memory are not encrypted, so drop the encryption dictionary.
	if n, ok := f.Object(r.trailer.Get("Encrypt")); ok {
		f.Objects[n] = nil
	}

	if c := r.cipher; c != nil {
		d.Encryption, d.Permissions, d.Owner = c.name, c.permissions, c.owner
	}

	return d, nil
}

// isOwn reports whether a stream only holds the objects or cross-references of its file.
func isOwn(object []byte) bool {
	d, _, err := pdffile.ReadDict(object)
	kind := string(d.Get("Type"))

	return err == nil && (kind == "/ObjStm" || kind == "/XRef")
}

// findRoot sets the catalog and the Info dictionary of the file. If the trailer names no catalog, it takes the last
// object that is one. It adds an Info dictionary if there is none.
func findRoot(f *pdffile.File, trailer pdffile.Dict) error {
	var ok bool
	if f.Root, ok = f.Object(trailer.Get("Root")); !ok || !isCatalog(f.Objects[f.Root]) {
		f.Root = 0

		for n, o := range f.Objects {
			if bytes.Contains(o, []byte("/Type /Catalog")) && isCatalog(o) {
				f.Root = n
			}
		}
	}

	if f.Root == 0 {
		return errors.New("the file has no catalog")
	}

	if f.Info, ok = f.Object(trailer.Get("Info")); ok {
		if _, rest, err := pdffile.ReadDict(f.Objects[f.Info]); err == nil && len(rest) == 0 {
			return nil
		}
	}
	f.Info = f.Add([]byte("<<>>"))

	return nil
}

// isCatalog reports whether an object is a dictionary with a page tree.
func isCatalog(object []byte) bool {
	d, rest, err := pdffile.ReadDict(object)
	return err == nil && len(rest) == 0 && d.Get("Pages") != nil
}

// version returns the PDF version of the header or of the catalog, whichever is later; "1.4" if the header has none.
func version(data []byte, f *pdffile.File) string {
	v := "1.4"
	if head := data[len("%PDF-"):]; len(head) > 2 && head[0] >= '1' && head[0] <= '2' && head[1] == '.' {
		v = string(head[:3])
	}

	d, _, err := pdffile.ReadDict(f.Objects[f.Root])
	if later := string(bytes.TrimPrefix(d.Get("Version"), []byte("/"))); err == nil && len(later) == 3 && later > v {
		v = later
	}

	return v
}
