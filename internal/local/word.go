package local

import (
	"archive/zip"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"presswork/internal/fault"
)

const (
	// maxUnpacked limits the files in a Word document, in bytes.
	maxUnpacked = 256 << 20
	// pandocTime limits a run of pandoc. A book of 500 pages takes 10 seconds.
	pandocTime = time.Minute
)

// wordFiles are the folders with the Markdown and the pictures of Word documents.
type wordFiles struct{ dirs []string }

// remove deletes the folders.
func (w *wordFiles) remove() {
	for _, dir := range w.dirs {
		_ = os.RemoveAll(dir) // the system empties its temporary folder later
	}
}

// markdown returns the path of a Markdown file with the content of a Word document. It returns any other path as it is.
// Errors: InvalidRequest, and the cause of ctx.
func (w *wordFiles) markdown(ctx context.Context, path string) (string, error) {
	if !strings.EqualFold(filepath.Ext(path), ".docx") {
		return path, nil
	}

	if err := checkWord(path); err != nil {
		return "", err
	}

	pandoc, err := exec.LookPath("pandoc")
	if err != nil {
		return "", fault.Errorf(
			fault.InvalidRequest,
			"it is a Word document, which only pandoc reads: install pandoc (https://pandoc.org/installing.html), or save "+
				"the document as HTML",
		).WithCause(err)
	}

	dir, err := os.MkdirTemp("", "presswork-word-")
	if err != nil {
		return "", fault.Errorf(fault.StoreUnavailable, "no temporary folder: %s", reason(err)).WithCause(err)
	}
	w.dirs = append(w.dirs, dir)

	source, err := filepath.Abs(path)
	if err != nil {
		return "", unreadable(err)
	}

	ctx, cancel := context.WithTimeoutCause(ctx, pandocTime,
		fault.Errorf(fault.RenderTimeout, "pandoc did not read it within %s", pandocTime))
	defer cancel()
	out := filepath.Join(dir, "document.md")
	// Tables that pipes cannot draw become HTML. The sandbox keeps pandoc from other files and the network.
	cmd := exec.CommandContext(ctx, pandoc, "--sandbox", "--standalone", "--wrap=none", "--from=docx",
		"--to=markdown-grid_tables-simple_tables-multiline_tables", "--extract-media=.", "--output="+out, source)
	cmd.Dir = dir

	if said, err := cmd.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}

		return "", fault.Errorf(fault.InvalidRequest, "pandoc cannot read it: %s", firstLine(said)).WithCause(err)
	}

	return out, nil
}

// checkWord rejects a file that is no archive, or whose files are too large together.
func checkWord(path string) error {
	z, err := zip.OpenReader(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return unreadable(err)
	}

	if err != nil {
		return fault.Errorf(fault.InvalidRequest, "it is not a Word document (.docx), which is a zip archive").
			WithCause(err)
	}

	defer z.Close()

	// A small archive can unpack to any size.
	left := uint64(maxUnpacked)

	for _, f := range z.File {
		if f.UncompressedSize64 > left {
			return fault.Errorf(fault.ContentTooLarge, "its files are larger than %d MB together", maxUnpacked>>20)
		}
		left -= f.UncompressedSize64
	}

	return nil
}

// firstLine returns the first line of a program's output, at most 200 bytes of it.
func firstLine(output []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(output)), "\n")

	const longest = 200
	if len(line) > longest {
		line = strings.ToValidUTF8(line[:longest], "")
	}

	return line
}
