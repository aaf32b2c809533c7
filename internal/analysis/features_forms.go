package analysis

import (
	"strings"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown"
)

// introduction matches a sentence in which the writer says who he or she is, or welcomes visitors.
var introduction = lazyregexp.New(
	`(?i)(?:^|[\s.!?,*_—–-])(?:i[’']?m (?:an? |the )?\p{L}|i am (?:an? |the |\p{Lu})|my name is|hi,? i|ich bin` +
		`|ich hei(?:ß|ss)e|mein name ist` +
		`|je suis|je m[’']appelle|mon nom est|soy |me llamo|mi nombre es|eu sou|sou (?:um|o|a) |me chamo|meu nome` +
		`|mi chiamo|io sono|sono un|ik ben|mijn naam is|mijn naam|jag heter|jag är|jeg hedder|jeg heter|jeg er|olen ` +
		`|nimeni on|nazywam się|jestem |mam na imię|jmenuji se|jsem |benim adım|adım |ben [\p{L}]+|nama saya` +
		`|saya adalah|nama gua|saya seorang` +
		`|tôi là|tên tôi là|mình là|меня зовут|мене звати|привет[!,] я|numele meu|a nevem)` +
		`|我是|我叫|大家好|私は|と申します|です。.{0,20}エンジニア|저는|제 이름은|나는 .{1,12}이다|안녕하세요` +
		`|أنا |اسمي|من .{2,30} هستم|मेरा नाम|मैं .{2,40} (?:हूं|हूँ)`,
)

// numbered matches the number of a section heading: "1.2 Methods", "IV. Results", "二、方法", "第三章".
var numbered = lazyregexp.New(
	`^(?:\d{1,2}(?:\.\d{1,2}){0,3}[.)、．]?\s?\p{L}|[IVX]{1,4}[.)]\s|[一二三四五六七八九十]{1,3}[、.．]|第[一二三四五六七八九十\d]{1,3}[章节節])`,
)

// shellFences are the languages of code fences that hold commands.
var shellFences = map[string]bool{
	"bash":       true,
	"sh":         true,
	"shell":      true,
	"console":    true,
	"zsh":        true,
	"powershell": true,
	"cmd":        true,
	"terminal":   true,
}

// formFeatures sets the features of the order of blocks: code after text, numbered sections, lists of links.
func formFeatures(r *reading, f map[string]float64) {
	var turns, shells, codes, linkItems, items, linkHeads, bodies int
	prose := false

	for _, b := range r.Blocks {
		switch b.Kind {
		case markdown.CodeBlock:
			codes++
			shells += count(shellFences[b.Fence] || strings.HasPrefix(b.Text, "$ "))
			turns += count(prose)
			prose = false
		case markdown.HeadingBlock:
			linkHeads += count(len(b.Addresses) > 0)
		case markdown.ItemBlock:
			items++
			linkItems += count(len(b.Addresses) > 0 && len(b.Linked) > 0 && strings.HasPrefix(b.Text, b.Linked[0]))
			prose = true
		case markdown.ParagraphBlock:
			bodies++
			linkItems += count(len(b.Addresses) > 0 && len(b.Linked) > 0 && 2*len(b.Linked[0]) > len(b.Text))
			prose = true
		}
	}
	words := max(1, float64(r.proseWords())/r.scale/100)
	f["turns"] = saturate(float64(turns)/words, 0.6)
	f["shell"] = ratio(shells, codes) * saturate(float64(shells), 2)
	f["link_items"] = ratio(linkItems, items+bodies) * saturate(float64(linkItems), 4)
	f["link_heads"] = ratio(linkHeads, len(r.headings)) * saturate(float64(linkHeads), 2)

	sections := 0
	for _, h := range r.headings[:min(len(r.headings), 200)] {
		sections += count(numbered().MatchString(h.text))
	}
	f["sections"] = ratio(sections, min(len(r.headings), 200)) * saturate(float64(sections), 1)
	f["front_date"] = indicator(
		r.front.hasAny(
			"date",
			"pubdate",
			"pubdatetime",
			"published",
			"publishdate",
			"published_at",
			"created",
			"createdate",
		),
	)
	f["front_tags"] = indicator(r.front.hasAny("tags", "categories", "category", "tag"))
	f["front_page"] = indicator(r.front.text("layout") == "page" || r.front.hasAny("permalink", "menu", "nav_order"))
}

// hasAny reports whether the front matter has one of the keys with a value.
func (f frontMatter) hasAny(keys ...string) bool {
	for _, k := range keys {
		if f.text(k) != "" {
			return true
		}
	}

	return false
}
