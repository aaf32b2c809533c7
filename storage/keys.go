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
	// Sources are the files of submissions. They are deleted when their job has ended.
	Sources = "sources/"
	// Passing are the sources of requests whose client waits for the response. They may be
	// lost in a power cut: the client repeats the request.
	Passing = Sources + "passing/"
	// Renders is the render cache. Its objects can be computed again.
	Renders = "renders/"
	// Fence holds the object that names the deployment that owns the store.
	Fence = "fence/"
)

// ArtifactKeyOf returns the key of a job's result with a content type; "" means PDF.
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

// PassingKey returns the key of the single file of a request whose client waits.
func PassingKey(jobID, request string) string { return path.Join(Passing+jobID, request) }

// TranscriptKey returns the key of the transcript of part n of a recording. It is kept
// until the parts are joined.
func TranscriptKey(jobID string, n int) string {
	return fmt.Sprintf("%s%s/part-%d.json", Sources, jobID, n)
}

// SourceKey returns the key of Markdown that is too large for the payload of a task.
// Several requests may be for one job. Each request has its own id, so that it does not
// overwrite or delete the objects of another.
func SourceKey(jobID, request string) string { return path.Join(Sources+jobID, request, "content.md") }

// RequestKey returns the key of the body of a call that is too large for Redis.
func RequestKey(callID string) string { return Sources + callID + "/request.json" }

// AssetKey returns the key of asset number n of a request. The file name of the asset
// comes from the client, so it is part of the payload and never of a key.
func AssetKey(jobID, request, n string) string { return path.Join(Sources+jobID, request, "assets", n) }

// RenderKey returns the key of the cached output for a page with this hash. The output
// may be of any type; its content type is an attribute of the object.
func RenderKey(hash string) string { return Renders + hash + ".pdf" }

// PreviewKey returns the key of the sample of a theme. hash is that of the page, format
// is pdf or png. When the size cap is reached, the sample is deleted like other renders,
// the least recently used first.
func PreviewKey(hash, format string) string { return Renders + "preview-" + hash + "." + format }

const (
	// Both are in bytes.
	maxKey     = 512
	maxSegment = 200 // Disk adds a few bytes; most file systems allow 255
)

// CheckKey returns an error unless the key consists of segments of A-Z a-z 0-9 . _ -
// with slashes between them. A segment has at most 200 bytes and does not begin with a
// dot; a key has at most 512 bytes. Such a key is a safe path on every file system.
// Errors: ErrInvalidKey.
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

// CheckPrefix returns an error unless the prefix is empty or the beginning of a valid
// key. Errors: ErrInvalidKey.
func CheckPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}

	return CheckKey(strings.TrimSuffix(prefix, "/"))
}

// keyChar reports whether a key may contain r.
func keyChar(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return true
	}

	return strings.ContainsRune("._-/", r)
}
