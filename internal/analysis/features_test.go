package analysis

import (
	"slices"
	"strings"
	"testing"
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

func TestOtherLanguagesHaveTheirOwnCalibration(t *testing.T) {
	t.Parallel()

	w := Weights{Rows: [][]float64{{0, 0}, {2, 0}}, Temperature: 1, Slack: 0.1, OtherTemperature: 2}
	english, other := w.In("en").Probabilities([]float64{1})[1], w.In("pl").Probabilities([]float64{1})[1]

	if english <= other {
		t.Errorf("English %.3f, other %.3f: the higher temperature must lower the probability", english, other)
	}

	again, err := parseWeights(typeModel().String())
	if err != nil || again.OtherTemperature == 0 || again.OtherSlack != typeModel().OtherSlack {
		t.Errorf("the temperature of other languages is lost: %v, %v", again.OtherTemperature, err)
	}
}
