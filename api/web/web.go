// Package web holds the pages for browsers: the studio, the operators' page, the API's documentation, the frame of
// previews, and the page of md2pdf --live. `make web` builds them from web/. The result is checked in, so that
// building the program needs no Node.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"io/fs"
	"path"
	"strings"
	"sync"
)

//go:embed dist
var dist embed.FS

// The content security policies of the pages. Scripts and styles are files of this server. Style elements need the
// page's nonce; only the editor has them. Previews of documents are in a frame with its own policy.
const (
	studioPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-%s'; img-src 'self' data: blob:; " +
		"media-src 'self' blob:; font-src 'self'; connect-src 'self'; frame-src 'self' blob:; worker-src 'self'; " +
		"manifest-src 'self'; form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'self'; " +
		"require-trusted-types-for 'script'; trusted-types default"
	// The live page contains only the frame of the document.
	livePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"connect-src 'self'; frame-src 'self'; form-action 'none'; base-uri 'none'; object-src 'none'; " +
		"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
	// The operators' page and the guide.
	adminPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"connect-src 'self'; form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; " +
		"require-trusted-types-for 'script'; trusted-types 'none'"
	// A preview cannot run scripts and can fetch only the fonts of this server. The studio has the same origin and
	// writes into it.
	previewPolicy = "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src data: blob:; " +
		"font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; " +
		"sandbox allow-same-origin"
)

// Page is the HTML of a page and its Content-Security-Policy header. Send both together.
type Page struct {
	HTML   []byte
	Policy string
}

// Studio returns the page at /. Each call returns a new nonce, so the page must not be cached or sent twice.
func Studio() Page {
	var b [16]byte
	// crypto/rand never fails; see its documentation.
	_, _ = rand.Read(b[:])
	nonce := base64.RawURLEncoding.EncodeToString(b[:])

	return Page{bytes.ReplaceAll(page("index"), []byte("{{nonce}}"), []byte(nonce)), fmt.Sprintf(studioPolicy, nonce)}
}

// Admin returns the operators' page at /admin.
func Admin() Page { return Page{page("admin"), adminPolicy} }

// Docs returns a page of the guide at /docs. body is HTML without scripts and style attributes.
func Docs(title string, body []byte) Page {
	shell := bytes.Replace(page("docs"), []byte("{{title}}"), []byte(html.EscapeString(title)), 1)
	return Page{bytes.Replace(shell, []byte("{{body}}"), body, 1), adminPolicy}
}

// Live returns the page of `md2pdf --live`. The page shows the document at the relative path page, and reloads it
// after each event from events.
func Live() Page { return Page{page("live"), livePolicy} }

// Preview returns the empty page that the studio writes previews into.
func Preview() Page { return Page{page("preview"), previewPolicy} }

// page returns an embedded page by its name without .html.
func page(name string) []byte {
	b, err := dist.ReadFile("dist/" + name + ".html")
	if err != nil {
		panic(err) // it is embedded
	}

	return b
}

// Asset is a file that pages refer to. Its name holds a digest of its content, so browsers may cache it forever.
type Asset struct {
	ContentType string
	// ETag is the tag with its quotes.
	ETag string
	Body []byte
	// Gzip returns Body compressed, or nil when that saves nothing. The first call compresses.
	Gzip func() []byte
}

// assets reads all assets at its first call.
var assets = sync.OnceValue(func() map[string]Asset {
	files, err := fs.ReadDir(dist, "dist/assets")
	if err != nil {
		panic(err) // it is embedded
	}

	all := make(map[string]Asset, len(files))
	for _, f := range files {
		body, err := dist.ReadFile("dist/assets/" + f.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(body)
		all[f.Name()] = Asset{
			ContentType: contentType(f.Name()), ETag: `"` + hex.EncodeToString(sum[:12]) + `"`, Body: body,
			Gzip: sync.OnceValue(func() []byte { return compress(body) }),
		}
	}

	return all
})

// contentType returns the media type of an asset. It does not use package mime, whose table depends on the
// machine.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}

	return "application/octet-stream"
}

// Find returns the asset with this name. ok is false for an asset of another version.
func Find(name string) (Asset, bool) {
	a, ok := assets()[name]
	return a, ok
}

// compress returns b in gzip format, or nil when that is not smaller.
func compress(b []byte) []byte {
	var out bytes.Buffer
	// The level is valid, and a buffer takes every write.
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	_, _ = w.Write(b)
	_ = w.Close()

	if out.Len() >= len(b) {
		return nil
	}

	return out.Bytes()
}

// AcceptsGzip reports whether an Accept-Encoding header allows gzip.
func AcceptsGzip(header string) bool {
	for one := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(one), ";")
		if name = strings.TrimSpace(name); strings.EqualFold(name, "gzip") || name == "*" {
			q := strings.ReplaceAll(strings.ToLower(params), " ", "")
			return q != "q=0" && q != "q=0.0" && q != "q=0.00" && q != "q=0.000"
		}
	}

	return false
}
