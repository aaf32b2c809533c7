// Package pdfops runs the operations on existing PDF files, with options as the API and the command line take them.
// Check checks the options; Run reads the files, runs the operation and writes the results. Package edit changes the
// files.
package pdfops

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/pdffile"
	"presswork/internal/pdffile/edit"
	"presswork/internal/pdffile/parse"
)

// Operation names an operation.
type Operation string

// The operations.
const (
	Merge     Operation = "merge"
	Split     Operation = "split"
	Rotate    Operation = "rotate"
	Stamp     Operation = "stamp"
	Watermark Operation = "watermark"
	Encrypt   Operation = "encrypt"
	Info      Operation = "info"
	Text      Operation = "text"
)

// Operations returns all operations.
func Operations() []Operation {
	return []Operation{Merge, Split, Rotate, Stamp, Watermark, Encrypt, Info, Text}
}

// Limits of one request.
const (
	// MaxInputs limits the files of a merge.
	MaxInputs = 100
	// MaxParts limits the files of a split.
	MaxParts = 500
	// maxResult limits the results of one request, in bytes, because all are in memory. The results of large files
	// may have twice the size of the files. Each part of a split has its own copy of a picture or a font that the
	// pages share.
	maxResult = 256 << 20
)

// File is a file with its name.
type File struct {
	Name string
	Data []byte
}

// Options are the options of all operations. An option that an operation does not use is rejected.
type Options struct {
	// Password opens encrypted inputs.
	Password string `json:"password"`
	// Pages are page ranges such as "1-3,5". Default: all pages; for split, each page on its own.
	Pages string `json:"pages"`
	// Single makes split write one file with all its pages.
	Single bool `json:"single"`
	// Degrees turn pages clockwise: 90, 180 or 270.
	Degrees int `json:"degrees"`
	// Text is the text to draw, unless a picture or a PDF is given.
	Text string `json:"text"`
	// Position is one of edit.Positions. Default: center.
	Position string `json:"position"`
	// Scale is the width of the mark as a share of the page width: 0.01 to 1. Default: 0.3; for watermark 0.8.
	Scale *float64 `json:"scale"`
	// Opacity is 0 to 1. Default: 1; for watermark 0.15.
	Opacity *float64 `json:"opacity"`
	// Rotation turns the mark counterclockwise, -360 to 360 degrees. Default: 0; for a text as watermark 45.
	Rotation *float64 `json:"rotation"`
	// Under draws below the content of the pages.
	Under bool `json:"under"`
	// UserPassword opens the encrypted file. Default "": everyone can open it.
	UserPassword string `json:"user_password"`
	// OwnerPassword opens the encrypted file with all permissions. Default: the user password.
	OwnerPassword string `json:"owner_password"`
	// Forbid lists what readers with the user password may not do: print, copy, modify or annotate.
	Forbid []string `json:"forbid"`
}

// Result is what an operation returns.
type Result struct {
	// Files are the results: PDF files, or one JSON or text file.
	Files []File
	// Pages is the number of pages of all results.
	Pages int
	// Warnings name what could not be kept.
	Warnings []string
}

// Check returns an error if the operation does not allow the options. inputs is the number of PDF files, and mark is
// true if there is a picture or a PDF to draw. Errors: InvalidRequest for the number of files, InvalidOption for an
// option.
func Check(op Operation, o Options, inputs int, mark bool) error {
	if op == Merge && inputs > MaxInputs {
		return fault.Errorf(fault.InvalidRequest, "%d files are too many; at most %d can be merged", inputs, MaxInputs)
	}

	if op != Merge && inputs != 1 || inputs < 1 {
		return fault.Errorf(fault.InvalidRequest, "%s takes %s; %d were given", op, takes(op), inputs)
	}

	if err := o.checkUsed(op, mark); err != nil {
		return err
	}

	pages, err := input.PageRanges("pages", o.Pages)
	if err != nil {
		return err
	}

	switch op {
	case Split:
		return o.checkParts(strings.Split(pages, ","))
	case Rotate:
		if !slices.Contains([]int{90, 180, 270}, o.Degrees) {
			return input.Invalid("degrees", "degrees %d is not allowed; allowed: 90, 180, 270", o.Degrees)
		}
	case Stamp, Watermark:
		return o.checkMark(mark)
	case Encrypt:
		return o.checkPasswords()
	}

	return nil
}

