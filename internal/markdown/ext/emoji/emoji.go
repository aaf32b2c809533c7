// Package emoji replaces GitHub's shortcodes by emoji: :smile:
package emoji

import (
	"bytes"
	_ "embed"
	"html"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/tree"
)

// emojiList has a line for each character of GitHub's list of emoji: the character and its names. The
// images of that list, such as :octocat:, are not in it.
//
//go:embed emoji.txt
var emojiList string

// emojiByName maps names to characters. It is built for the first shortcode: most documents have none.
var emojiByName = sync.OnceValue(func() map[string]string {
	byName := make(map[string]string, 2000)

	for line := range strings.Lines(emojiList) {
		words := strings.Fields(line)
		for _, name := range words[1:] {
			byName[name] = words[0]
		}
	}

	return byName
})

// Emoji is an emoji that the source writes as a shortcode.
type Emoji struct {
	ast.BaseInline
	name string
	// Character is the emoji, which may be several code points.
	Character string
}

// Kind implements ast.Node.
func (*Emoji) Kind() ast.NodeKind { return kindEmoji }

// Dump implements ast.Node.
func (n *Emoji) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

// PlainText returns the character.
func (n *Emoji) PlainText() string { return n.Character }

// AnchorText returns the name, which GitHub uses in the anchors of headings.
func (n *Emoji) AnchorText() string { return n.name }

var kindEmoji = ast.NewNodeKind("Emoji")

// emojiParser parses shortcodes. Unknown names stay as they are, and so does 10:30:45.
type emojiParser struct{}

func (emojiParser) Trigger() []byte { return []byte{':'} }

// Parse reads a shortcode such as :smile: and returns its emoji.
func (emojiParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	const longest = 60 // bytes

	if tree.IsASCIIWord(block.PrecendingCharacter()) {
		return nil
	}
	line, _ := block.PeekLine()
	line = line[1:min(len(line), longest)]

	end := bytes.IndexByte(line, ':')
	if end < 1 || bytes.ContainsAny(line[:end], " \t\n*`[]<") {
		return nil
	}
	// Formatters of Markdown escape underscores in names. GitHub accepts that.
	name := strings.ReplaceAll(string(line[:end]), `\_`, "_")

	character, ok := emojiByName()[name]
	if !ok {
		return nil
	}
	block.Advance(end + 2)

	return &Emoji{name: name, Character: character}
}

type emojiRenderer struct{}

func (r emojiRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindEmoji, r.renderEmoji)
}

// renderEmoji writes the character of an emoji.
func (emojiRenderer) renderEmoji(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(html.EscapeString(node.(*Emoji).Character))
	}

	return ast.WalkContinue, nil
}

// shortcodeForm is the form of :name:.
const shortcodeForm = `:[a-z0-9_+-]{1,60}:`

var (
	// shortcode matches :name:, tagOrShortcode also a tag, whose attributes must not change.
	shortcode      = lazyregexp.New(shortcodeForm)
	tagOrShortcode = lazyregexp.New(`<[^>]*>|` + shortcodeForm)
)

// InHTML returns a block of raw HTML with emoji in place of shortcodes, as GitHub does. It leaves attributes, and the
// content of elements of code, as they are. It may return block itself.
func InHTML(block []byte) []byte {
	if !shortcode().Match(block) {
		return block
	}
	code := 0 // the open elements of code

	return tagOrShortcode().ReplaceAllFunc(block, func(found []byte) []byte {
		if found[0] == '<' {
			code = max(0, code+tree.CodeDepth(found))
		} else if character, ok := emojiByName()[string(found[1:len(found)-1])]; ok && code == 0 {
			return []byte(character)
		}

		return found
	})
}
