package presswork_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// violations returns a line for each import in tree that breaks a rule of layers_test.go.
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
			out = append(out, brokenRules(name, pkg, layer, imported, layerOf)...)

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
			if path := pathToRoot(imports, pkg, map[string]bool{}); path != "" {
				out = append(out, pkg+path+": a library must not import the root")
			}
		}
	}

	return out
}

// pathToRoot describes how a package imports the root, directly or through others. It
// returns "" if the package does not.
func pathToRoot(imports map[string][]string, pkg string, seen map[string]bool) string {
	if seen[pkg] {
		return ""
	}
	seen[pkg] = true

	if slices.Contains(imports[pkg], ".") {
		return " imports the root"
	}

	for _, target := range imports[pkg] {
		if path := pathToRoot(imports, target, seen); path != "" {
			return " imports " + target + ", which" + path
		}
	}

	return ""
}

// packageOf returns the folder of an imported package. ok is false for packages of other modules.
func packageOf(imported string) (pkg string, ok bool) {
	if imported == "presswork" {
		return ".", true
	}

	return strings.CutPrefix(imported, "presswork/")
}

// lookUp returns the layer of a package or of the /... entry above it. ok is false if neither has one.
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

// brokenRules returns a line for each rule that one import breaks.
func brokenRules(name, pkg string, layer int, imported string, layerOf map[string]int) (out []string) {
	for _, tech := range slices.Sorted(maps.Keys(technologies)) {
		if owners := technologies[tech]; strings.HasPrefix(imported, tech) && !lists(owners, pkg) {
			out = append(out, fmt.Sprintf("%s imports %s, which only %s may import",
				name, imported, strings.Join(owners, ", ")))
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
		out = append(out, fmt.Sprintf("%s (layer %d) imports %s (layer %d), which is in no lower layer",
			name, layer, target, to))
	}

	return out
}

// writeTree creates files with these texts, by path, in a new directory and returns its path.
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
