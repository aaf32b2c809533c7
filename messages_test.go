package presswork_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// publicCauses lists the files that put another error's text into a public message, with the
// reason why that text may be public.
var publicCauses = map[string]string{
	"internal/guard/dial.go":                "the text is this package's own, about the host that the caller named",
	"internal/guard/fetch.go":               "the texts of internal/imagetype are constants",
	"internal/guard/url.go":                 "the text is this package's own, about the address that the caller named",
	"internal/cache/config.go":              "the user of the command line made the settings",
	"internal/inference/images.go":          "the texts of internal/imagetype are constants",
	"internal/input/json.go":                "a JSON syntax error quotes the caller's own body",
	"internal/inference/gateway/calls.go":   "a schema describes the errors in the model's answer",
	"internal/inference/jsonbody/object.go": "a JSON syntax error quotes the caller's own body",
	"internal/markdown/formula/formula.go":  "the text is that of internal/markdown/tex, about the author's formula",
	"internal/markdown/frontmatter/toml.go": "a syntax error quotes the caller's own front matter",
}

// TestPublicMessagesHoldNoOtherError reads the sources: a function that creates public
// errors must not get an error or an error's text. The text of a cause may hold a path, an
// address or the output of a program.
func TestPublicMessagesHoldNoOtherError(t *testing.T) {
	t.Parallel()

	complaints, calls := leaks(t, os.DirFS("."))
	for _, c := range complaints {
		t.Error(c)
	}

	if calls < 150 {
		t.Errorf("found %d calls that create public messages, want at least 150", calls)
	}
}

func TestPublicMessagesWithOtherErrorsAreReported(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(writeTree(t, map[string]string{
		"a/direct.go": `package a; func f() error { return fault.Errorf(c, "x: %v", err) }`,
		"b/text.go":   `package b; func f() error { return fault.Errorf(c, "x: %s", err.Error()) }`,
		"c/wrapper.go": `package c
			func bad(s string, args ...any) error { return fault.Errorf(c, s, args...) }
			func f() error { return bad("x: %v", readErr) }`,
		"d/literal.go":              `package d; func f() error { return &fault.Error{Code: c, Message: err.Error()} }`,
		"bin/_src/previous/fine.go": `package f; func f() error { return fault.Errorf(c, "x: %v", err) }`,
		"e/fine.go":                 `package e; func f() error { return fault.Errorf(c, "x %s", name).WithCause(err) }`,
	}))
	complaints, _ := leaks(t, tree)

	got := strings.Join(complaints, "\n")
	for _, file := range []string{"direct.go", "text.go", "wrapper.go", "literal.go"} {
		if !strings.Contains(got, file) {
			t.Errorf("leaks = %q, want %s in it", got, file)
		}
	}

	if strings.Contains(got, "fine.go") {
		t.Errorf("leaks = %s, want none of a fine.go: a private cause is allowed", got)
	}
}

// leaks returns a line for each public message that is built from another error, and the number of calls that
// create public messages.
func leaks(t *testing.T, tree fs.FS) (complaints []string, calls int) {
	t.Helper()
	set := token.NewFileSet()
	packages := map[string]map[string]*ast.File{}

	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && ignored(name) {
			return cmp.Or(err, fs.SkipDir)
		}
		dir := path.Dir(name)
		// A user of the command line may read the errors of their own machine.
		local := dir == "internal/local" || strings.HasPrefix(dir, "cmd/") || isTestPackage(dir)
		if d.IsDir() || local || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}

		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(set, name, src, parser.SkipObjectResolution)

		if packages[dir] == nil {
			packages[dir] = map[string]*ast.File{}
		}
		packages[dir][name] = f

		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	for _, files := range packages {
		creators := errorCreators(files)
		for name, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				var words []ast.Expr

				switch n := n.(type) {
				case *ast.CallExpr:
					if creators[calleeOf(n)] {
						words = n.Args
						calls++
					}
				case *ast.CompositeLit:
					words = messageOf(n)
				}

				for _, word := range words {
					if showsError(word) && publicCauses[name] == "" {
						complaints = append(complaints, fmt.Sprintf(
							"%s: a public message holds an error; pass it to WithCause", set.Position(word.Pos())))
					}
				}

				return true
			})
		}
	}

	return complaints, calls
}

// errorCreators returns the names of the functions whose arguments become a public message. These are Errorf and the
// functions of the package that pass their own arguments to another of them.
func errorCreators(files map[string]*ast.File) map[string]bool {
	creators := map[string]bool{"fault.Errorf": true, "inference.Errorf": true, "inference.Invalidf": true}

	for grown := true; grown; {
		grown = false

		for _, file := range files {
			if name := file.Name.Name; name == "presswork" || name == "inference" {
				creators["Errorf"] = true
			}

			for _, decl := range file.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok || creators[fn.Name.Name] || fn.Body == nil {
					continue
				}
				ast.Inspect(fn.Body, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok && call.Ellipsis.IsValid() && creators[calleeOf(call)] {
						creators[fn.Name.Name], grown = true, true
					}

					return true
				})
			}
		}
	}

	return creators
}

// calleeOf returns the name of a called function, with its package or receiver.
func calleeOf(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}

		return f.Sel.Name
	}

	return ""
}

// messageOf returns the field Message of an Error or Warning that is created without Errorf.
func messageOf(lit *ast.CompositeLit) (words []ast.Expr) {
	for _, element := range lit.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok && key.Name == "Message" {
				words = append(words, pair.Value)
			}
		}
	}

	return words
}

// showsError reports whether an expression has an error in it, which it knows by the name, or the text of an error.
func showsError(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if name := calleeOf(n); name == "Error" || strings.HasSuffix(name, ".Error") ||
				strings.HasSuffix(name, ".Cause") {
				found = true
			}
		case *ast.SelectorExpr:
			// The field Message of an error is public already.
			return false
		case *ast.Ident:
			if n.Name == "err" || n.Name == "cause" || strings.HasSuffix(n.Name, "Err") {
				found = true
			}
		}

		return true
	})

	return found
}
