package presswork_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// layers is the architecture, lowest layer first. A package imports packages of lower
// layers only; a child may also import its parent. An entry that ends in /... stands for all
// packages below a directory. docs/architecture.md has the same table.
var layers = [][]string{
	{
		"internal/fault",
		"api/conn",
		"api/web",
		"internal/imagetype",
		"internal/lazyregexp",
		"internal/recent",
		"internal/terminal",
		"internal/markdown/block",
		"internal/chromium/printable",
		"internal/markdown/tree",
		"internal/markdown/label",
		"internal/markdown/admonition",
		"internal/analysis/finding",
		"internal/pdffile/pdfa",
	},
	{".", "internal/input", "internal/markdown/source"},
	{
		"tasks/stream",
		"tasks/asynqext",
		"tasks/redisdial",
		"tasks/clock",
		"internal/pdffile",
		"internal/document/epub",
		"internal/document/markup",
		"internal/document/raster",
		"internal/document/arrange",
		"internal/markdown/tex",
		"internal/markdown/cite",
		"internal/markdown/hyphen",
		"internal/markdown/ext/...",
		"internal/markdown/frontmatter",
		"internal/chromium/fonts",
		"internal/chromium/process",
		"internal/markdown/diagram",
		"internal/markdown/dialect/...",
	},
	{
		"internal/markdown/finish",
		"internal/markdown/formula",
		"internal/markdown/include",
		"internal/markdown/sanitize",
	},
	{
		"api/upload",
		"tasks/slots",
		"tasks/record",
		"storage",
		"themes",
		"internal/pdffile/inspect",
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
		"internal/embedded",
		"internal/ready",
		"internal/export",
		"internal/config",
		"internal/keyfile",
		"internal/local/runlog",
		"internal/local/livepage",
	},
	{
		"api/access",
		"tasks/watch",
		"internal/analysis",
		"internal/pdffile/pack",
		"internal/document/contents",
		"internal/document/cover",
		"internal/document/csscost",
		"internal/document/metadata",
		"internal/document/merge",
		"internal/document/preflight",
		"internal/document/sections",
		"internal/document/webfont",
		"internal/inference/gateway",
	},
	{
		"tasks",
		"storage/minio",
		"storage/retention",
		"internal/chromium",
		"internal/analysis/recommend",
		"internal/inference/openai",
		"internal/inference/ollama",
		"internal/inference/browse",
		"internal/inference/audio",
	},
	{"internal/document", "api/openai"},
	{"api", "worker", "tasks/monitor", "internal/local", "internal/client"},
	{"internal/app"},
	{"cmd/presswork"},
}

// technologies lists the only packages that may import a library.
var technologies = map[string][]string{
	"github.com/gofiber/": {"api"},
	"github.com/hibiken/": {"tasks", "tasks/monitor"},
	"github.com/redis/go-redis/": {
		"tasks",
		"tasks/stream",
		"tasks/asynqext",
		"tasks/clock",
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
	"github.com/minio/minio-go/": {"storage/minio"},
	"github.com/go-rod/":         {"internal/chromium"},
	"github.com/yuin/goldmark": {
		"internal/markdown",
		"internal/markdown/tree",
		"internal/markdown/dialect/quarto",
		"internal/markdown/ext/...",
		"internal/markdown/formula",
		"internal/markdown/sanitize",
	},
	"github.com/spf13/cobra": {"cmd/presswork"},
	"database/sql":           {"internal/cache"},
	"modernc.org/sqlite":     {"internal/cache"},
	"github.com/goccy/go-yaml": {
		"api",
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
	"github.com/prometheus/":        {"api", "worker", "tasks", "internal/app"},
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
	return slices.ContainsFunc(
		libraries,
		func(lib string) bool { return pkg == lib || strings.HasPrefix(pkg, lib+"/") },
	)
}

// testPackages may be imported by tests only, and so may all below internal/test.
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

func TestImportsPointDownAndTechnologiesStayWhereTheyAreKnown(t *testing.T) {
	t.Parallel()

	for _, complaint := range violations(t, os.DirFS(".")) {
		t.Error(complaint)
	}
}

func TestAViolationIsSeen(t *testing.T) {
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
		"which only api may know",
		"arrows point down",
		"a test package",
		"is in no layer",
		"internal/inference imports the root",
		"internal/chromium imports internal/guard, which imports the root",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}

	if strings.Contains(got, "fine.go") {
		t.Errorf("complains of a child that knows its parent: %s", got)
	}
}

func TestArchitecturePageListsTheSameLayers(t *testing.T) {
	t.Parallel()

	b, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}

	for n, layer := range layers {
		for _, pkg := range layer {
			if _, err := os.Stat(strings.TrimSuffix(pkg, "/...")); err != nil {
				t.Errorf("layer %d names %s, which does not exist", n, pkg)
			}

			row, name := fmt.Sprintf("| %d |", n), pkg
			if pkg == "." {
				name = "presswork"
			}

			if !slices.ContainsFunc(strings.Split(string(b), "\n"), func(line string) bool {
				return strings.HasPrefix(line, row) && strings.Contains(line, "`"+name+"`")
			}) {
				t.Errorf("docs/architecture.md: the row %q lacks `%s`", row, name)
			}
		}
	}
}

