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
	"presswork/internal/markdown/ext/wikilink"
	"presswork/internal/markdown/finish"
	"presswork/internal/markdown/tree"
)

// noteLinksAndImages remembers links into the document, marks images with
// their line and warns of those without alternative text.
func (d *draft) noteLinksAndImages(root ast.Node) {
	outside := map[string]bool{} // the labelled elements of other documents
	for _, l := range d.options.Labels {
		outside[l.ID] = true
	}
	tree.Each(root, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Link:
			if fragment, ok := d.elsewhere(n); ok {
				n.Destination = []byte("#" + fragment)
				return
			}

			if target, ok := strings.CutPrefix(string(n.Destination), "#"); ok && target != "" {
				if decoded, err := url.PathUnescape(target); err == nil {
					target = decoded
				}

				if id := d.aliases[target]; id != "" {
					target = id
					n.Destination = []byte("#" + id)
				}

				if !outside[target] {
					d.links = append(d.links, finish.Link{Target: target, Line: d.lines.At(n.Pos())})
				}
			}
		case *ast.Image:
			line := d.lines.At(n.Pos())
			n.SetAttributeString(tree.LineAttribute, []byte(strconv.Itoa(line)))

			if strings.TrimSpace(tree.PlainText(n, d.src)) == "" {
				d.warn(
					fault.AltMissing,
					line,
					"image "+strconv.Quote(input.Short(string(n.Destination)))+" has no alternative text",
				)
			}
		}
	})
}

// imageRenderer writes img elements, whose images finish.HTML embeds.
type imageRenderer struct{}

func (r imageRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindImage, r.image)
}

func (imageRenderer) image(w util.BufWriter, src []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
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

// elsewhere is the fragment for a link to another document that is printed with
// this one.
func (d *draft) elsewhere(n *ast.Link) (fragment string, ok bool) {
	if d.options.Links == nil {
		return "", false
	}

	return d.options.Links(string(n.Destination), d.lines.At(n.Pos()))
}

// resolveWikiLinks makes links of the wiki links that lead somewhere in print.
func (d *draft) resolveWikiLinks(root ast.Node) {
	if !bytes.Contains(d.src, []byte("[[")) {
		return
	}

	to := wikilink.Targets{
		Headings:  make(map[string]string, len(d.headings)),
		Slug:      func(heading string) string { return anchors{}.name(heading) },
		KeepPlain: d.dialect != Obsidian,
		Missing: func(heading string, offset int) {
			d.warn(
				fault.LinkBroken,
				d.lines.At(offset),
				"link to "+input.Short(`"#`+heading+`"`)+", but no heading is named like that",
			)
		},
	}
	for _, h := range d.headings {
		if key := strings.ToLower(h.Text); to.Headings[key] == "" {
			to.Headings[key] = h.ID
		}
	}

	if d.options.Links != nil {
		to.Document = func(destination string, offset int) bool {
			_, ok := d.options.Links(destination, d.lines.At(offset))
			return ok
		}
	}
	wikilink.Resolve(root, to)
}
