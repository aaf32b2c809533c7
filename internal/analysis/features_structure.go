package analysis

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"presswork/internal/lazyregexp"
)

// structureNames names the structural features, in the order of structure's result.
var structureNames = []string{
	"code",
	"tables",
	"lists",
	"ordered",
	"tasks",
	"quotes",
	"html",
	"rules",
	"links",
	"images",
	"badges",
	"front",
	"heads",
	"head_depth",
	"head_code",
	"head_version",
	"head_date",
	"head_step",
	"head_clause",
	"head_roman",
	"head_question",
	"head_caps",
	"no_heads",
	"title_name",
	"title_code",
	"title_word",
	"title_none",
	"verse",
	"dialogue",
	"past",
	"i",
	"we",
	"you",
	"they",
	"imperative",
	"paragraph_long",
	"sentence_long",
	"item_short",
	"item_long",
	"short",
	"long",
	"digits",
	"money",
	"money_table",
	"percent",
	"labels",
	"salutation",
	"closing",
	"citations",
	"math",
	"issues",
	"versions",
	"date_top",
	"contact",
	"spans",
	"questions",
	"exclaims",
	"shall",
	"quantities",
	"speakers",
	"prose",
	"codespans",
	"stanzas",
	"narrative",
	"ragged",
	"self",
	"others",
	"narrated",
	"orders",
	"speech",
	"introduction",
	"turns",
	"shell",
	"link_items",
	"link_heads",
	"sections",
	"front_date",
	"front_tags",
	"front_page",
	"inside",
	"hosts",
	"installs",
	"tree",
	"tops",
	"adorned",
	"front_title",
	"front_author",
	"front_order",
	"front_slug",
	"title_long",
	"title_digit",
	"title_issue",
	"title_asks",
	"item_spoken",
	"steps",
	"cast",
	"born",
	"short_intro",
	"chapter",
	"lesson",
	"head_order",
	"loose_verse",
}

