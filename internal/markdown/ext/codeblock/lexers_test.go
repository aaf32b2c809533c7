package codeblock

import (
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"presswork/internal/test/cputime"
)

// Lexers are regular expressions that backtrack. Hostile code must not take them longer than the deadline.
func TestHostileCodeEndsInEachLexer(t *testing.T) {
	t.Parallel()
	const allowed, slack = 10 * time.Millisecond, 20 * time.Second

	size := 20 << 10
	if testing.Short() || raceDetector {
		size = 2 << 10
	}
	hostile := map[string]string{
		"parentheses":  strings.Repeat("(", size),
		"brackets":     strings.Repeat("[{", size/2),
		"a string":     `"` + strings.Repeat(`a\`, size/2),
		"strings":      strings.Repeat(`'"`, size/2),
		"one letter":   strings.Repeat("a", size),
		"digits":       strings.Repeat("0", size),
		"spaces":       strings.Repeat(" ", size) + "x",
		"lines":        strings.Repeat("\n", size),
		"comments":     strings.Repeat("/*", size/2),
		"open tags":    strings.Repeat("<a ", size/3),
		"less than":    strings.Repeat("<", size),
		"dollars":      strings.Repeat("${", size/2),
		"backslashes":  strings.Repeat(`\`, size),
		"here texts":   strings.Repeat("<<A\n", size/4),
		"hashes":       strings.Repeat("#", size),
		"identifiers":  strings.Repeat("a.b::c->", size/8),
		"assignments":  strings.Repeat("a = ", size/4),
		"no character": strings.Repeat("\u0301\ufeff", size/5),
	}

	for _, language := range []string{
		"abap", "awk", "bash", "c", "c++", "c#", "clojure", "cmake", "css", "dart", "diff", "docker", "elixir",
		"erlang", "fsharp", "go", "graphql", "groovy", "haskell", "hcl", "html", "ini", "java", "javascript",
		"json", "julia", "kotlin", "latex", "lua", "make", "matlab", "nginx", "objective-c", "ocaml", "perl",
		"php", "powershell", "protobuf", "python", "r", "ruby", "rust", "scala", "scheme", "scss", "sql", "swift",
		"toml", "typescript", "vim", "xml", "yaml", "zig",
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()

			lexer := lexers.Get(language)
			if lexer == nil {
				t.Fatal("Chroma has no lexer of this name")
			}

			for name, text := range hostile {
				t.Run(name, func(t *testing.T) {
					var tokens []chroma.Token

					took := cputime.Of(func() { tokens = tokenize(lexer, text, time.Now().Add(allowed)) })
					if took > allowed+slack {
						t.Errorf("%s: %s", name, took)
					}

					n := 0
					for _, token := range tokens {
						n += len(token.Value)
					}

					if tokens != nil && n < len(strings.TrimRight(text, "\n")) {
						t.Errorf("%s: %d of %d bytes are left", name, n, len(text))
					}
				})
			}
		})
	}
}
