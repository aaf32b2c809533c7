package markdown

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/tree"
)

const (
	// IndexPlace is the class of the block where the index of a document stands.
	IndexPlace = "toc-index"
	// maxIndexEntries bounds the entries of an index.
	maxIndexEntries = 20_000
	// maxIndexTerm bounds, in bytes, what stands in one.
	maxIndexTerm = 300
	// indexClass is the class of a span whose words are an entry.
	indexClass = "index"
)

// IndexEntry is one place that the index of a document lists.
type IndexEntry struct {
	// Terms are what it is listed under, the main term first; SortBy, of the same
	// length, is what each is sorted by.
	Terms, SortBy []string
	// See, if not "", is the entry that it refers to instead of a page, and Also
	// reports whether that is in addition to others.
	See  string
	Also bool
	// ID is the anchor of the place.
	ID string
}

// indexMark is an entry of the index at its place in the text:
//
//	\index{main term!lower term} \index{sorted by@shown} \index{term|see{other}}
type indexMark struct {
	ast.BaseInline
	entry string
	id    string
}

func (*indexMark) Kind() ast.NodeKind { return kindIndexMark }

func (n *indexMark) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

// indexPlace is where the index is to stand.
type indexPlace struct{ ast.BaseBlock }

func (*indexPlace) Kind() ast.NodeKind { return kindIndexPlace }

func (n *indexPlace) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var (
	kindIndexMark  = ast.NewNodeKind("IndexMark")
	kindIndexPlace = ast.NewNodeKind("IndexPlace")

	indexForm = regexp.MustCompile(`^\\index\{((?:[^{}\n]|\{[^{}\n]*\})+)\}`)
	seeForm   = regexp.MustCompile(`^(see|seealso)\{([^{}]*)\}$`)
)

// indexParser parses the entries of an index. The marks themselves are not printed.
type indexParser struct{}

func (indexParser) Trigger() []byte { return []byte{'\\'} }

func (indexParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	if !bytes.HasPrefix(line, []byte(`\index{`)) || dialectOf(pc) == GFM {
		return nil
	}

	m := indexForm.FindSubmatch(line[:min(len(line), maxIndexTerm)])
	if m == nil {
		return nil
	}
	block.Advance(len(m[0]))
	n := &indexMark{entry: string(m[1])}
	n.SetPos(segment.Start)

	return n
}

// noteIndex notes the entries of the index, and gives it its place: where the source
// has it, else at the end, under a heading of its own. Of documents that are printed
// together, only the source says where.
func (d *draft) noteIndex(root ast.Node) {
	src := d.src

	marks := bytes.Contains(src, []byte(`\index{`)) || bytes.Contains(src, []byte("."+indexClass))
	if !marks && !bytes.Contains(src, []byte(`\printindex`)) || d.dialect == GFM {
		return
	}
	placed := false
	tree.EachBlock(root, func(n ast.Node) {
		if p, ok := n.(*ast.Paragraph); ok && p.Lines().Len() == 1 &&
			strings.TrimSpace(string(tree.BlockText(p, src, 1))) == `\printindex` {
			if placed {
				p.Parent().RemoveChild(p.Parent(), p)
				return
			}
			placed = true
			tree.Replace(p, &indexPlace{})
		}
	})
	tree.Each(root, func(n ast.Node) {
		id := fmt.Sprintf("toc-ix-%d", len(d.index)+1)

		switch n := n.(type) {
		case *indexMark:
			if entry, ok := readIndexEntry(n.entry); ok && len(d.index) < maxIndexEntries {
				n.id, entry.ID = id, id
				d.index = append(d.index, entry)
			}
		case *tree.Element:
			term := strings.Join(strings.Fields(tree.PlainText(n, src)), " ")
			if n.Tag != "span" || !tree.HasClass(n, indexClass) || term == "" || len(term) > maxIndexTerm ||
				len(d.index) == maxIndexEntries {
				return
			}

			if own := tree.AttributeText(n, "id"); own != "" {
				id = own
			}
			n.SetAttributeString("id", []byte(id))
			d.index = append(d.index, IndexEntry{Terms: []string{term}, SortBy: []string{term}, ID: id})
		}
	})
	tree.EachBlock(root, func(n ast.Node) {
		if p, ok := n.(*ast.Paragraph); ok && p.HasChildren() && onlyMarks(p, src) {
			marks := ast.NewTextBlock() // no line of its own
			tree.MoveChildren(p, marks)
			tree.Replace(p, marks)
		}
	})

	if len(d.index) > 0 && !placed && d.options.Links == nil {
		d.appendIndex(root)
	}
}

