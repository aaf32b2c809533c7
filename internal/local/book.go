package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/internal/local/bookfolder"
)

// IsFolder reports whether an input is a folder, which is printed as a book.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return path != Std && err == nil && info.IsDir()
}

// book reads the chapters of the book in a folder. Their images can be opened until closeFiles is called, which is
// required after an error as well.
func (c *Converter) book(
	ctx context.Context, in Input, sources Snapshot,
) (d document.Document, closeFiles func(), err error) {
	own, err := c.openFolder(in.Path)
	if err != nil {
		return d, func() {}, err
	}
	closeFiles = func() { _ = own.root.Close() } // it was only read from

	book, err := Waiting(ctx, func() (bookfolder.Book, error) { return bookfolder.Read(own.root.FS()) })
	if err != nil {
		return d, closeFiles, err
	}

	sources.add(in.Path) // it changes when a file is added

	for _, file := range book.Settings {
		sources.add(filepath.Join(in.Path, filepath.FromSlash(file)))
	}

	files := c.bookAssets(own, ".", sources)
	d = document.Document{
		Output:   cmp.Or(in.Format, c.o.Output),
		Content:  book.FrontMatter(),
		Theme:    in.Theme,
		Options:  in.Options,
		Filename: nameOf(in.Path),
		Path:     book.Settings[0],
		Folder:   ".",
		Asset:    files.openImage,
		Include:  files.include,
		Warnings: book.Warnings,
	}
	err = c.chapters(ctx, own, book, sources, &d)

	return d, closeFiles, err
}

// chapters adds the chapters of a book to a document. Errors: ContentTooLarge, and those of reading a file, with
// its name.
func (c *Converter) chapters(
	ctx context.Context, own allowedDir, book bookfolder.Book, sources Snapshot, d *document.Document,
) error {
	size := 0

	for _, e := range book.Entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}

		part := document.Part{
			Title: e.Title, Shift: e.Depth, BookPart: e.Part, Appendix: e.Appendix, Path: e.File, Folder: ".",
		}
		if e.File == "" {
			part.Content, part.Path = []byte("# "+e.Title+"\n"), book.Settings[0]
			d.Parts = append(d.Parts, part)

			continue
		}
		part.Folder = path.Dir(e.File)
		files := c.bookAssets(own, part.Folder, sources)
		part.Asset, part.Include = files.openImage, files.include
		sources.add(filepath.Join(own.path, filepath.FromSlash(e.File)))

		content, err := Waiting(ctx, func() ([]byte, error) { return readUpTo(own.root.FS(), e.File, maxSource) })
		if err != nil {
			return withFile(e.File, err)
		}
		part.Content = content

		if size += len(content); size > maxSource {
			return fault.Errorf(fault.ContentTooLarge, "the chapters together are larger than %d MB", maxSource>>20)
		}

		found, err := part.ReadNotebook()
		if err != nil {
			return withFile(e.File, err)
		}
		found = append(found, useStored(own, sources, &part)...)
		d.Warnings = append(d.Warnings, named(e.File, found)...)
		d.Parts = append(d.Parts, part)
	}

	return nil
}

// useStored replaces the content of a chapter by the Markdown that Quarto stored when it ran its code. If that cannot
// be read, or is of an older version of the chapter, it returns a warning and the content stays.
func useStored(own allowedDir, sources Snapshot, p *document.Part) []fault.Warning {
	warn := func(format string, args ...any) []fault.Warning {
		return []fault.Warning{{Code: fault.IncludeFailed, Message: fmt.Sprintf(format, args...)}}
	}

	for _, file := range bookfolder.StoredFiles(p.Path) {
		data, err := readUpTo(own.root.FS(), file, maxSource)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		sources.add(filepath.Join(own.path, filepath.FromSlash(file)))

		if err != nil {
			return warn("its stored outputs are not shown: %s: %s", file, reason(err))
		}

		stored, err := bookfolder.ReadStored(data, p.Content)
		switch {
		case err != nil:
			return warn("its stored outputs are not shown: %s is not JSON", file)
		case stored.Stale:
			return warn("its stored outputs are not shown: it has changed since Quarto wrote %s; "+
				"`quarto render` writes it again", file)
		}
		chapter, open := p.Path, p.Asset
		p.Content = stored.Markdown
		p.Include = nil // Quarto has included the files, and an output may look like a directive
		p.Place = func(line int) string { return fmt.Sprintf("line %d of its stored outputs", line) }
		p.Asset = func(name string) ([]byte, error) {
			if picture, ok := bookfolder.StoredPicture(chapter, name); ok {
				name = picture
			}

			return open(name)
		}

		break
	}

	return nil
}

// named puts the name of a file before the messages of warnings, in place, and returns them.
func named(file string, warnings []fault.Warning) []fault.Warning {
	for i, w := range warnings {
		warnings[i].Message = file + ": " + w.Message
	}

	return warnings
}

// bookAssets returns the files of a book for a chapter in a folder of it.
func (c *Converter) bookAssets(own allowedDir, folder string, sources Snapshot) *assets {
	a := c.newAssets(own, sources)
	a.folder, a.inBook = filepath.FromSlash(folder), true

	return a
}

// readUpTo reads a file of at most limit bytes.
func readUpTo(folder fs.FS, name string, limit int64) ([]byte, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, unreadable(err)
	}
	defer f.Close()

	return readAll(f, limit)
}

// chapterFiles returns the files of the chapters of a book.
func chapterFiles(folder string, parts []document.Part) (files []string) {
	for _, p := range parts {
		if p.Asset != nil { // it is not a heading
			files = append(files, filepath.Join(folder, filepath.FromSlash(p.Path)))
		}
	}

	return files
}

// nameOf returns the name of a folder, also for "." and "..".
func nameOf(folder string) string {
	if abs, err := filepath.Abs(folder); err == nil {
		folder = abs
	}

	return filepath.Base(folder)
}
