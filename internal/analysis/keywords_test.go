package analysis

import (
	"slices"
	"strings"
	"testing"

	"presswork/internal/analysis/plaintext"
)

func terms(text, language string) (out []string) {
	for _, k := range keywords(read([]byte(text)), language) {
		out = append(out, k.Term)
	}

	return out
}

func TestKeywordsComeFromTheTextAndTheAuthor(t *testing.T) {
	t.Parallel()
	text := "---\ntags: [harbour, Tide Tables]\n---\n\n# Tidal barriers\n\nA tidal barrier closes before the storm surge arrives. Storm surges are rare, but tidal barriers must work.\n\nThe storm surge of 1953 changed everything. Call `closeBarrier()` or see https://example.org/barrier-control.\n\n```go\nbarrier.CloseAllGates(ctx)\n```\n"

	got := terms(text, "en")
	if len(got) < 4 || got[0] != "harbour" || got[1] != "Tide Tables" {
		t.Fatalf("got %q, want the tags of the front matter first", got)
	}

	for _, want := range []string{"storm surge", "tidal barrier"} {
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(strings.ToLower(s), want) }) {
			t.Errorf("got %q, want one that begins with %q", got, want)
		}
	}

	for _, term := range got {
		if strings.Contains(strings.ToLower(term), "gates") || strings.Contains(term, "http") ||
			strings.Contains(term, "closeBarrier") {
			t.Errorf("keyword %q is from code or an address", term)
		}
	}
}

func TestFormsOfAWordAreOneKeyword(t *testing.T) {
	t.Parallel()
	got := terms(
		"# Cookies\n\nA cookie is small. Cookies are sent back. The cookie expires, the cookies too. Children like cookies, a child likes a cookie.\n",
		"en",
	)
	n := 0

	for _, term := range got {
		if strings.HasPrefix(strings.ToLower(term), "cook") {
			n++
		}
	}

	if n != 1 {
		t.Errorf("got %q, want one form of cookie", got)
	}
}

func TestKeywordsContainNoFunctionWords(t *testing.T) {
	t.Parallel()

	got := terms(
		"Der Deich schützt die Stadt. Wenn der Deich bricht, dann muss die Stadt räumen, und der Deich wird neu gebaut.",
		"de",
	)
	if !slices.Contains(got, "Deich") || slices.Contains(got, "wenn") || slices.Contains(got, "der") {
		t.Errorf("got %q, want Deich and no function words", got)
	}
}

func TestKeywordsAreNotFillerWords(t *testing.T) {
	t.Parallel()

	got := terms(
		"# The miller\n\nEither the miller or myself had spoken. Either way, the miller gave thy flour to thy brother, and myself I waited. "+
			"Walking, waiting, either of us spoken to; the mill was given, thy mill, myself in the mill, either by the miller or by thy brother.\n",
		"en",
	)
	for _, term := range got {
		for word := range strings.FieldsSeq(strings.ToLower(term)) {
			if slices.Contains([]string{"either", "myself", "thy", "spoken", "given", "walking", "waiting"}, word) {
				t.Errorf("%q is among the keywords %q", word, got)
			}
		}
	}

	if !slices.Contains(got, "miller") {
		t.Errorf("got %q, want miller among them", got)
	}
}

