package bookfolder

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// Stored is what Quarto stored when it ran the code of a chapter: its Markdown with the outputs.
type Stored struct {
	Markdown []byte
	// Stale reports that the chapter has changed since.
	Stale bool
}

// StoredFiles returns the files that may have the stored outputs of a chapter, best first. Those for HTML have
// pictures that a browser shows. There are none for files whose code Quarto does not run.
func StoredFiles(chapter string) (files []string) {
	if !slices.Contains([]string{".qmd", ".rmd", ".md"}, strings.ToLower(path.Ext(chapter))) {
		return nil
	}

	for _, format := range []string{"html", "epub", "docx", "tex"} {
		files = append(files, path.Join(freezer(chapter), "execute-results", format+".json"))
	}

	return files
}

// ReadStored reads a file with stored outputs. source is the text of the chapter. The error is that of encoding/json.
func ReadStored(file, source []byte) (Stored, error) {
	var f struct {
		Hash   string
		Result struct{ Markdown string }
	}
	if err := json.Unmarshal(file, &f); err != nil {
		return Stored{}, err
	}
	// Quarto's hash of the source; it protects nothing.
	sum := md5.Sum(bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n")))

	return Stored{Markdown: []byte(f.Result.Markdown), Stale: f.Hash != hex.EncodeToString(sum[:])}, nil
}

// StoredPicture returns the path in the book, from its root, of a picture that the stored Markdown of a chapter names.
func StoredPicture(chapter, name string) (file string, ok bool) {
	stem := strings.TrimSuffix(path.Base(chapter), path.Ext(chapter))
	rest, ok := strings.CutPrefix(name, stem+"_files/")

	return "/" + path.Join(freezer(chapter), rest), ok
}

// freezer returns the folder of the stored outputs of a chapter.
func freezer(chapter string) string {
	return path.Join("_freeze", strings.TrimSuffix(chapter, path.Ext(chapter)))
}
