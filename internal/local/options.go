package local

import (
	"presswork"
	"presswork/internal/document"
	"presswork/internal/document/metadata"
	"presswork/internal/markdown/codestyle"
)

// CheckOptions returns an error for an option whose value is not allowed. Errors: InvalidOption, ContentTooComplex; the
// Param is "options.NAME".
func CheckOptions(o presswork.Options) error { return document.CheckOptions(o) }

// CheckOutput returns an error for an unknown output, and for one that cannot satisfy the options. The front
// matter of a document is checked when it is converted. Errors: InvalidOption, FrontMatterInvalid.
func CheckOutput(output presswork.Output, o presswork.Options) error {
	return document.CheckOutput(output, metadata.FrontMatter{}, o)
}

// CodeThemes returns the names of the code themes, sorted.
func CodeThemes() []string { return codestyle.Names() }
