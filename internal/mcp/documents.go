package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/themes"
)

// decodeDocument decodes args into dst. d must point to a field of dst; exactly one of d.Markdown and d.Path must be
// set.
func (s *Server) decodeDocument(args []byte, dst any, d *Document) error {
	if err := input.DecodeJSON(args, dst, ""); err != nil {
		return err
	}

	return s.checkText(*d)
}

// checkText checks that a document has one text that the server can read. Errors: UnknownField for a path if
// Options.Files is false, InvalidRequest for none or both.
func (s *Server) checkText(d Document) error {
	switch {
	case d.Path != "" && !s.o.Files:
		return noFiles("markdown")
	case d.Path != "" && d.Markdown != "":
		return fault.Errorf(fault.InvalidRequest, "markdown and path are set; set one of them")
	case d.Path == "" && strings.TrimSpace(d.Markdown) == "":
		return missing("markdown", s.pick("the text of the document; or set path to a Markdown file",
			"the text of the document"))
	}

	return nil
}

// noFiles is the error for a path on a server that cannot read files of its callers. instead is the argument to
// send.
func noFiles(instead string) error {
	return fault.Errorf(fault.UnknownField,
		"this server cannot read files on your machine; send %s instead of path", instead).WithParam("path")
}

// missing is the error for an argument that is required. what describes it.
func missing(name, what string) error {
	return fault.Errorf(fault.InvalidRequest, "%s is missing; it is %s", name, what).WithParam(name)
}

// listThemes returns one line for each theme.
func (s *Server) listThemes(_ context.Context, b Backend, args []byte, _ Progress) ([]sdk.Content, error) {
	if err := input.DecodeJSON(args, &struct{}{}, ""); err != nil {
		return nil, err
	}

	return text(themeTable(b.Themes())), nil
}

// themeTable lists the themes, one a line.
func themeTable(list []themes.Theme) string {
	var b strings.Builder
	for _, t := range list {
		fmt.Fprintf(&b, "%s (%s): %s [%s]\n", t.Name, t.Scheme, t.Description, strings.Join(t.Tags, ", "))
	}

	return b.String()
}

// analyze returns the analysis as JSON.
func (s *Server) analyze(ctx context.Context, b Backend, args []byte, _ Progress) ([]sdk.Content, error) {
	var d struct {
		Markdown string `json:"markdown"`
		Path     string `json:"path"`
	}
	if err := input.DecodeJSON(args, &d, ""); err != nil {
		return nil, err
	}
	doc := Document{Markdown: d.Markdown, Path: d.Path}

	if err := s.checkText(doc); err != nil {
		return nil, err
	}

	found, err := b.Analyze(ctx, doc)
	if err != nil {
		return nil, err
	}

	data, err := json.MarshalIndent(found, "", "  ")

	return text(string(data)), err
}

// text returns the content of a result that is only text.
func text(s string) []sdk.Content { return []sdk.Content{&sdk.TextContent{Text: s}} }

// fileContent describes a file in words and links to it. Many clients show only the words.
func fileContent(f File) []sdk.Content {
	var b strings.Builder
	fmt.Fprintf(&b, "Made %s: ", f.Name)

	if f.Pages > 0 {
		fmt.Fprintf(&b, "%s, ", count(f.Pages, "page"))
	}
	fmt.Fprintf(&b, "%s bytes", thousands(f.Size))

	if f.Theme != "" {
		fmt.Fprintf(&b, ", theme %s", f.Theme)
	}

	if len(f.Reasons) > 0 {
		fmt.Fprintf(&b, " (chosen: %s)", strings.Join(f.Reasons, "; "))
	}
	b.WriteString(".")

	if strings.HasPrefix(f.URI, "http") {
		fmt.Fprintf(&b, "\nDownload it from %s", f.URI)
	}

	if !f.ExpiresAt.IsZero() {
		fmt.Fprintf(&b, "\nThe file is kept until %s.", f.ExpiresAt.UTC().Format("2006-01-02 15:04 UTC"))
	}

	if f.Job != "" {
		fmt.Fprintf(&b, "\nIt is also the resource %s%s.", ArtifactPrefix, f.Job)
	}
	b.WriteString(findings(f.Warnings))
	name := f.Name[strings.LastIndexAny(f.Name, `/\`)+1:]

	return []sdk.Content{
		&sdk.TextContent{Text: b.String()},
		&sdk.ResourceLink{URI: f.URI, Name: name, MIMEType: f.ContentType, Size: new(f.Size)},
	}
}

// maxFindings is the number of findings that a result lists.
const maxFindings = 50

// findings lists warnings, one a line, after a line break. It returns "" for none.
func findings(list []fault.Warning) string {
	if len(list) == 0 {
		return ""
	}

	var b strings.Builder
	fmt.Fprintf(&b, "\n%s:", count(len(list), "finding"))

	for _, w := range list[:min(len(list), maxFindings)] {
		b.WriteString("\n- ")

		if w.Line > 0 {
			fmt.Fprintf(&b, "line %d: ", w.Line)
		}
		fmt.Fprintf(&b, "%s (%s)", w.Message, w.Code)
	}

	if more := len(list) - maxFindings; more > 0 {
		fmt.Fprintf(&b, "\n- and %d more", more)
	}

	return b.String()
}

// count returns a number with its noun, such as "3 pages".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}

	return fmt.Sprintf("%d %ss", n, what)
}

// thousands returns a number with spaces between groups of three digits.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}

	return s
}