// TestArchitecturePageNamesWhatExists fails when the page names a path that does not exist.
func TestArchitecturePageNamesWhatExists(t *testing.T) {
	t.Parallel()

	b, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}

	paths := regexp.MustCompile("`((?:api|cmd|docs|internal|storage|tasks|themes|worker)/[a-z0-9_./]+|[a-z_]+\\.go)`").
		FindAllStringSubmatch(string(b), -1)
	if len(paths) < 60 {
		t.Errorf("only %d paths were found", len(paths))
	}

	for _, p := range paths {
		if _, err := os.Stat(strings.TrimSuffix(p[1], "/...")); err != nil {
			t.Error(err)
		}
	}
}

// TestTechnologiesAreUsedWhereTheyMayBe fails when a package in technologies no longer imports
// the library.
func TestTechnologiesAreUsedWhereTheyMayBe(t *testing.T) {
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
				t.Errorf("%s has no need of %s", pkg, tech)
			}
		}
	}
}

// ignored reports whether the go command skips a folder. `make torture` leaves such folders in bin.
func ignored(dir string) bool {
	base := path.Base(dir)
	return dir != "." && (base[0] == '.' || base[0] == '_' || base == "testdata")
}

func violations(t *testing.T, tree fs.FS) []string {
	t.Helper()
	layerOf := map[string]int{}

	for n, layer := range layers {
		for _, pkg := range layer {
			layerOf[pkg] = n
		}
	}
	var out []string
	imports := map[string][]string{}

	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		if d.IsDir() && ignored(name) {
			return fs.SkipDir
		}

		if d.IsDir() && name != "." {
			// Another module is checked on its own.
			if _, err := fs.Stat(tree, path.Join(name, "go.mod")); err == nil {
				return fs.SkipDir
			}
		}

		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}

		pkg := path.Dir(name)
		if isTestPackage(pkg) {
			return nil
		}

		layer, ok := lookUp(layerOf, pkg)
		if !ok {
			out = append(out, fmt.Sprintf("%s: package %s is in no layer", name, pkg))
			return nil
		}

		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}

		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
		if err != nil {
			return err
		}

		for _, spec := range f.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			out = append(out, judge(name, pkg, layer, imported, layerOf)...)

			if target, ok := packageOf(imported); ok {
				imports[pkg] = append(imports[pkg], target)
			}
		}

		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	for pkg := range imports {
		if isLibrary(pkg) {
			if way := wayToRoot(imports, pkg, map[string]bool{}); way != "" {
				out = append(out, pkg+way+": libraries do not know the product")
			}
		}
	}

	return out
}

// wayToRoot describes how a package imports the root, directly or through others. It
// returns "" if the package does not.
func wayToRoot(imports map[string][]string, pkg string, seen map[string]bool) string {
	if seen[pkg] {
		return ""
	}
	seen[pkg] = true

	if slices.Contains(imports[pkg], ".") {
		return " imports the root"
	}

	for _, target := range imports[pkg] {
		if way := wayToRoot(imports, target, seen); way != "" {
			return " imports " + target + ", which" + way
		}
	}

	return ""
}

// packageOf returns the folder of an import of this module.
func packageOf(imported string) (pkg string, ok bool) {
	if imported == "presswork" {
		return ".", true
	}

	return strings.CutPrefix(imported, "presswork/")
}

// lookUp returns the layer of a package or of the /... entry above it.
func lookUp(layerOf map[string]int, pkg string) (layer int, ok bool) {
	if layer, ok = layerOf[pkg]; ok {
		return layer, true
	}
	layer, ok = layerOf[path.Dir(pkg)+"/..."]

	return layer, ok
}

// lists reports whether a list has a package or the /... entry above it.
func lists(list []string, pkg string) bool {
	return slices.Contains(list, pkg) || slices.Contains(list, path.Dir(pkg)+"/...")
}

func judge(name, pkg string, layer int, imported string, layerOf map[string]int) (out []string) {
	for _, tech := range slices.Sorted(maps.Keys(technologies)) {
		if owners := technologies[tech]; strings.HasPrefix(imported, tech) && !lists(owners, pkg) {
			out = append(
				out,
				fmt.Sprintf("%s imports %s, which only %s may know", name, imported, strings.Join(owners, ", ")),
			)
		}
	}

	target, ok := packageOf(imported)
	if !ok {
		return out
	}

	if isTestPackage(target) {
		return append(out, fmt.Sprintf("%s imports %s, a test package", name, target))
	}

	if to, ok := lookUp(layerOf, target); ok && to >= layer && path.Dir(pkg) != target {
		out = append(
			out,
			fmt.Sprintf("%s (layer %d) imports %s (layer %d): arrows point down", name, layer, target, to),
		)
	}

	return out
}

func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()

	root := t.TempDir()
	for name, text := range files {
		full := path.Join(root, name)
		if err := os.MkdirAll(path.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	return root
}
