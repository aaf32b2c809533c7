// Package mcp is a server of the Model Context Protocol. It offers Presswork's functions as tools, prompts and
// resources, over standard input and output or over HTTP. A Backend does the work: package api has one that submits
// jobs, and package internal/app one that works on this machine.
//
// New returns the Server. Server.Serve answers one client on two streams, and Server.Handler many clients over HTTP.
// The backend of a client is in the context of its requests; see With. A tool decodes its arguments, calls the backend
// and writes the result in words, because many clients show nothing else. A failure is also a result, which the model
// reads.
package mcp

import (
	"context"
	"time"

	"presswork"
	"presswork/internal/analysis/finding"
	"presswork/internal/fault"
	"presswork/themes"
)

// Backend does the work of the tools. It is safe for concurrent use. Its errors are shown to the model when they are
// *fault.Error. Work ends early when ctx ends.
type Backend interface {
	// Convert makes a file of a document.
	Convert(ctx context.Context, c Conversion, report Progress) (File, error)
	// Preview returns a picture of a page, which is counted from 1.
	Preview(ctx context.Context, d Document, page int, report Progress) (Picture, error)
	// Check prints a document and returns what was found, without keeping the file.
	Check(ctx context.Context, d Document, report Progress) (Checked, error)
	// Themes returns the catalogue.
	Themes() []themes.Theme
	// Analyze returns what a text is about, and the themes that suit it.
	Analyze(ctx context.Context, d Document) (finding.Analysis, error)
	// ExportPage makes a PDF or a picture of a web page.
	ExportPage(ctx context.Context, p Page, report Progress) (File, error)
	// FetchPage returns the text of a web page, with numbered lines.
	FetchPage(ctx context.Context, v View) (string, error)
	// SearchWeb returns the results of a search as text.
	SearchWeb(ctx context.Context, s Search) (string, error)
	// Transcribe returns the words of a recording.
	Transcribe(ctx context.Context, r Recording, report Progress) (Transcript, error)
	// Open returns a file that a tool has made. uri is that of its link, or "presswork://artifacts/" with its job.
	Open(ctx context.Context, uri string) (Content, error)
}

// Progress receives the progress of work, 0 to 100, and its stage.
type Progress func(percent int, stage presswork.Stage)

// Document is a text and how it is printed. The JSON names are the arguments of tools.
type Document struct {
	// Markdown is the text. Path is a file with the text. Exactly one is set.
	Markdown string `json:"markdown"`
	Path     string `json:"path"`
	// Theme is a name, themes.Auto, or "" for that of the front matter.
	Theme   string            `json:"theme"`
	Options presswork.Options `json:"options"`
}

// Conversion is a Document and the file to make of it.
type Conversion struct {
	Document
	// Output is the path of the file, or its name where files are stored by the server.
	Output string `json:"output"`
	// Format is the format of the file. Default: by the extension of Output, else a PDF.
	Format presswork.Output `json:"format"`
}

// Page is a web page to export.
type Page struct {
	URL string `json:"url"`
	// Output is as in Conversion. It ends in .pdf, .png, .jpg or .webp.
	Output string `json:"output"`
	// FullPage takes the picture of the whole page, Landscape turns the paper of a PDF.
	FullPage  bool `json:"full_page"`
	Landscape bool `json:"landscape"`
	// Paper is a size such as "a4".
	Paper string `json:"paper"`
	// WaitFor is the CSS selector of an element to wait for; "" waits for the load event only.
	WaitFor string `json:"wait_for"`
}

// View is a part of a web page.
type View struct {
	URL string `json:"url"`
	// Line is the first line, from 0. Lines is their number; 0 is about 1000 tokens.
	Line  int `json:"line"`
	Lines int `json:"lines"`
}

// Search is a question to the search engine.
type Search struct {
	Query string `json:"query"`
	// Results is the number of results, 1 to 20; 0 is 10.
	Results int `json:"results"`
}

// Recording is a file with speech.
type Recording struct {
	// Path is a file. URL is an address. A Server with Files sets Path, others set URL.
	Path string `json:"path"`
	URL  string `json:"url"`
	// Language is an ISO 639-1 code; "" lets the model find out.
	Language string `json:"language"`
	// Format is text, srt or vtt; "" is text.
	Format string `json:"format"`
}

// File is a file that a tool has made.
type File struct {
	// Name is shown to the user: an absolute path, or a file name.
	Name string
	// URI is where the file is: file:///… or a signed address.
	URI         string
	ContentType string
	Size        int64
	// Pages is 0 for files without pages.
	Pages int
	// Theme is the name of the theme; "" for a web page.
	Theme string
	// Reasons say why the theme was chosen, if it was.
	Reasons  []string
	Warnings []fault.Warning
	// ExpiresAt is when the server deletes the file; zero for never.
	ExpiresAt time.Time
	// Job is the id of the job; "" without one.
	Job string
}

// Picture is a picture of a page.
type Picture struct {
	// PNG is the content of the file.
	PNG []byte
	// Pages is the number of pages of the document; 0 if it is not known.
	Pages    int
	Theme    string
	Warnings []fault.Warning
}

// Checked is the result of a check.
type Checked struct {
	Pages    int
	Theme    string
	Warnings []fault.Warning
}

// Transcript is the text of a recording.
type Transcript struct {
	Text     string
	Warnings []fault.Warning
}

// Content is the content of a file.
type Content struct {
	Data        []byte
	ContentType string
}
