package main

import (
	"strings"
	"testing"
)

func TestExportRejectsInvalidFlags(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		args       []string
		wantStderr string
	}{
		{nil, "name one address"},
		{[]string{"https://a", "https://b"}, "name one address"},
		{[]string{"https://example.com", "-o", "page.gif"}, ".pdf, .png"},
		{[]string{"https://example.com", "-o", "page.pdf", "--full-page"}, "--full-page is not supported for page.pdf"},
		{[]string{"https://example.com", "-o", "page.png", "--scale", "2"}, "--scale is not supported for page.png"},
		{[]string{"https://example.com", "--scale", "big"}, "is not a number"},
		{[]string{"https://example.com", "--format", "a9"}, "--format: "},
		{[]string{"https://example.com", "--timeout", "0"}, "--timeout: "},
		{[]string{"https://example.com", "--pdf-a=9"}, "--pdf-a: "},
		{[]string{"https://example.com", "--pdf-a", "2u"}, "--pdf-a=2u"},
		{[]string{"https://example.com", "--formt", "a4"}, `did you mean "--format"`},
		{[]string{"https://example.com", "--header", "x"}, "Name: value"},
		{[]string{"https://example.com", "--cookie", "x"}, "NAME=VALUE"},
		{[]string{"https://example.com", "--allow-private", "a b"}, "--allow-private"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			got := runCommand(t, append([]string{"export"}, c.args...)...)
			got.check(t, exitUsage, c.wantStderr)
		})
	}
}
