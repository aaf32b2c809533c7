package evaluate

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
)

// keptData lists hashes of repositories that are kept for judging, one a line: see Kept.
//
//go:embed data/kept.txt
var keptData string

// A Kept is the set of repositories that are kept for judging. Their documents must not be used for training,
// tuning or golden files.
type Kept map[string]bool

// KeptRepositories returns the repositories of data/kept.txt.
func KeptRepositories() Kept { return parseKept(keptData) }

// parseKept reads one hash per line. A line that begins with "#" is a comment.
func parseKept(data string) Kept {
	kept := Kept{}

	for line := range strings.Lines(data) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			kept[line] = true
		}
	}

	return kept
}

// Has reports whether a repository is kept. A note in parentheses after owner/name is ignored.
func (k Kept) Has(repository string) bool {
	return k[repositoryHash(repository)]
}

// HasHash reports whether a group of documents.txt is a kept repository. It returns false for the numbers that files
// had before hashes: they cannot be compared.
func (k Kept) HasHash(group string) bool {
	for hash := range k {
		if hash[:hashLength] == group {
			return true
		}
	}

	return false
}

// repositoryHash returns the SHA-256 of owner/name in lower case, in hexadecimal.
func repositoryHash(repository string) string {
	name, _, _ := strings.Cut(repository, " ")
	sum := sha256.Sum256([]byte(strings.ToLower(name)))

	return hex.EncodeToString(sum[:])
}

// split separates the rows of kept repositories from the others.
func (k Kept) split(rows []indexRow) (free, kept []indexRow) {
	for _, row := range rows {
		if k.Has(row.repository) {
			kept = append(kept, row)
		} else {
			free = append(free, row)
		}
	}

	return free, kept
}

// Refused returns one line for each corpus of a list of folders that has documents of kept repositories. Documents
// and Run leave these documents out.
func Refused(corpus string) (lines []string, err error) {
	for _, dir := range filepath.SplitList(corpus) {
		rows, err := readIndex(dir)
		if err != nil {
			return nil, err
		}

		if _, kept := KeptRepositories().split(rows); len(kept) > 0 {
			lines = append(
				lines,
				fmt.Sprintf(
					"left out %d of %d documents in %s: their repositories are kept for judging (for example %s)",
					len(kept),
					len(rows),
					dir,
					kept[0].repository,
				),
			)
		}
	}

	return lines, nil
}
