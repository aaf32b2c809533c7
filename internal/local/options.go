package local

import (
	"presswork"
	"presswork/internal/document"
	"presswork/internal/document/metadata"
	"presswork/internal/markdown"
)

// CheckOptions returns an error for an option whose value is not allowed. Errors: InvalidOption, ContentTooComplex; the
// Param is "options.NAME".
func CheckOptions(o presswork.Options) error { return document.CheckOptions(o) }

// CheckOutput returns an error for an output that does not exist, or that cannot do what the options ask for. The front
// matter of a document is checked when it is converted. Errors: InvalidOption, FrontMatterInvalid.
func CheckOutput(output presswork.Output, o presswork.Options) error {
	return document.CheckOutput(output, metadata.FrontMatter{}, o)
}

// CodeThemes returns the names of the themes of code, sorted.
func CodeThemes() []string { return markdown.CodeStyles() }
