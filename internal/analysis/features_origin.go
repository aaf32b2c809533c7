package analysis

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"presswork/internal/analysis/plaintext"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown"
)

var (
	// installLike matches a command that installs or starts a program.
	installLike = lazyregexp.New(
		`(?m)^\s*(?:[$>#] ?)?(?:sudo )?(?:git clone|npm (?:i|install|ci|start|run)\b|npx |yarn\b|pnpm (?:i` +
			`|install|add|dev)\b` +
			`|bun (?:install|add)|pip3? install|python3? -m (?:pip|venv)|uv (?:sync|pip|add)|poetry install` +
			`|go (?:get|install)` +
			`|cargo (?:install|add|build|run)|brew install|apt(?:-get)? (?:-y )?install|gem install|bundle install` +
			`|composer (?:require|install)|docker(?:-compose| compose)? (?:up|run|build|pull)|mvn |\./gradlew` +
			`|conda (?:create|install))`,
	)
	// issueLike matches the number of an issue of a periodical.
	issueLike = lazyregexp.New(
		`(?i)(?:#|№|n[°º]\.? ?|\b(?:no|nr|vol|issue|ausgabe|numéro|número|numero|edition|edição|edición|edisi)\.? ?#?` +
			`|(?:sayı|số|выпуск|номер|العدد|شماره|अंक) ?#?)\d+|第 ?[一二三四五六七八九十百\d]{1,6} ?[期号號回]|\d+ ?호`,
	)
	// chapterLike matches the number of a chapter.
	chapterLike = lazyregexp.New(
		`(?i)^(?:chapter|kapitel|chapitre|capítulo|capitolo|hoofdstuk|rozdział|kapitola|глава|розділ|bölüm|chương` +
			`|bab|luku` +
			`|fejezet|capitolul|الفصل|فصل|अध्याय|บทที่|ตอนที่) [\p{L}\d]+|^第 ?[零〇一二三四五六七八九十百千\d]{1,8} ?[章回话話节幕卷夜]` +
			`|^\d+ ?화|^제? ?\d+ ?[장화]`,
	)
	// lessonLike matches the number of a lesson or of a day of a course.
	lessonLike = lazyregexp.New(
		`(?i)^(?:day|lesson|lab|unit|module|tag|lektion|jour|leçon|día|lección|dia|aula|lição|giorno|lezione|dag|les|lekcja` +
			`|lekce|урок|занятие|день|ders|gün|bài|buổi|ngày|hari|pertemuan|الدرس|درس|اليوم|روز|पाठ|दिन|บทเรียนที่|วันที่)` +
			`[ #:]{1,2}\p{N}+|^第 ?[一二三四五六七八九十百\d]{1,4} ?[天课課讲講节節]|^\d{1,3} ?(?:日目|일차|강)`,
	)
	// castLike matches a paragraph of a dialogue: who speaks, and what in quotation marks.
	castLike = lazyregexp.New(`^[\p{L} ()（）·]{1,24}[:：] ?[“"「『«„]`)
	// bornLike matches words that begin a biography.
	bornLike = lazyregexp.New(
		`(?i)\b(?:born (?:in|on)|was born|geboren|né(?:e)? (?:le|à|en)|nac(?:ió|í|ido|ida) (?:en|el)` +
			`|nasc(?:eu|i|ido|ida) em|nat[oa] (?:a|il|nel)|urodz\p{L}+|född|født|syntynyt|doğ(?:du|muş)\p{L}*` +
			`|lahir|sinh (?:năm|ra|ngày))` +
			`|родил(?:ся|ась)|народи(?:вся|лася)|出生|生まれ|生於|生于|태어|ولد|متولد|जन्म`,
	)
	// orderLike matches the beginning or the end of an instruction in Chinese, Japanese or Korean.
	orderLike = lazyregexp.New(
		`^(?:点击|點擊|打开|打開|选择|選擇|输入|輸入|下载|下載|安装|安裝|运行|创建|建立|进入|使用|执行|新建|配置|修改|复制|添加|找到|登录|注册` +
			`|กด|เลือก|คลิก|เปิด|พิมพ์|ติดตั้ง|ดาวน์โหลด|สร้าง|เข้า|ไปที่|ใส่|กรอก|ตรวจสอบ|เพิ่ม|บันทึก)` +
			`|(?:ください|します|る|니다|세요|하기)[。.]?$`,
	)
)

// maxCommands limits the part of a code block that is searched for commands, in bytes.
const maxCommands = 4 << 10