// Patterns of headings and lines. RE2 matches them in linear time.
var (
	versionLike = lazyregexp.New(
		`(?i)^\W{0,3}(?:version |release |v\.? ?)?\[?v?\d+\.\d+(?:\.[\dx]+)?\]?|^\[?unreleased` +
			`|^[\w@/.-]{2,40} v?\d+\.\d+\.\d+`,
	)
	dateLike = lazyregexp.New(
		`(?i)(?:^|\W)(?:(?:19|20)\d\d[-/.](?:0?[1-9]|1[0-2])[-/.](?:[0-3]?\d)|[0-3]?\d[./](?:0?[1-9]` +
			`|1[0-2])[./](?:19|20)?\d\d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov` +
			`|dec)[a-z]{0,6}\.? [0-3]?\d(?:st` +
			`|nd|rd|th)?,? (?:19|20)\d\d|[0-3]?\d(?:st|nd|rd|th|\.)? (?:of |de )?\p{L}{3,12}\.?,? (?:de )?(?:19` +
			`|20)\d\d` +
			`|(?:19|20)\d\d ?[年년] ?\d{1,2} ?[月월])`,
	)
	// dayLike matches a date without a year, or with two digits of it, as headings of minutes and diaries have.
	dayLike = lazyregexp.New(
		`^\W*\d{1,2}[./]\d{1,2}\.?(?:\W|$)|^\W*\d\d[./-]\d{1,2}[./-]\d{1,2}(?:\W|$)|\d{1,2} ?[月월] ?\d{1,2} ?[日일]`,
	)
	stepLike = lazyregexp.New(
		`(?i)^(?:step|schritt|étape|paso|part|lesson|exercise)\s+(?:\d+|one|two|three|four)|^\d{1,2}[.)] \p{L}+`,
	)
	clauseLike = lazyregexp.New(
		`(?i)^(?:§+ ?\d|\d+ ?§|art(?:icle|ikel|ículo|igo|icolo|ykuł)?\.? \d+|article [ivx]+|section \d+|clause \d+` +
			`|(?:čl(?:ánek)?\.?|madde|статья|стаття|điều|pasal|المادة|ماده|अनुच्छेद|ข้อ) ?[\p{N}(]` +
			`|第 ?[一二三四五六七八九十百\d]+ ?[条條款]|제 ?\d+ ?조` +
			`|\d{1,2}\.\d{1,2}\.?\s|\d{1,2}[.)] \p{L}|[A-Z]\. \p{L}|\([a-z]\) )`,
	)
	romanLike = lazyregexp.New(
		`(?i)^(?:(?:[ivxl]+\.?)|(?:chapter|kapitel|chapitre|capítulo|canto|part) .{1,30}|\* \* \*|\d{1,2}\.?)$`,
	)
	moneyLike = lazyregexp.New(
		`(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|R\$)) ?\d[\d.,]*|\d[\d.,]* ?(?:€|£|\$|zł|Kč|kr\b|EUR\b|USD\b|GBP\b|CHF\b)`,
	)
	spanLike = lazyregexp.New(
		`(?i)(?:19|20)\d\d(?:[./年년 ]{1,2}\d{1,2}[月월]?)?\s?(?:–|-|—|~|〜|～|to|bis|à|a|至)\s?` +
			`(?:(?:[a-z]{3,9}\.? )?(?:19|20)\d\d|present|now|today|current|heute|ongoing|aujourd|presente|actual` +
			`|atual` +
			`|至今|今|現在|현재|настоящее|obecnie|günümüz|devam|sekarang|nay|heden|nå|oggi|الآن|اکنون)`,
	)
	contactLike = lazyregexp.New(
		`[\w.+-]+@[\w-]+\.[\w.]{2,}|(?:\+|\(?0)\d[\d ()/.-]{7,}|\(\d{3}\) ?\d{3}-\d{4}|\b\d{3}[-.]\d{3}[-.]\d{4}`,
	)
	quantityLike = lazyregexp.New(
		`(?i)^(?:about |ca\.? )?(?:\d+(?:[.,/]\d+)?|[¼½¾⅓⅔]|one|two|three|half|a (?:few|pinch|handful|splash)|pinch` +
			`|eine?|une?|un) ?(?:[¼½¾⅓⅔])?[ -]?(?:x |(?:k?g|ml|cl|dl|l|oz|lbs?|cups?|tbsp|tsp|el|tl|teaspoons?` +
			`|tablespoons?|cloves?|slices?|cans?|pinch|sticks?|cl|grams?|tasses?|cuillères?|cucharad\w+|tazas?` +
			`|large` +
			`|medium|small|eggs?|onions?)\b|\p{L}+(?: \p{L}+){0,4}$)`,
	)
	signedOff = lazyregexp.New(
		`(?i)^(?:(?:yours|sincerely|kind(?:est)? regards|best(?: regards| wishes)?|warm(?:est|ly)?(?: regards)?` +
			`|regards|respectfully|cordially|with (?:all my|love|gratitude|best|kind|warm|appreciation|deep)|love` +
			`|cheers|many thanks|thank you|thanks|all (?:the|my) (?:best|love)|faithfully|gratefully|your (?:friend` +
			`|loving|devoted)|(?:forever|always|ever) yours?|in liebe|con amore|mit freundlichen|(?:freundliche` +
			`|viele` +
			`|liebe|herzliche|beste) grüße|hochachtungsvoll|cordialement|bien à (?:vous|toi)|veuillez agréer` +
			`|amicalement|atentamente|(?:un )?(?:cordial )?saludos?|un abrazo|atenciosamente|abraços?` +
			`|cordiali saluti` +
			`|distinti saluti|z poważaniem|pozdrawiam|met vriendelijke groet|hoogachtend|saygılarım|sevgilerle` +
			`|hormat (?:saya|kami)` +
			`|(?:med )?(?:vänliga|venlige?|vennlig) (?:hälsningar|hilsen)|ystävällisin|terveisin|s pozdravem` +
			`|s úctou` +
			`|üdvözlettel|tisztelettel|cu stimă)\b.{0,60}|(?:yours|sincerely|love),?|(?:此致|敬礼|敬具|草々|かしこ|顺颂|谨上|敬上` +
			`|с уважением|искренне ваш|з повагою|trân trọng|مع (?:خالص )?التحي|تحياتي|با احترام|با تشکر|सादर` +
			`|भवदीय).{0,60}` +
			`|.{1,20} ?(?:드림|올림|敬上|谨上|拝))$`,
	)
	greeting = lazyregexp.New(
		`(?i)^(?:(?:my (?:love|darling|beloved|sweetheart)|darling|meine? liebste[rn]?|mon amour|ma chérie` +
			`|mi amor)(?: \p{L}+)?[,!:]$|(?:dear|to whom it may concern|my dear(?:est)?|dearest|sehr geehrte` +
			`|liebe[rs]?` +
			`|cher|chère|chers|madame|monsieur|estimad[oa]s?|querid[oa]s?|prezad[oa]s?|gentile|caro|cara|hi|hello` +
			`|geachte` +
			`|beste|szanown\p{L}+|drog(?:i|a|ie)|sayın|sevgili|kepada|dengan hormat|kính (?:gửi|thưa)|thân gửi` +
			`|kära|bästa|kære|kjære` +
			`|arvoisa|vážen\p{L}+|tisztelt|kedves|stimat\p{L}+|уважаем\p{L}+|дорог(?:ой|ая|ие)|шановн\p{L}+` +
			`|عزيز\p{L}*|حضرة` +
			`|جناب|با سلام|प्रिय|आदरणीय|尊敬的|亲爱的|各位|敬启者|拝啓|謹啓|前略|존경하는|안녕하십니까) ?[^.!?。]{0,60}[,:!，：]?$)`,
	)
)

