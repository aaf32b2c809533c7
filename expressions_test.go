package presswork_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestExpressionsAreCompiledAtFirstUse fails when a package compiles a regular expression at the start of the
// program, and when a literal that lazyregexp compiles later is invalid.
func TestExpressionsAreCompiledAtFirstUse(t *testing.T) {
	t.Parallel()

	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (ignored(name) || name == "tools"):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"), isTestPackage(path.Dir(name)):
			return nil
		}

		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		checkExpressions(t, name, f)

		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkExpressions checks the regular expressions in the variables of a file.
func checkExpressions(t *testing.T, name string, f *ast.File) {
	t.Helper()

	for _, decl := range f.Decls {
		if _, ok := decl.(*ast.FuncDecl); ok {
			continue
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			if _, ok := n.(*ast.FuncLit); ok {
				return false
			}

			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}

			switch calleeOf(call) {
			case "regexp.MustCompile":
				t.Errorf("%s compiles an expression at the start of the program; use lazyregexp.New", name)
			case "lazyregexp.New":
				if expr, ok := literal(call.Args[0]); ok {
					if _, err := regexp.Compile(expr); err != nil {
						t.Errorf("%s: the expression does not compile: %v", name, err)
					}
				}
			}

			return true
		})
	}
}

// literal returns the text of a string literal or of a sum of literals. ok is false for other expressions.
func literal(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, ok := literal(e.X)
		right, all := literal(e.Y)

		return left + right, ok && all
	}

	return "", false
}
