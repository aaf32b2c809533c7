package presswork_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// layers is the architecture, lowest layer first. A package imports packages of lower
// layers only; a child may also import its parent. An entry that ends in /... stands for all
// packages below a directory.
var layers = [][]string{
	{"internal/lazyregexp"},
	{
		"internal/fault",
		"api/conn",
		"api/web",
		"docs",
		"internal/imagetype",
		"internal/recent",
		"internal/terminal",
		"internal/markdown/block",
		"internal/chromium/printable",
		"internal/markdown/tree",
		"internal/markdown/codestyle",
		"internal/markdown/label",
		"internal/markdown/numeral",
		"internal/markdown/admonition",
		"internal/analysis/finding",
		"internal/analysis/wordlist",
		"internal/pdffile/pdfa",
	},
	{
		".",
		"internal/input",
		"internal/markdown/source",
		"internal/markdown/cite/bibfile",
		"internal/analysis/plaintext",
	},
	{
		"tasks/stream",
		"tasks/asynqext",
		"tasks/redisdial",
		"tasks/clock",
		"internal/pdffile",
		"internal/pdffile/parse",
		"internal/analysis/lang",
		"internal/analysis/sentiment",
		"internal/document/epub",
		"internal/document/markup",
		"internal/document/raster",
		"internal/document/arrange",
		"internal/markdown/tex",
		"internal/markdown/cite",
		"internal/markdown/hyphen",
		"internal/markdown/ext/...",
		"internal/markdown/frontmatter",
		"internal/markdown/notebook",
		"internal/chromium/fonts",
		"internal/chromium/process",
		"internal/markdown/diagram",
		"internal/markdown/dialect",
		"internal/markdown/dialect/...",
	},
	{
		"internal/markdown/finish",
		"internal/markdown/formula",
		"internal/markdown/numbering",
		"internal/markdown/include",
		"internal/markdown/sanitize",
		"internal/pdffile/edit",
		"internal/pdffile/pagetext",
	},
	{
		"tasks/memory",
		"tasks/slots",
		"tasks/record",
		"storage",
		"themes",
		"internal/pdffile/inspect",
		"internal/pdfops",
		"internal/document/sheet",
		"internal/document/dates",
		"internal/pdffile/join",
		"internal/pdffile/pack/text",
		"internal/markdown",
		"internal/cache",
		"internal/guard",
		"internal/inference",
		"internal/inference/catalogue",
		"internal/inference/meter",
		"internal/inference/reasoning",
		"internal/inference/sandbox",
		"internal/inference/schema",
		"internal/inference/seal",
		"internal/embedded",
		"internal/ready",
		"internal/export",
		"internal/config",
		"internal/keyfile",
		"internal/local/runlog",
		"internal/local/livepage",
		"internal/client/webhooks",
		"internal/local/bookfolder",
	},
	{
		"api/access",
		"api/guide",
		"api/upload",
		"tasks/watch",
		"internal/analysis",
		"internal/pdffile/pack",
		"internal/document/contents",
		"internal/document/cover",
		"internal/document/csscost",
		"internal/document/metadata",
		"internal/document/merge",
		"internal/document/layout",
		"internal/document/preflight",
		"internal/document/sections",
		"internal/document/webfont",
		"internal/inference/gateway",
		"internal/inference/history",
		"internal/inference/jsonbody",
		"internal/inference/upstream",
		"internal/mcp",
	},
	{
		"api/messages",
		"api/responses",
		"tasks",
		"storage/minio",
		"storage/retention",
		"internal/chromium",
		"internal/analysis/recommend",
		"internal/inference/openai",
		"internal/inference/openai/wire",
		"internal/document/typeset",
		"internal/inference/anthropic",
		"internal/inference/ollama",
		"internal/inference/browse",
		"internal/inference/audio",
		"internal/inference/toolserver",
	},
	{"internal/document", "api/metrics", "api/openai", "worker/tools"},
	{"api/compose", "api/exchange", "worker", "tasks/monitor", "internal/local", "internal/client"},
	{"api/limits", "api/objects", "api/pages", "api/usage", "api/views"},
	{"api/admin", "api/calls"},
	{"api"},
	{"internal/app"},
	{"cmd/presswork/command"},
	{"cmd/presswork/convert", "cmd/presswork/models", "cmd/presswork/pdf", "cmd/presswork/state"},
	{"cmd/presswork"},
}

// technologies lists the only packages that may import a library.
var technologies = map[string][]string{
	"github.com/gofiber/": {
		"api", "api/admin", "api/calls", "api/exchange", "api/limits", "api/pages", "api/usage", "api/views",
	},
	"github.com/hibiken/": {"tasks", "tasks/monitor"},
	"github.com/redis/go-redis/": {
		"tasks",
		"tasks/stream",
		"tasks/asynqext",
		"tasks/clock",
		"tasks/memory",
		"tasks/record",
		"tasks/watch",
		"tasks/monitor",
		"tasks/redisdial",
		"storage/retention",
		"internal/cache",
		"internal/inference/meter",
		"internal/embedded",
		"internal/app",
	},
	"github.com/minio/minio-go/":       {"storage/minio"},
	"github.com/modelcontextprotocol/": {"internal/mcp", "internal/inference/toolserver"},
	"github.com/go-rod/":               {"internal/chromium"},
	"github.com/yuin/goldmark": {
		"internal/markdown",
		"internal/markdown/tree",
		"internal/markdown/dialect/pandoc",
		"internal/markdown/dialect/quarto",
		"internal/markdown/ext/...",
		"internal/markdown/formula",
		"internal/markdown/numbering",
		"internal/markdown/sanitize",
	},
	"github.com/spf13/cobra": {"cmd/presswork", "cmd/presswork/..."},
	"database/sql":           {"internal/cache"},
	"modernc.org/sqlite":     {"internal/cache"},
	"github.com/goccy/go-yaml": {
		"api/pages",
		"api/guide",
		"internal/keyfile",
		"internal/inference/catalogue",
		"internal/markdown/frontmatter",
	},
	"go.opentelemetry.io/otel/sdk":  {"internal/app"},
	"github.com/fsnotify/":          {"themes"},
	"github.com/santhosh-tekuri/":   {"internal/inference/schema"},
	"codeberg.org/readeck/":         {"internal/inference/browse"},
	"github.com/jimsmart/":          {"internal/inference/browse"},
	"github.com/dop251/goja":        {"internal/markdown/tex"},
	"github.com/microcosm-cc/":      {"internal/markdown/sanitize"},
	"github.com/pelletier/go-toml/": {"internal/markdown/frontmatter"},
	"github.com/prometheus/":        {"api", "api/metrics", "worker", "worker/tools", "tasks", "internal/app"},
}