// structure returns the structural features, each between 0 and 1.
func structure(r *reading) []float64 {
	f := map[string]float64{}
	words := max(r.proseWords(), 1)
	lines := max(r.Lines, 1)
	hundreds := float64(words) / 100
	scale := max(r.scale, 0.001) // words/scale estimates the words of the parsed text
	f["code"] = ratio(r.CodeLines, lines)
	f["tables"] = ratio(r.TableLines, lines)
	f["lists"] = ratio(r.Items, lines)
	f["quotes"] = ratio(r.QuoteLines, lines)
	f["html"] = ratio(r.HTMLLines, lines)
	f["rules"] = saturate(ratio(r.Rules*20, lines), 1)
	f["links"] = saturate(float64(r.ev.links)/hundreds, 3)
	f["images"] = saturate(float64(r.ev.images)/hundreds, 1)
	f["badges"] = saturate(float64(r.ev.badges), 1)
	f["front"] = indicator(len(r.front) > 0)
	f["citations"] = saturate(float64(r.ev.citations)/hundreds, 1)
	f["math"] = saturate(float64(r.ev.math)/hundreds, 1)
	f["issues"] = saturate(float64(r.ev.issues)/hundreds, 0.6)
	f["codespans"] = saturate(float64(r.ev.codeSpans)/hundreds, 2)
	f["short"] = saturate(120, float64(words)/scale)
	f["long"] = saturate(float64(words)/scale, 2500)
	headingFeatures(r, f, hundreds/scale)
	lineFeatures(r, f)
	itemFeatures(r, f)
	wordFeatures(r, f)
	edgeFeatures(r, f)
	voiceFeatures(r, f)
	formFeatures(r, f)
	originFeatures(r, f)
	speakingFeatures(r, f)
	f["narrative"] = f["past"] * max(f["they"], f["i"]) * f["prose"] * (1 - f["links"])

	x := make([]float64, len(structureNames))
	for i, name := range structureNames {
		x[i] = min(1, max(0, f[name]))
	}

	return x
}

