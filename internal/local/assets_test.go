package local_test

import (
	"bytes"
	"html"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/local"
)

func TestIncludesComeFromTheDocumentsFolderOnly(t *testing.T) {
	t.Parallel()

	dir := writeFiles(t, map[string]string{
		"doc/in.md":     "within",
		"doc/sub/in.md": "below",
		"secret.md":     "secret",
		"doc/a.md":      "",
		"other/in.md":   "other",
	})
	for link, target := range map[string]string{"doc/link.md": "../secret.md", "doc/inner.md": "in.md", "doc/folder": "sub"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}

	for include, want := range map[string]string{
		"in.md":        "<p>within</p>",
		"sub/in.md":    "<p>below</p>",
		"sub/../in.md": "<p>within</p>",
		"link.md":      "through symbolic links: link.md",
		"inner.md":     "through symbolic links: inner.md",
		"folder/in.md": "through symbolic links: folder",
		"../secret.md": "document&#39;s folder only",
		"../doc/in.md": "document&#39;s folder only",
		"none.md":      "there is no such file",
		"sub":          "it is not a file",
	} {
		t.Run(include, func(t *testing.T) {
			var page bytes.Buffer
			conv := startConverter(t, local.Options{Output: presswork.HTML, Stdout: &page, Allow: []string{dir}})

			source := filepath.Join(dir, "doc", "a.md")
			if err := os.WriteFile(source, []byte("{{#include "+include+"}}\n"), 0o644); err != nil {
				t.Fatal(err)
			}

			out, err := conv.Convert(t.Context(), local.Input{Path: source, Output: local.Std})
			if err != nil {
				t.Fatal(err)
			}

			text := page.String() // and the warnings
			for _, w := range out.Warnings {
				text += html.EscapeString(w.Message)
			}

			if !strings.Contains(text, want) || strings.Contains(text, "<p>secret") {
				t.Errorf("got warnings %v and the page %s; want %q in one of them", out.Warnings, page.String(), want)
			}

			_, watched := out.Sources[filepath.Join(dir, "doc", include)]
			if !watched && !strings.HasPrefix(include, "..") {
				t.Errorf("the sources %v lack the included file", out.Sources)
			}
		})
	}
}

func TestImagesComeFromAllowedFoldersOnly(t *testing.T) {
	t.Parallel()

	dir := writeFiles(t, map[string]string{
		"doc/in.png":     pngPicture(t),
		"doc/sub/in.png": pngPicture(t),
		"out.png":        pngPicture(t),
		"other/in.png":   pngPicture(t),
		"doc/a.md":       "",
	})
	if err := os.Symlink("../out.png", filepath.Join(dir, "doc/link.png")); err != nil {
		t.Fatal(err)
	}

	if err := os.Symlink("sub/in.png", filepath.Join(dir, "doc/inner.png")); err != nil {
		t.Fatal(err)
	}

	if err := syscall.Mkfifo(filepath.Join(dir, "doc/fifo.png"), 0o644); err != nil {
		t.Fatal(err)
	}

	const outside = "outside the document's folder"
	for name, c := range map[string]struct {
		image string
		allow []string
		warns string // part of the warning; "" if the image is shown
	}{
		"beside":                  {image: "in.png"},
		"below":                   {image: "./sub/in.png"},
		"up and back":             {image: "../doc/in.png"},
		"link within":             {image: "inner.png"},
		"above":                   {image: "../out.png", warns: outside},
		"link to above":           {image: "link.png", warns: outside},
		"far above":               {image: "../../../../../../etc/passwd", warns: outside},
		"absolute":                {image: "/etc/passwd", warns: outside},
		"absolute, allowed":       {image: dir + "/other/in.png", allow: []string{"other"}},
		"above, allowed":          {image: "../out.png", allow: []string{"."}},
		"link to above, allowed":  {image: "link.png", allow: []string{"."}},
		"above, other is allowed": {image: "../out.png", allow: []string{"other"}, warns: outside},
		"sibling, allowed":        {image: "../other/in.png", allow: []string{"other"}},
		"missing":                 {image: "none.png", warns: "there is no such file"},
		"pipe":                    {image: "fifo.png", warns: "it is not a file"},
		"folder":                  {image: "sub", warns: "it is not a file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for i := range c.allow {
				c.allow[i] = filepath.Join(dir, c.allow[i])
			}
			var page bytes.Buffer
			conv := startConverter(t, local.Options{Output: presswork.HTML, Stdout: &page, Allow: c.allow})

			source := filepath.Join(dir, "doc", name+".md")
			if err := os.WriteFile(source, []byte("x\n\n![alt](<"+c.image+">)"), 0o644); err != nil {
				t.Fatal(err)
			}

			out, err := conv.Convert(t.Context(), local.Input{Path: source, Output: local.Std})
			if err != nil {
				t.Fatal(err)
			}

			if shown := strings.Contains(page.String(), "src=\"data:image/png"); shown != (c.warns == "") {
				t.Errorf("the image is shown: %v, with warnings %v; want %q", shown, out.Warnings, c.warns)
			}

			if c.warns != "" &&
				(len(out.Warnings) != 1 || out.Warnings[0].Code != fault.ImageFailed || !strings.Contains(out.Warnings[0].Message, c.warns) || out.Warnings[0].Line != 3) {
				t.Errorf("got warnings %v, want one in line 3 with %q", out.Warnings, c.warns)
			}
		})
	}
}

func TestAnAllowedFolderMustExist(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "none")

	err := local.New(local.Options{Output: presswork.HTML, Allow: []string{t.TempDir(), missing}}).Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("got error %v, want %s in it", err, missing)
	}
}