// checkParts checks the ranges of a split, whose files are named by them.
func (o Options) checkParts(ranges []string) error {
	if o.Single && o.Pages == "" {
		return input.Invalid("single", `single needs pages, such as "1-3,5"`)
	}

	for i, pages := range ranges {
		if !o.Single && slices.Contains(ranges[:i], pages) {
			return input.Invalid("pages", "pages %s occur twice; split makes one file of each range", pages)
		}
	}

	return nil
}

// takes says which files an operation takes, for errors.
func takes(op Operation) string {
	if op == Merge {
		return "one or more PDF files"
	}

	return "one PDF file"
}

// checkUsed rejects the options that the operation does not use.
func (o Options) checkUsed(op Operation, mark bool) error {
	marks := []Operation{Stamp, Watermark}

	for _, c := range []struct {
		name string
		set  bool
		in   []Operation
	}{
		{"pages", o.Pages != "", []Operation{Split, Rotate, Stamp, Watermark, Text}},
		{"single", o.Single, []Operation{Split}},
		{"degrees", o.Degrees != 0, []Operation{Rotate}},
		{"text", o.Text != "", marks},
		{"position", o.Position != "", marks},
		{"scale", o.Scale != nil, marks},
		{"opacity", o.Opacity != nil, marks},
		{"rotation", o.Rotation != nil, marks},
		{"under", o.Under, marks},
		{"mark", mark, marks},
		{"user_password", o.UserPassword != "", []Operation{Encrypt}},
		{"owner_password", o.OwnerPassword != "", []Operation{Encrypt}},
		{"forbid", len(o.Forbid) > 0, []Operation{Encrypt}},
	} {
		if c.set && !slices.Contains(c.in, op) {
			return input.Invalid(c.name, "%s is no option of %s", c.name, op)
		}
	}

	return nil
}

// checkMark checks the options of stamp and watermark. mark is true if a file to draw was given.
func (o Options) checkMark(mark bool) error {
	if (o.Text != "") == mark {
		return input.Invalid("text", "give either a text or a file to draw")
	}

	if n := utf8.RuneCountInString(o.Text); n > edit.MaxMarkText {
		return input.Invalid("text", "text has %d characters; at most %d are allowed", n, edit.MaxMarkText)
	}

	if o.Position != "" && !slices.Contains(edit.Positions(), o.Position) {
		return input.Invalid("position", "position %q is not allowed; allowed: %s", input.Short(o.Position),
			strings.Join(edit.Positions(), ", "))
	}

	for _, c := range []struct {
		name     string
		value    *float64
		min, max float64
	}{{"scale", o.Scale, 0.01, 1}, {"opacity", o.Opacity, 0, 1}, {"rotation", o.Rotation, -360, 360}} {
		if c.value != nil && !(*c.value >= c.min && *c.value <= c.max) { // also rejects NaN
			return input.Invalid(c.name, "%s %v is not allowed; allowed: %v to %v", c.name, *c.value, c.min, c.max)
		}
	}

	return nil
}

// everyPermission has all permission bits (ISO 32000-2, table 22): 3 to 6 and 9 to 12. A file must allow all to be
// changed, because the result forbids nothing.
const everyPermission = 0xf3c

// forbidden maps the values of Options.Forbid to permission bits. The higher bit of a pair controls a part of what the
// lower one does: printing in full quality, assembling pages, or filling in forms.
func forbidden() map[string]uint32 {
	return map[string]uint32{
		"print":    1<<2 | 1<<11,
		"modify":   1<<3 | 1<<10,
		"copy":     1 << 4,
		"annotate": 1<<5 | 1<<8,
	}
}