// libraries could be published as they are. They and their children import the root
// neither directly nor through another package.
var libraries = []string{
	"internal/markdown",
	"internal/pdffile",
	"internal/chromium",
	"internal/inference",
	"internal/analysis",
}

func isLibrary(pkg string) bool {
	return slices.ContainsFunc(libraries, func(lib string) bool {
		return pkg == lib || strings.HasPrefix(pkg, lib+"/")
	})
}

// testPackages may be imported by tests only. The same holds for all packages below internal/test.
var testPackages = []string{
	"storage/storagetest",
	"internal/pdffile/filetest",
	"internal/cache/cachetest",
	"internal/inference/inferencetest",
	"internal/inference/inferencetest/fakemodel",
}

func isTestPackage(pkg string) bool {
	return strings.HasPrefix(pkg, "internal/test/") || slices.Contains(testPackages, pkg)
}

func TestImportsFollowLayersAndTechnologies(t *testing.T) {
	t.Parallel()

	for _, complaint := range violations(t, os.DirFS(".")) {
		t.Error(complaint)
	}
}

func TestForbiddenImportsAreReported(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(writeTree(t, map[string]string{
		"worker/x.go":             "package worker\nimport (\n_ \"github.com/gofiber/fiber/v2\"\n_ \"presswork/api\"\n)",
		"tasks/y.go":              "package tasks\nimport _ \"presswork/internal/test/golden\"",
		"internal/drawer/z.go":    "package drawer",
		"bin/_src/fine.go":        "package fine",
		"internal/inference/l.go": "package inference\nimport _ \"presswork\"",
		"internal/chromium/m.go":  "package chromium\nimport _ \"presswork/internal/guard\"",
		"internal/guard/n.go":     "package guard\nimport _ \"presswork\"",
		"storage/minio/fine.go":   "package minio\nimport _ \"presswork/storage\"",
	}))

	got := strings.Join(violations(t, tree), "\n")
	for _, want := range []string{
		"which only api",
		"which is in no lower layer",
		"a test package",
		"is in no layer",
		"internal/inference imports the root",
		"internal/chromium imports internal/guard, which imports the root",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("violations = %q, want %q in it", got, want)
		}
	}

	if strings.Contains(got, "fine.go") {
		t.Errorf("violations = %s, want none of a fine.go: a child may import its parent", got)
	}
}

func TestEveryPackageOfALayerExists(t *testing.T) {
	t.Parallel()

	for n, layer := range layers {
		for _, pkg := range layer {
			if _, err := os.Stat(strings.TrimSuffix(pkg, "/...")); err != nil {
				t.Errorf("layer %d names %s, which does not exist", n, pkg)
			}
		}
	}
}

// TestPagesForContributorsNameWhatExists fails when a page names a path that does not exist.
func TestPagesForContributorsNameWhatExists(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(
		"`((?:api|cmd|docs|internal|storage|tasks|themes|web|worker)/[a-z0-9_./]+|[a-z_]+\\.(?:go|tsx?|css))`")

	for _, page := range []string{"docs/architecture.md", "CONTRIBUTING.md"} {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}

		paths := pattern.FindAllStringSubmatch(string(b), -1)
		if len(paths) < 20 {
			t.Errorf("%s: found %d paths, want at least 20; does the pattern fit the page?", page, len(paths))
		}

		for _, p := range paths {
			name := strings.TrimSuffix(p[1], "/...")
			// The pages name the sources of the web pages without their folder.
			if !strings.Contains(name, "/") && !strings.HasSuffix(name, ".go") {
				name = "web/src/" + name
			}

			if _, err := os.Stat(name); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

// TestPackagesUseTheirTechnologies fails when a package in technologies no longer imports
// the library.
func TestPackagesUseTheirTechnologies(t *testing.T) {
	t.Parallel()

	for tech, owners := range technologies {
		for _, pkg := range owners {
			pattern := "*.go"
			if dir, below := strings.CutSuffix(pkg, "/..."); below {
				pkg, pattern = dir, "*/*.go"
			}

			files, err := fs.Glob(os.DirFS(pkg), pattern)
			if err != nil {
				t.Fatal(err)
			}

			if !slices.ContainsFunc(files, func(name string) bool {
				src, err := os.ReadFile(path.Join(pkg, name))
				return err == nil && !strings.HasSuffix(name, "_test.go") && strings.Contains(string(src), `"`+tech)
			}) {
				t.Errorf("technologies lists %s for %s, which does not import it", pkg, tech)
			}
		}
	}
}

// ignored reports whether the go command skips a folder. `make torture` leaves such folders in bin.
func ignored(dir string) bool {
	base := path.Base(dir)
	return dir != "." && (base[0] == '.' || base[0] == '_' || base == "testdata")
}