func TestKeywordsOfOtherLanguagesAreNouns(t *testing.T) {
	t.Parallel()

	for _, row := range []struct {
		language, text string
		want, refused  []string
	}{
		{
			"ko", "데이터베이스는 사용자의 정보를 저장합니다. 데이터베이스에서 정보를 읽는 서버가 있습니다. 서버는 데이터베이스를 사용합니다.",
			[]string{"데이터베이스"},
			[]string{"있습니다", "데이터베이스는", "서버가", "정보를"},
		},
		{
			"de", "„Die Mühle steht still“, sagte der Müller. „Die Mühle ist alt“, antwortete die Müllerin. Der Müller nickte und sagte: „Morgen.“",
			[]string{"Mühle"},
			[]string{"sagte", "antwortete", "nickte"},
		},
		{
			"tr", "İstanbul'da bir köprü var. İstanbul'un köprüsü çok eski. Mimar dedi: köprü İstanbul'a yakışıyor.",
			[]string{"İstanbul"},
			[]string{"dedi", "İstanbul'da"},
		},
		{
			"fa", "کتابخانه در شهر بود. گفتم کتابخانه هنوز باز است. بعد از ظهر کتابخانه بسته بود و من نوشتم.",
			[]string{"شهر"},
			[]string{"هنوز", "گفتم", "نوشتم"},
		},
		{
			"de", "Der alte Fischer seufzte, lachte und flüsterte: „Das Boot kommt nicht.“ Anna murmelte etwas. Der Fischer murmelte weiter. Später flüsterte Anna leise, und der Fischer seufzte wieder. Der Hafen lag leer, das Boot fehlte.",
			[]string{"Fischer", "Boot", "Anna"},
			[]string{"seufzte", "flüsterte", "murmelte", "lachte"},
		},
		{
			"th", "ห้องสมุดเป็นสถานที่ของหนังสือ และห้องสมุดมีหนังสือใหม่ นักเรียนอ่านหนังสือในห้องสมุด เมืองนี้ต้องมีห้องสมุด",
			[]string{"ห้องสมุด", "หนังสือ"},
			[]string{"ของหนังสือ", "และห้องสมุด"},
		},
		{
			"km", "បណ្ណាល័យមានសៀវភៅ។ សិស្សអានសៀវភៅនៅក្នុងបណ្ណាល័យ។ ទីក្រុងនេះត្រូវការបណ្ណាល័យ និងសៀវភៅថ្មី។ បណ្ណាល័យបើកសៀវភៅ។",
			[]string{"បណ្ណាល័យ", "សៀវភៅ"},
			[]string{"នៅក្នុង", "និងសៀវភៅ"},
		},
		{
			"my", "စာကြည့်တိုက်တွင် စာအုပ်များရှိသည်။ ကျောင်းသားသည် စာကြည့်တိုက်သို့သွားသည်။ မြို့၏စာကြည့်တိုက်ကို ဖွင့်သည်။ စာအုပ်ကိုဖတ်သည်။ သူ၏စာအုပ်သည်ကောင်းသည်။",
			[]string{"စာကြည့်တိုက်", "စာအုပ်"},
			[]string{"များရှိသည်", "ရှိသည်"},
		},
	} {
		t.Run(row.language, func(t *testing.T) {
			t.Parallel()
			var terms []string

			for _, k := range keywords(read([]byte(row.text)), row.language) {
				terms = append(terms, k.Term)
			}

			for _, w := range row.want {
				if !slices.Contains(terms, w) {
					t.Errorf("%q is missing: %q", w, terms)
				}
			}

			for _, w := range row.refused {
				if slices.Contains(terms, w) {
					t.Errorf("%q is no keyword: %q", w, terms)
				}
			}
		})
	}
}

func TestSyllablesAreWhole(t *testing.T) {
	t.Parallel()

	for _, row := range []struct{ language, text, want string }{
		{"th", "แม่น้ำและภาษา", "แม่|น้ำ||ภา|ษา"},
		{"km", "កម្ពុជានិងខ្មែរ", "ក|ម្ពុ|ជា||ខ្មែ|រ"},
		{"my", "မြန်မာနှင့်အင်္ဂါ", "မြန်|မာ||အင်္ဂါ"},
		{"ja", "文字と言葉", "文|字|と|言|葉"},
	} {
		t.Run(row.language, func(t *testing.T) {
			t.Parallel()

			if got := strings.Join(
				syllables(plaintext.AppendTokens(nil, row.text), row.language),
				"|",
			); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}
