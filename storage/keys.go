package storage

import (
	"fmt"
	"path"
	"strings"
)

// Prefixes of the key layout.
const (
	// Artifacts are the results of jobs, kept for the retention time.
	Artifacts = "artifacts/"
	// Sources are what submissions brought; they are deleted after their job's end.
	Sources = "sources/"
	// Passing are the sources of those who wait for the answer, and whose request a
	// power cut ends with them.
	Passing = Sources + "passing/"
	// Renders are the render cache: what is under it can be made again.
	Renders = "renders/"
	// Fence holds the object that says which deployment owns the store.
	Fence = "fence/"
)

// ArtifactKey is where the result of a job lies: a PDF.
func ArtifactKey(jobID string) string { return ArtifactKeyOf(jobID, "application/pdf") }

// ArtifactKeyOf is where the result of a job lies, by its content type; "" is a PDF.
func ArtifactKeyOf(jobID, contentType string) string {
	contentType, _, _ = strings.Cut(contentType, ";")
	extension := ".pdf"

	switch contentType {
	case "application/json":
		extension = ".json"
	case "text/plain":
		extension = ".txt"
	case "application/x-subrip":
		extension = ".srt"
	case "text/vtt":
		extension = ".vtt"
	case "text/html":
		extension = ".html"
	case "application/epub+zip":
		extension = ".epub"
	case "application/zip":
		extension = ".zip"
	}

	if picture, ok := strings.CutPrefix(contentType, "image/"); ok {
		extension = "." + picture
	}

	return Artifacts + jobID + extension
}

// PassingKey is AssetKey for the one file of a request under Passing.
func PassingKey(jobID, request string) string { return path.Join(Passing+jobID, request) }

// TranscriptKey is where the transcript of part n of a job's recording waits for
// the others.
func TranscriptKey(jobID string, n int) string {
	return fmt.Sprintf("%s%s/part-%d.json", Sources, jobID, n)
}

// SourceKey is where a request for a job puts its Markdown when that is too
// large for the payload. Several requests may be for one job; each has an id of
// its own, so that none overwrites or deletes what another stored.
func SourceKey(jobID, request string) string { return path.Join(Sources+jobID, request, "content.md") }

// RequestKey is where the body of a call lies when it is too large for Redis.
func RequestKey(callID string) string { return Sources + callID + "/request.json" }

// AssetKey is where a request for a job puts its asset number n. The asset's own
// name comes from outside, so it travels in the payload and never in a key.
func AssetKey(jobID, request, n string) string { return path.Join(Sources+jobID, request, "assets", n) }

// RenderKey is where the render cache keeps what became of a page with this hash;
// its type is beside it.
func RenderKey(hash string) string { return Renders + hash + ".pdf" }

// PreviewKey is where the sample of a theme lies, by the hash of its page; the
// format is pdf or png. It is a render like others: the cap takes it when nobody
// asks for it.
func PreviewKey(hash, format string) string { return Renders + "preview-" + hash + "." + format }

const (
	maxKey     = 512
	maxSegment = 200 // leaves room for what Disk adds, under the usual 255
)

// CheckKey accepts slash-separated segments of A-Z a-z 0-9 . _ - that do not
// begin with a dot, so that a key is a harmless path on every file system. At
// most 512 bytes in all and 200 a segment. Errors: ErrInvalidKey.
func CheckKey(key string) error {
	if key == "" {
		return fmt.Errorf("%w: empty", ErrInvalidKey)
	}

	if len(key) > maxKey {
		return fmt.Errorf("%w: %d bytes; at most %d", ErrInvalidKey, len(key), maxKey)
	}

	if i := strings.IndexFunc(key, func(r rune) bool { return !keyChar(r) }); i >= 0 {
		return fmt.Errorf("%w: %q, at byte %d; allowed are A-Z a-z 0-9 . _ - and /", ErrInvalidKey, key, i)
	}

	for segment := range strings.SplitSeq(key, "/") {
		switch {
		case segment == "":
			return fmt.Errorf("%w: %q has an empty segment", ErrInvalidKey, key)
		case segment[0] == '.':
			return fmt.Errorf("%w: %q has a segment that begins with a dot", ErrInvalidKey, key)
		case len(segment) > maxSegment:
			return fmt.Errorf("%w: a segment of %d bytes; at most %d", ErrInvalidKey, len(segment), maxSegment)
		}
	}

	return nil
}

// CheckPrefix accepts the beginning of a key that CheckKey accepts.
func CheckPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}

	return CheckKey(strings.TrimSuffix(prefix, "/"))
}

func keyChar(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return true
	}

	return strings.ContainsRune("._-/", r)
}