// checkPasswords checks the options of encrypt.
func (o Options) checkPasswords() error {
	if o.UserPassword == "" && o.OwnerPassword == "" {
		return input.Invalid("user_password", "encrypt needs user_password, owner_password or both")
	}

	for name, password := range map[string]string{
		"user_password": o.UserPassword, "owner_password": o.OwnerPassword,
	} {
		if err := pdffile.CheckPassword(password); err != nil {
			return input.Invalid(name, "%s %v", name, err)
		}
	}

	for _, word := range o.Forbid {
		if forbidden()[word] == 0 {
			return input.Invalid("forbid", "forbid %q is not allowed; allowed: print, copy, modify, annotate",
				input.Short(word))
		}
	}

	if len(o.Forbid) > 0 && (o.OwnerPassword == "" || o.OwnerPassword == o.UserPassword) {
		return input.Invalid("forbid", "forbid needs an owner_password that differs from user_password")
	}

	return nil
}

// Run runs an operation that Check accepts. mark is the picture or the PDF to draw; its Data is nil for a text.
//
// Errors: PDFInvalid for a damaged file, PDFPassword if a password is missing or gives too few permissions.
// InvalidOption if the options do not suit the file. UnsupportedMediaType for the picture, NotFound for an unknown
// operation. After ctx ends, Run returns its error.
func Run(ctx context.Context, op Operation, o Options, inputs []File, mark File) (Result, error) {
	docs := make([]*parse.Document, len(inputs))
	size := 0

	for i, in := range inputs {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		size += len(in.Data)

		d, err := open(in, o.Password, op)
		if err != nil {
			return Result{}, err
		}
		docs[i] = d
	}
	r := &run{
		ctx: ctx, op: op, options: o, inputs: inputs, docs: docs, mark: mark, left: max(maxResult, 2*size),
	}

	for _, d := range docs {
		if d.Repaired {
			r.warn("the cross-references were damaged; the objects were found by a search")
		}

		if op == Info || op == Text {
			continue
		}
		r.warn(edit.Unsign(d.File)...)

		if d.Encryption != "" && op != Encrypt {
			r.warn("the result is not encrypted")
		}
	}

	var err error

	switch op {
	case Merge:
		err = r.merge()
	case Split:
		err = r.split()
	case Rotate:
		err = r.rotate()
	case Stamp, Watermark:
		err = r.stamp()
	case Encrypt:
		err = r.encrypt()
	case Info:
		err = r.info()
	case Text:
		err = r.text()
	default:
		err = fault.Errorf(fault.NotFound, "%q is no operation", op)
	}

	return r.result, err
}

// open reads a file and checks that its permissions allow the operation.
func open(in File, password string, op Operation) (*parse.Document, error) {
	d, err := parse.Read(in.Data, password)
	name := path.Base(in.Name)

	switch {
	case errors.Is(err, parse.ErrPassword):
		return nil, fault.Errorf(fault.PDFPassword,
			"%s is encrypted and the password is missing or wrong; give it as password", name).
			WithParam("options.password")
	case err != nil:
		return nil, invalid(name, err)
	}

	switch {
	case d.Owner || op == Info:
	case op == Text && d.Permissions&forbidden()["copy"] == 0:
		return nil, fault.Errorf(fault.PDFPassword, "%s forbids to copy its text; give its owner password", name).
			WithParam("options.password")
	case op != Text && d.Permissions&everyPermission != everyPermission:
		return nil, fault.Errorf(fault.PDFPassword, "%s forbids changes; give its owner password", name).
			WithParam("options.password")
	}

	return d, nil
}

// invalid returns the error for a file that cannot be read. The errors of package pdffile and of those below it are
// about the file only, so their texts are public.
func invalid(name string, err error) error {
	reason := err.Error()
	return fault.Errorf(fault.PDFInvalid, "%s: %s", name, reason).WithCause(err)
}
