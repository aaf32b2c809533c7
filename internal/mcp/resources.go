package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"presswork/docs"
	"presswork/internal/fault"
)

const (
	// ArtifactPrefix begins the address of a file that a job has made. The id of the job follows.
	ArtifactPrefix = "presswork://artifacts/"
	themesURI      = "presswork://themes"
	optionsURI     = "presswork://options"
	docsPrefix     = "presswork://docs/"
	// maxBlob is the largest file that is sent as a resource, in bytes. Larger ones are downloaded.
	maxBlob = 16 << 20
)

// manual lists the pages of docs/ that help to write a document, with a description of each.
func manual() map[string]string {
	return map[string]string{
		"markdown.md":   "syntax of documents",
		"layouts.md":    "slides, papers, letters, CVs",
		"themes.md":     "themes and their tokens",
		"references.md": "numbers, cross references and citations",
	}
}

// addResources offers the list of themes, the options, the manual, and the files that tools have made.
func (s *Server) addResources() {
	s.addPage(themesURI, "themes", "names and looks of the themes", func(b Backend) (string, error) {
		return themeTable(b.Themes()), nil
	})
	s.addPage(optionsURI, "options", "options of documents", func(Backend) (string, error) { return optionReference() })

	for name, what := range manual() {
		s.addPage(docsPrefix+name, name, what, func(Backend) (string, error) {
			page, err := docs.Pages.ReadFile(name)
			return string(page), err
		})
	}

	made := &sdk.ResourceTemplate{
		Name: "artifact", Description: "a file that a tool has made", URITemplate: ArtifactPrefix + "{job}",
	}
	if s.o.Files {
		made.URITemplate = "file:///{+path}"
	}
	s.sdk.AddResourceTemplate(made, s.readArtifact)
}

// addPage adds a resource of text. read makes the text when a client asks for it.
func (s *Server) addPage(uri, name, what string, read func(Backend) (string, error)) {
	s.sdk.AddResource(
		&sdk.Resource{URI: uri, Name: name, Description: what, MIMEType: "text/markdown"},
		func(ctx context.Context, _ *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			backend, _, leave := enter(ctx)
			defer leave()

			page, err := read(backend)

			return &sdk.ReadResourceResult{
				Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: "text/markdown", Text: page}},
			}, err
		},
	)
}

// readArtifact returns a file that a tool has made.
func (s *Server) readArtifact(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	backend, ctx, leave := enter(ctx)
	defer leave()

	uri := req.Params.URI
	found, err := backend.Open(ctx, uri)

	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return nil, sdk.ResourceNotFoundError(uri)
	case err != nil:
		return nil, fmt.Errorf("%s", s.o.Message(err))
	case len(found.Data) > maxBlob:
		return nil, fmt.Errorf("the file has %d bytes, and at most %d are sent as a resource; download it instead",
			len(found.Data), maxBlob)
	}
	// The SDK encodes a blob in base64; text needs no encoding.
	one := &sdk.ResourceContents{URI: uri, MIMEType: found.ContentType}

	if strings.HasPrefix(found.ContentType, "text/") {
		one.Text = string(found.Data)
	} else {
		one.Blob = found.Data
	}

	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{one}}, nil
}

// optionReference lists the options of documents, one a line, by name.
func optionReference() (string, error) {
	var schema struct {
		Properties map[string]struct {
			Type        any
			Enum        []any
			Default     any
			Description string
		}
	}
	if err := json.Unmarshal(optionsJSON, &schema); err != nil {
		return "", err
	}

	var b bytes.Buffer

	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		p := schema.Properties[name]
		fmt.Fprintf(&b, "- `%s`", name)

		switch {
		case len(p.Enum) > 0:
			fmt.Fprintf(&b, " %v", p.Enum)
		case p.Type != nil:
			fmt.Fprintf(&b, " [%v]", p.Type)
		}

		if p.Description != "" {
			fmt.Fprintf(&b, ": %s", p.Description)
		}

		if p.Default != nil {
			fmt.Fprintf(&b, " Default: %v.", p.Default)
		}
		b.WriteByte('\n')
	}

	return b.String(), nil
}