// originFeatures sets the features that show where a document comes from. A software project links to its own files
// and says how to install it. A periodical links to many sites. A site generator has its own front matter.
func originFeatures(r *reading, f map[string]float64) {
	var inside, links, installs, programs, trees, tops, adorned int
	hosts := map[string]bool{}

	for _, b := range r.Blocks {
		for _, address := range b.Addresses {
			links++
			inside += count(isInside(address))

			if u, err := url.Parse(address); err == nil && u.Host != "" && len(hosts) < 1000 {
				hosts[u.Host] = true
			}
		}

		if b.Kind == markdown.CodeBlock {
			installs += count(installLike().MatchString(clip(b.Text, maxCommands)))
			programs += count(b.Fence != "")
			trees += count(strings.Contains(b.Text, "── "))
		}
	}

	chapters := count(chapterLike().MatchString(r.title()))
	for _, h := range r.headings {
		chapters += count(chapterLike().MatchString(h.text))
		tops += count(h.level == 1)
		first, _ := utf8.DecodeRuneInString(h.text)
		adorned += count(unicode.Is(unicode.So, first))
	}
	f["inside"] = ratio(inside, links) * saturate(float64(inside), 2)
	f["hosts"] = saturate(float64(len(hosts))/max(1, float64(r.proseWords())/r.scale/100), 2)
	f["installs"] = saturate(float64(installs), 1)
	f["tree"] = indicator(trees > 0)
	f["tops"] = saturate(float64(max(0, tops-1)), 2)

	f["chapter"], f["lesson"] = saturate(float64(chapters), 1), indicator(lessonLike().MatchString(r.title()))
	if programs > 0 && chapters > 0 { // a chapter with code teaches
		f["chapter"], f["lesson"] = 0, 1
	}
	f["adorned"] = ratio(adorned, len(r.headings)) * saturate(float64(adorned), 1)

	f["front_title"] = indicator(r.front.text("title") != "")
	f["front_author"] = indicator(r.front.hasAny("author", "authors", "affiliation", "institute"))
	f["front_order"] = indicator(
		r.front.hasAny("weight", "sidebar_position", "sidebar_label", "sidebar", "order", "nav_order", "id"),
	)
	f["front_slug"] = indicator(
		r.front.hasAny("slug", "cover", "thumbnail", "image", "excerpt", "description", "draft"),
	)
	titleFeatures(r.title(), f)
}

// isInside reports whether an address is that of a file next to the document.
func isInside(address string) bool {
	return !strings.Contains(address, ":") && !strings.HasPrefix(address, "//")
}

// titleFeatures sets the features of the title's form.
func titleFeatures(title string, f map[string]float64) {
	words, glyphs := 0, 0.0

	for _, t := range plaintext.AppendTokens(nil, title) {
		words++
		glyphs += glyphWords(t)
	}
	f["title_long"] = saturate(float64(words), 6)

	if glyphs > 0 {
		f["title_long"] = saturate(glyphs, 6)
	}
	f["title_digit"] = indicator(hasDigit(title))
	f["title_issue"] = indicator(issueLike().MatchString(title))
	f["title_asks"] = indicator(strings.ContainsAny(title, "?？!！:："))
}

// speakingFeatures sets the features of speakers in a paragraph, and of instructions to readers.
func speakingFeatures(r *reading, f map[string]float64) {
	lists := voiceLists()
	var items, spoken, ordered, steps, paragraphs, cast int
	born := false

	for i, p := range r.passages {
		born = born || i < 4 && bornLike().MatchString(clip(p.text, 400))

		switch p.Kind {
		case markdown.ItemBlock:
			items++
			ordered += count(p.Ordered)
			last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(p.text, ` "'”»」`))
			spoken += count(!p.Lead && !p.Ordered && strings.ContainsRune("!?…！？", last))
			steps += count(p.Ordered && isOrder(lists, clip(p.text, 200)))
		case markdown.ParagraphBlock, markdown.QuoteBlock:
			paragraphs++
			cast += count(castLike().MatchString(clip(p.text, 100)))
		}
	}

	orders := 0
	for _, h := range r.headings[:min(len(r.headings), 100)] {
		orders += count(isOrder(lists, strings.TrimLeft(h.text, "0123456789.) ")))
	}
	f["head_order"] = ratio(orders, min(len(r.headings), 100)) * saturate(float64(orders), 1)
	f["item_spoken"] = ratio(spoken, items) * saturate(float64(spoken), 2)
	f["steps"] = ratio(steps, ordered) * saturate(float64(steps), 1)
	f["cast"] = ratio(cast, paragraphs) * saturate(float64(cast), 2)
	f["born"] = indicator(born)
	f["short_intro"] = f["introduction"] * f["short"]
}

// isOrder reports whether an item tells the reader to do something.
func isOrder(lists voiceWords, item string) bool {
	tokens := plaintext.AppendTokens(nil, item)
	if len(tokens) == 0 {
		return false
	}

	if imperatives[tokens[0]] || orderLike().MatchString(item) {
		return true
	}

	for _, t := range []string{tokens[0], tokens[len(tokens)-1]} { // the verb is first or last
		if v, ok := lists.of(t); ok && v == orderVoice {
			return true
		}
	}

	return false
}
