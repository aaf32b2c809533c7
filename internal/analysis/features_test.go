package analysis

import (
	"slices"
	"strings"
	"testing"

	"presswork/internal/analysis/lang"
)

// feature returns a structural feature of a document by its name.
func feature(t *testing.T, markdown, name string) float64 {
	t.Helper()

	i := slices.Index(structureNames, name)
	if i < 0 {
		t.Fatalf("%s is not a feature", name)
	}

	return DocumentFeatures([]byte(markdown))[LexiconFeatures()+i]
}

func TestVoicesAndFormsAreMeasured(t *testing.T) {
	t.Parallel()

	for _, row := range []struct{ name, feature, with, without string }{
		{"first person, Chinese", "self", "我喜欢写作，我住在上海。", "该系统支持多种格式。"},
		{"first person, Polish", "self", "Jestem programistą, moje hobby to góry.", "Program wypisuje wynik."},
		{"third person, Vietnamese", "others", "Ông bèn hỏi nàng, nàng đáp.", "Phần mềm chạy trên máy chủ."},
		{"narration, Korean", "narrated", "그는 문을 열었다. 비가 내렸다.", "이 명령은 목록을 출력합니다."},
		{"orders, Portuguese", "orders", "Clique em salvar e execute o programa.", "O programa é livre."},
		{"speech in corner brackets", "speech", "「どこへ行くの？」と彼女は聞いた。", "「設定」を開く。"},
		{"speech after a dash", "speech", "— Venha, disse ela.", "Nada aconteceu naquele dia."},
		{"introduction, Italian", "introduction", "Mi chiamo Ada e vivo a Roma.", "La città è grande."},
		{"introduction, Korean", "introduction", "안녕하세요, 저는 개발자입니다.", "서버는 세 대입니다."},
		{"code after text", "turns", "First:\n\n```sh\nls\n```\n\nThen:\n\n```sh\npwd\n```\n", "First.\n\nThen.\n"},
		{"commands", "shell", "Run:\n\n```bash\nmake\n```\n", "See:\n\n```go\nfunc f() {}\n```\n"},
		{"a list of links", "link_items", "- [A](https://a.example)\n- [B](https://b.example)\n", "- A\n- B\n"},
		{"headings that are links", "link_heads", "## [A](https://a.example)\n\nx\n", "## A\n\nx\n"},
		{"numbered sections, Chinese", "sections", "## 一、实验目的\n\nx\n\n## 二、实验结果\n\nx\n", "## 目的\n\nx\n"},
		{"a date in the front matter", "front_date", "---\npubDate: 2026-01-02\n---\n\nx\n", "---\ntitle: x\n---\n\nx\n"},
		{"a page in the menu", "front_page", "---\nmenu: main\n---\n\nx\n", "---\ntitle: x\n---\n\nx\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()

			with, without := feature(t, row.with, row.feature), feature(t, row.without, row.feature)
			if with <= without || without != 0 {
				t.Errorf("%s is %.3f with it and %.3f without, want more and 0", row.feature, with, without)
			}
		})
	}
}

func TestPlaceholdersOfSiteGeneratorsAreNotText(t *testing.T) {
	t.Parallel()

	const page = "---\ntitle: \"{{ page.title }}\"\n---\n\n# {{ site.name }}\n\n{% include header.html %}\n\n" +
		"## Ingredients\n\n- 2 carrots\n- 1 onion\n\n## Method\n\nChop the carrots and fry the onion. {{ page.note }}\n"

	r := read([]byte(page))
	if title := r.title(); strings.ContainsAny(title, "{}") {
		t.Errorf("the title is %q", title)
	}

	f := Examine([]byte(page))
	if f.DocumentType != "recipe" {
		t.Errorf("type %s, want recipe", f.DocumentType)
	}

	for _, k := range f.Keywords {
		if strings.ContainsAny(k.Term, "{}") || strings.Contains(k.Term, "page") || strings.Contains(k.Term, "site") {
			t.Errorf("keyword %q is a placeholder", k.Term)
		}
	}
}

