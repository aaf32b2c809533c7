package web_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"presswork/api/web"
)

// TestBuildMatchesTheSources fails when web/ was changed and `make web` was not
// run. web/build.mjs writes the digest the same way.
func TestBuildMatchesTheSources(t *testing.T) {
	t.Parallel()
	const root = "../../web"
	inputs := []string{"build.mjs", "package-lock.json", "package.json", "tsconfig.json"}

	err := filepath.WalkDir(root+"/src", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, err = filepath.Rel(root, name)
			inputs = append(inputs, filepath.ToSlash(name))
		}

		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(inputs)
	list := sha256.New()

	for _, name := range inputs {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(list, "%x  %s\n", sha256.Sum256(b), name)
	}

	built, err := os.ReadFile("dist/sources.sha256")
	if err != nil {
		t.Fatal(err)
	}

	if got := hex.EncodeToString(list.Sum(nil)); got != strings.TrimSpace(string(built)) {
		t.Error("the pages in dist are older than their sources in web/: run `make web`")
	}
}

func TestPagesReferToExistingAssets(t *testing.T) {
	t.Parallel()

	for name, page := range map[string]web.Page{
		"studio": web.Studio(), "admin": web.Admin(), "docs": web.Docs("A & B", []byte("<p>text</p>")), "live": web.Live(), "preview": web.Preview(),
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(string(page.HTML), "{{") {
				t.Errorf("the page has a placeholder that was not replaced: %s", page.HTML)
			}

			refs := regexp.MustCompile(`(?:src|href)="/assets/([^"]+)"`).FindAllStringSubmatch(string(page.HTML), -1)
			if len(refs) == 0 && name != "preview" {
				t.Error("the page refers to no asset")
			}

			for _, ref := range refs {
				if _, ok := web.Find(ref[1]); !ok {
					t.Errorf("the page refers to %s, which does not exist", ref[1])
				}
			}

			if strings.Contains(page.Policy, "unsafe-eval") || strings.Contains(page.Policy, "http") ||
				!strings.Contains(page.Policy, "default-src 'none'") {
				t.Errorf("the policy is %s; want default-src 'none', without eval and other hosts", page.Policy)
			}
		})
	}

	if a, b := web.Studio(), web.Studio(); a.Policy == b.Policy {
		t.Error("two answers have the same nonce")
	}
}

// TestStudioIsSmall bounds the bytes that a first visit transfers.
func TestStudioIsSmall(t *testing.T) {
	t.Parallel()
	const limit = 200_000

	total := len(web.Studio().HTML)
	for _, ref := range regexp.MustCompile(`"/assets/([^"]+)"`).FindAllStringSubmatch(string(web.Studio().HTML), -1) {
		a, _ := web.Find(ref[1])
		if a.Gzip() == nil {
			t.Errorf("%s is not compressed", ref[1])
		}
		total += len(a.Gzip())
	}

	if total > limit {
		t.Errorf("a first visit transfers %d bytes; allowed: %d", total, limit)
	}
	t.Logf("a first visit transfers %d bytes", total)
}

func TestAcceptsGzip(t *testing.T) {
	t.Parallel()

	for header, want := range map[string]bool{
		"": false, "gzip": true, "br, GZIP;q=0.5": true, "*": true,
		"identity": false, "gzip;q=0": false, "gzip; q=0.000": false, "x-gzip": false,
	} {
		t.Run(header, func(t *testing.T) {
			if got := web.AcceptsGzip(header); got != want {
				t.Errorf("AcceptsGzip(%q) = %v, want %v", header, got, want)
			}
		})
	}
}
