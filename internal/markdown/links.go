package markdown

import (
	"bytes"
	"html"
	"net/url"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	htmlrender "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/markdown/dialect"
	"presswork/internal/markdown/ext/wikilink"
	"presswork/internal/markdown/finish"
	"presswork/internal/markdown/tree"
)

// noteLinksAndImages resolves links to other documents and collects those within this one. It marks images with
// their source line, for warnings of package finish, and warns of images without alternative text.
func (p *parserState) noteLinksAndImages(root ast.Node) {
	outside := make(map[string]bool, len(p.options.Labels)) // the labelled elements of other documents
	for _, l := range p.options.Labels {
		outside[l.ID] = true
	}
	tree.Each(root, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Link:
			p.resolveLink(n, outside)
		case *ast.Image:
			line := p.warnings.lines.At(n.Pos())
			n.SetAttributeString(tree.LineAttribute, []byte(strconv.Itoa(line)))

			if strings.TrimSpace(tree.PlainText(n, p.src)) == "" {
				p.warnings.onLine(line, fault.AltMissing,
					"image "+strconv.Quote(input.Short(string(n.Destination)))+" has no alternative text")
			}
		}
	})
}

// resolveLink sets the printed address of a link to another document, or to another name of an anchor. It collects
// links within this document, so that finish can check their anchors. outside has the anchors of other documents,
// which finish cannot check.
func (p *parserState) resolveLink(n *ast.Link, outside map[string]bool) {
	line := p.warnings.lines.At(n.Pos())
	if p.options.Links != nil {
		if fragment, ok := p.options.Links(string(n.Destination), line); ok {
			n.Destination = []byte("#" + fragment)
			return
		}
	}

	if p.options.Pages != nil {
		if address, ok := p.options.Pages(string(n.Destination)); ok {
			n.Destination = []byte(address)
			p.pages[address] = true

			return
		}
	}

	target, ok := strings.CutPrefix(string(n.Destination), "#")
	if !ok || target == "" {
		return
	}

	if decoded, err := url.PathUnescape(target); err == nil {
		target = decoded
	}

	if id := p.aliases[target]; id != "" {
		target = id
		n.Destination = []byte("#" + id)
	}

	if !outside[target] {
		p.links = append(p.links, finish.Link{Target: target, Line: line})
	}
}

// resolveWikiLinks turns wiki links into links if their heading or document is printed.
func (p *parserState) resolveWikiLinks(root ast.Node) {
	if !bytes.Contains(p.src, []byte("[[")) {
		return
	}

	to := wikilink.Targets{
		Headings:  make(map[string]string, len(p.out.Headings)),
		Slug:      slugOf,
		KeepPlain: p.dialect != dialect.Obsidian,
		Missing: func(heading string, offset int) {
			p.warnings.at(offset, fault.LinkBroken,
				"link to "+input.Short(`"#`+heading+`"`)+", but no heading is named like that")
		},
	}
	for _, h := range p.out.Headings {
		if key := strings.ToLower(h.Text); to.Headings[key] == "" {
			to.Headings[key] = h.ID
		}
	}

	if p.options.Links != nil {
		to.Document = func(destination string, offset int) bool {
			_, ok := p.options.Links(destination, p.warnings.lines.At(offset))
			return ok
		}
	}
	wikilink.Resolve(root, to)
}

// imageRenderer writes img elements with the addresses of the source. finish.HTML replaces them by the images' data.
type imageRenderer struct{}

func (r imageRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindImage, r.renderImage)
}

// renderImage writes an image. Its alternative text has no markup.
func (imageRenderer) renderImage(w util.BufWriter, src []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.Image)
	_, _ = w.WriteString(`<img src="`)
	_, _ = w.Write(util.EscapeHTML(util.URLEscape(n.Destination, true)))

	_, _ = w.WriteString(`" alt="` + html.EscapeString(tree.PlainText(n, src)) + `"`)
	if n.Title != nil {
		_, _ = w.WriteString(` title="` + html.EscapeString(html.UnescapeString(string(n.Title))) + `"`)
	}
	htmlrender.RenderAttributes(w, n, htmlrender.ImageAttributeFilter)
	_, _ = w.WriteString(`>`)

	return ast.WalkSkipChildren, nil
}
