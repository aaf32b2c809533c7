package markdown

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"testing"

	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/fault"
	"presswork/internal/markdown/dialect"
	"presswork/internal/markdown/ext/footnote"
	"presswork/internal/markdown/ext/reference"
	"presswork/internal/markdown/source"
)

// unguarded returns the parser without guards and with the footnotes of goldmark.
func unguarded() parser.Parser {
	strip := func(list util.PrioritizedSlice) []util.PrioritizedValue {
		for i := range list {
			switch g := list[i].Value.(type) {
			case inlineGuard:
				list[i].Value = g.InlineParser
			case codeGuard:
				list[i].Value = g.InlineParser
			case paragraphGuard:
				list[i].Value = g.ParagraphTransformer
			}
		}

		return list
	}

	list := extensions(cellParser())
	for i, e := range list {
		if _, ours := e.(footnote.Extension); ours {
			list[i] = extension.Footnote
		}
	}
	config := registered(list)

	return parser.NewParser(
		parser.WithBlockParsers(config.BlockParsers...),
		parser.WithInlineParsers(strip(config.InlineParsers)...),
		parser.WithParagraphTransformers(strip(config.ParagraphTransformers)...),
		parser.WithASTTransformers(config.ASTTransformers...),
	)
}

func FuzzGuardsChangeNothing(f *testing.F) {
	for _, seed := range []string{
		"# a\n\n*b* __c__ ~~d~~ `e``f` [g](h \"i\") ![j](k) <b>l</b> http://m.n\n",
		"- a\n  - b\n    > c\n\n1. d\n\nterm\n: def\n\na[^1]\n\n[^1]: note\n",
		"| a | b |\n|---|:-:|\n| `c|d` | *e* |\n| f |\n",
		"``` a ` b `` c ``\n`d\ne` ``f``` `\n", "~a~~b~~~c~~~~\n~~~~ d\n", "[a]: b 'c'\n[d]: e\n\n[a] [d][] [f][a] [[a]] ![a]\n",
		"!!! note \"a\"\n    b\n\n:::tip\n> c\n:::\n", "[a *b*]{.c} *d*{.e} ==f== ++g++ H~2~O x^2^ :smile:\n{#h}\n\n*[f]: g\n",
		"[[a]] [[a|b]] [[#c]] ![[d.png|9]] %%e%%\n\n%%\nf\n%%\n", "{++a++} {--b--} {~~c~>d~~} {==e==}{>>f<<} {++*g\nh*++}\n", "{/* a */} b {/* c */}\n",
		"a. b\nb. c\n   i. d\n   ii. e\n\n(@) f\n(@g) h (@g)\n\n#. i\n1. j\n", "import a from \"b\"\n\n<C />\n\nexport default d\n", "> [!e]- f\n> g\n",
		"*a **b* c** ***d** e* _f__g_ *[h*](i) [*j](k)*\n", "[^1\n[^2]: x\n[^3][a](b",
		"[^b] ![^a][^b] [^\\]] [^[x] [^none]\n\n[^a]: one [^c]\n[^b]: two\n\n    more\n[^c]:\n[^a]: again\n[^\\]]: x\n> [^q]: in a quote [^q]\n",
	} {
		f.Add(seed)
	}
	guarded, bare, r := newParser(), unguarded(), plainRenderer()
	// Goldmark takes any character between "!" and "^" for the bracket of a reference and drops it. It has no
	// inline notes.
	misread := regexp.MustCompile(`![^\[]\^|\^\[`)
	f.Fuzz(func(t *testing.T, src string) {
		if misread.MatchString(src) {
			return
		}
		source := source.NormalizeNewlines([]byte(src))
		dialect := dialect.Detect(source)
		pc := parser.NewContext()
		pc.Set(dialectKey, dialect)

		root, err := parse(context.Background(), guarded, source, dialect, labelKeys(source))
		if err != nil {
			if fault.CodeOf(err) != fault.ContentTooComplex && fault.CodeOf(err) != fault.RenderFailed {
				t.Fatal(err)
			}

			return
		}

		var got, want bytes.Buffer
		if err := r.Render(&got, source, root); err != nil {
			t.Fatal(err)
		}

		if err := r.Render(&want, source, bare.Parse(text.NewReader(source), parser.WithContext(pc))); err != nil {
			t.Fatal(err)
		}

		if got.String() != want.String() {
			t.Errorf("%q:\nguarded %q\nplain   %q", src, &got, &want)
		}
	})
}

func TestParseReturnsTheCauseOfItsContext(t *testing.T) {
	t.Parallel()
	cause := errors.New("the caller left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)

	if _, err := parse(ctx, newParser(), []byte("# x"), "", reference.None); !errors.Is(err, cause) {
		t.Errorf("got %v, want the cause", err)
	}
}