func TestGroupsOfLanguagesHaveTheirOwnCalibration(t *testing.T) {
	t.Parallel()

	w := Weights{
		Rows:        [][]float64{{0, 0}, {2, 0}},
		Calibration: Calibration{1, 0.1},
		Groups:      map[lang.Group]Calibration{lang.Latin: {2, 0}, lang.CJK: {3, 0}},
	}
	probability := func(language string) float64 { return w.In(language).Probabilities([]float64{1})[1] }

	if !(probability("en") > probability("pl") && probability("pl") > probability("zh-Hant")) {
		t.Error("a higher temperature must lower the probability")
	}

	again, err := parseWeights(typeModel().String())
	for _, group := range lang.Groups() {
		if c := again.Groups[group]; err != nil || c.Temperature == 0 || c != typeModel().Groups[group] {
			t.Errorf("the calibration of %s is lost: %v, %v", group, c, err)
		}
	}
}

func TestFormsOfDocumentsInManyLanguages(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ feature, source string }{
		{"installs", "# X\n\n```sh\n$ git clone https://example.org/x\n```\n"},
		{"tree", "# X\n\n```\nsrc\n├── main.go\n```\n"},
		{"inside", "See [the license](LICENSE).\n"},
		{"hosts", "[a](https://a.example) [b](https://b.example)\n"},
		{"title_issue", "# 前端周刊第 12 期\n"},
		{"title_issue", "# Nieuwsbrief nr. 4\n"},
		{"chapter", "# 第7章\n\n夜。\n"},
		{"chapter", "# Глава 3\n\nНочь.\n"},
		{"cast", "老爷：“好。”\n"},
		{"item_spoken", "- Готов?\n- Да!\n"},
		{"steps", "1. Klik op Start.\n2. 点击确定\n"},
		{"born", "Ada est née à Londres.\n"},
		{"salutation", "Szanowni Państwo,\n\ndziękuję.\n"},
		{"closing", "Здравствуйте!\n\nС уважением, Анна\n"},
		{"date_top", "2026年5月24日\n"},
		{"lesson", "# روز ۲۵: مفاهیم\n"},
		{"lesson", "# 第 21 天：修正\n"},
		{"head_order", "# X\n\n## 1. กดปุ่ม\n\nx\n"},
		{"head_order", "# X\n\n## 2. Butona tıklayın\n\nx\n"},
		{"head_date", "# X\n\n## 21.09.07\n\nx\n"},
		{"head_date", "# X\n\n## 5/30\n\nx\n"},
		{"head_version", "# X\n\n## ۱٫۸٫۰ (۲۹ تیر)\n\nx\n"},
		{"front_title", "Title: X\nDate: 2026-01-02\n\nx\n"},
		{"loose_verse", "prisão\n\nentão assista um filme em\n\nmemória ao meu nome\n"},
		{"head_clause", "# X\n\n## Madde 4\n\nx\n"},
		{"poem.front", "---\ncategories: [Poesía]\n---\n\nx\n"},
		{"spans", "# 職歴\n\n2019年4月〜現在 開発\n"},
	} {
		t.Run(c.feature+" "+c.source, func(t *testing.T) {
			t.Parallel()

			at := slices.Index(featureNames(), c.feature)
			if DocumentFeatures([]byte(c.source))[at] == 0 {
				t.Errorf("%s is 0", c.feature)
			}

			if DocumentFeatures([]byte("# Soup\n\nIt is warm.\n"))[at] != 0 {
				t.Errorf("%s is not 0 for other text", c.feature)
			}
		})
	}
}

func TestATermTellsTheTypeFromAPartOfAHeading(t *testing.T) {
	t.Parallel()

	at := slices.Index(featureNames(), "report.title")
	whole := DocumentFeatures([]byte("# Reporte final\n"))[at]

	part := DocumentFeatures([]byte("# 📘 Reporte final – cambios importantes en la planeación del año\n"))[at]
	if part < whole {
		t.Errorf("the part counts %.2f, the whole title %.2f", part, whole)
	}
}