// headingFeatures sets the features of headings and of the title. hundreds is the length of the whole document, in
// hundreds of words.
func headingFeatures(r *reading, f map[string]float64, hundreds float64) {
	n := len(r.headings)
	f["no_heads"] = indicator(n == 0)
	f["heads"] = saturate(float64(n)/hundreds, 1.2)

	deepest, counts := 0, map[string]int{}
	for _, h := range r.headings[:min(n, 500)] {
		deepest, h.text = max(deepest, h.level), asciiDigits(h.text)
		for name, hit := range map[string]bool{
			"head_code":     h.code,
			"head_version":  versionLike().MatchString(h.text),
			"head_date":     hasDigit(h.text) && (dateLike().MatchString(h.text) || dayLike().MatchString(h.text)),
			"head_step":     stepLike().MatchString(h.text),
			"head_clause":   clauseLike().MatchString(h.text),
			"head_roman":    romanLike().MatchString(strings.TrimSpace(h.text)),
			"head_question": strings.HasSuffix(h.text, "?"),
			"head_caps":     allCapitals(h.text),
		} {
			if hit {
				counts[name]++
			}
		}
	}

	for name, c := range counts {
		f[name] = ratio(c, min(n, 500)) * saturate(float64(c), 0.5)
	}
	f["head_depth"] = saturate(float64(max(deepest-2, 0)), 1)
	title := r.title()
	f["title_none"] = indicator(title == "")
	f["title_name"] = indicator(personName(title))
	f["title_code"] = indicator(looksLikeCall(title) || n > 0 && r.headings[0].level == 1 && r.headings[0].code)
	f["title_word"] = indicator(
		title != "" && !strings.Contains(strings.TrimSpace(title), " ") && title == strings.ToLower(title),
	)
}

// allCapitals reports whether s has at least four capital letters and no small ones.
func allCapitals(s string) bool {
	upper := 0

	for _, c := range s {
		if unicode.IsLower(c) {
			return false
		}

		if unicode.IsUpper(c) {
			upper++
		}
	}

	return upper > 3
}

// personName reports whether a title is a name such as "Ada Lovelace" or "Dr. Jane M. Doe".
func personName(s string) bool {
	words := strings.Fields(strings.TrimRight(s, "."))
	if len(words) < 2 || len(words) > 4 {
		return false
	}

	for _, w := range words {
		c, size := utf8.DecodeRuneInString(w)

		w = strings.ToLower(strings.TrimRight(w, ".,"))
		// A word of a name begins with a capital letter, except "de" and the like, and does not occur in titles.
		if !unicode.IsUpper(c) && w != "de" && w != "van" && w != "von" && w != "da" ||
			slices.Contains(titleWords, w) || strings.IndexFunc(w[size:], notName) >= 0 {
			return false
		}
	}

	return true
}

// notName reports whether c does not occur in names.
func notName(c rune) bool { return !unicode.IsLetter(c) && c != '-' && c != '\'' && c != '’' }

// titleWords occur in titles but not in names.
var titleWords = strings.Fields(
	`the a an of and in on for to with guide report notes meeting api reference project annual
	release code conduct policy terms service how what why my your our new getting started about style design proposal
	invoice newsletter letter changelog contributing readme privacy community development developer user manual plan
	summary introduction overview weekly monthly update roadmap soup bread salad cake chicken pie sauce curry
	statement agreement license committee charter review minutes analysis system data test retro summit
	songs ode song night day morning summer winter spring autumn love death war letters tale story proposal
	little old great last first one two three lost house garden river
	sea city road street home world time life work cheat sheet quick start grilled baked roasted fried`,
)

// featureNames returns the names of the features in order: four lexicon features for each type, then the
// structural ones.
func featureNames() []string {
	var names []string

	for _, p := range spotNames {
		for _, t := range DocumentTypes() {
			names = append(names, t+"."+p)
		}
	}

	return append(names, structureNames...)
}

// lexiconScale holds, for each spot, the lexicon score that gives a feature of 0.63. Features approach 1 as the
// score grows.
var lexiconScale = [spotCount]float64{inTitle: 3, inHeading: 4.5, inText: 5, inFront: 3}

// features returns the features of a document. All values are between 0 and 1.
func features(r *reading) []float64 {
	found := typeTerms().score(r)

	x := make([]float64, 0, len(structureNames)+int(spotCount)*len(found[0]))
	for p := range found {
		for _, v := range found[p] {
			x = append(x, 1-math.Exp(-v/lexiconScale[p]))
		}
	}

	return append(x, structure(r)...)
}

// ratio returns a/b, or 0 if b is 0.
func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}

	return float64(a) / float64(b)
}

// saturate maps a rate of 0 or more to a value between 0 and 1. The rate half gives 0.5.
func saturate(rate, half float64) float64 { return rate / (rate + half) }

// indicator returns 1 if b holds, else 0.
func indicator(b bool) float64 {
	if b {
		return 1
	}

	return 0
}