// onlyMarks reports whether entries of the index are all that is in a paragraph.
func onlyMarks(p *ast.Paragraph, src []byte) bool {
	for c := p.FirstChild(); c != nil; c = c.NextSibling() {
		if text, ok := c.(*ast.Text); c.Kind() != kindIndexMark && (!ok || !util.IsBlank(text.Segment.Value(src))) {
			return false
		}
	}

	return true
}

// appendIndex puts the index behind the text, under a heading of the level of the
// chapters.
func (d *draft) appendIndex(root ast.Node) {
	titles, level := 0, 6
	tree.EachBlock(root, func(n ast.Node) {
		if h, ok := n.(*ast.Heading); ok {
			if h.Level == 1 {
				titles++
			} else {
				level = min(level, h.Level)
			}
		}
	})

	if titles > 1 {
		level = 1
	}

	if titles == 1 {
		level = 2
	}
	end := len(d.src)
	d.src = append(d.src[:end:end], IndexTitle(d.options.Lang)...)
	words := ast.NewTextSegment(text.NewSegment(end, len(d.src)))
	words.SetRaw(true)
	h := ast.NewHeading(level)
	h.AppendChild(h, words)
	tree.AddClass(h, tree.Unnumbered)
	h.SetPos(end - 1) // the last line is its own
	root.AppendChild(root, h)
	root.AppendChild(root, &indexPlace{})
}

// readIndexEntry reads an entry in the form of makeindex.
func readIndexEntry(source string) (e IndexEntry, ok bool) {
	terms, command, _ := strings.Cut(source, "|")
	if m := seeForm.FindStringSubmatch(command); m != nil {
		e.See, e.Also = strings.TrimSpace(m[2]), m[1] == "seealso"
	}

	for term := range strings.SplitSeq(terms, "!") {
		key, shown, sorted := strings.Cut(term, "@")
		if !sorted {
			shown = key
		}

		if key, shown = strings.TrimSpace(
			key,
		), strings.TrimSpace(
			shown,
		); key == "" || shown == "" ||
			len(e.Terms) == 3 {
			return e, false
		}
		e.Terms, e.SortBy = append(e.Terms, shown), append(e.SortBy, key)
	}

	return e, true
}

// IndexTitle is "Index" in a language (BCP 47).
func IndexTitle(lang string) string {
	base, _, _ := strings.Cut(strings.ToLower(lang), "-")

	title := map[string]string{
		"ar": "الفهرس", "bg": "Показалец", "ca": "Índex alfabètic", "cs": "Rejstřík", "da": "Register", "de": "Register", "el": "Ευρετήριο",
		"es": "Índice alfabético", "fa": "نمایه", "fi": "Hakemisto", "he": "מפתח", "hi": "अनुक्रमणिका", "hr": "Kazalo", "hu": "Tárgymutató",
		"id": "Indeks", "it": "Indice analitico", "ja": "索引", "ko": "찾아보기", "nb": "Register", "nl": "Register", "no": "Register", "pl": "Indeks",
		"pt": "Índice remissivo", "ro": "Index", "ru": "Предметный указатель", "sk": "Register", "sl": "Stvarno kazalo", "sv": "Register",
		"th": "ดัชนี", "tr": "Dizin", "uk": "Покажчик", "vi": "Chỉ mục", "zh": "索引",
	}[base]
	if title == "" {
		return "Index"
	}

	return title
}

// indexRenderer renders what belongs to the index.
type indexRenderer struct{}

func (indexRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindIndexMark, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if id := n.(*indexMark).id; entering && id != "" {
			_, _ = w.WriteString(`<a id="` + html.EscapeString(id) + `"></a>`)
		}

		return ast.WalkContinue, nil
	})
	reg.Register(kindIndexPlace, func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString(`<nav class="` + IndexPlace + "\"></nav>\n")
		}

		return ast.WalkContinue, nil
	})
}

// IndexWord is "see" or "see also" in a language (BCP 47).
func IndexWord(word, lang string) string {
	base, _, _ := strings.Cut(strings.ToLower(lang), "-")

	words := map[string][2]string{
		"de": {"siehe", "siehe auch"}, "es": {"véase", "véase también"}, "fr": {"voir", "voir aussi"}, "it": {"vedi", "vedi anche"},
		"nl": {"zie", "zie ook"}, "pl": {"zob.", "zob. też"}, "pt": {"ver", "ver também"}, "ru": {"см.", "см. также"}, "sv": {"se", "se även"},
	}[base]
	switch {
	case words[0] == "":
		return word
	case word == "see":
		return words[0]
	}

	return words[1]
}
