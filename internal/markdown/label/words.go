package label

import (
	"html"
	"strings"
	"sync"

	"golang.org/x/text/language"
)

// Words are the names of numbered elements in a language. The caller must not change the maps.
type Words struct {
	// One and Many name the kinds. Many is "" where each of several elements gets its own word.
	One, Many map[Kind]string
	// And joins the last two numbers, with its spaces. Colon follows the label of a caption.
	And, Colon string
	// Lists are the titles of the lists of the kinds.
	Lists map[Kind]string
	// References is the title of the bibliography.
	References string
}

// wordTable has one line for each language: its tag; figure, table, equation, section and listing,
// each with the plural after a slash; "and"; the titles of the lists of figures, tables and
// listings; the title of the bibliography.
const wordTable = `en|Figure/Figures|Table/Tables|Equation/Equations|Section/Sections|Listing/Listings|and|List of Figures|List of Tables|List of Listings|References
ar|الشكل|الجدول|المعادلة|القسم|القائمة|و|قائمة الأشكال|قائمة الجداول|قائمة الشيفرات|المراجع
bg|Фигура/Фигури|Таблица/Таблици|Уравнение/Уравнения|Раздел/Раздели|Листинг/Листинги|и|Списък на фигурите|Списък на таблиците|Списък на листингите|Литература
ca|Figura/Figures|Taula/Taules|Equació/Equacions|Secció/Seccions|Llistat/Llistats|i|Índex de figures|Índex de taules|Índex de llistats|Referències
cs|Obrázek|Tabulka|Rovnice|Oddíl|Výpis|a|Seznam obrázků|Seznam tabulek|Seznam výpisů|Literatura
da|Figur/Figurer|Tabel/Tabeller|Ligning/Ligninger|Afsnit/Afsnit|Kode/Koder|og|Figurer|Tabeller|Kodeeksempler|Litteratur
de|Abbildung/Abbildungen|Tabelle/Tabellen|Gleichung/Gleichungen|Abschnitt/Abschnitte|Listing/Listings|und|Abbildungsverzeichnis|Tabellenverzeichnis|Verzeichnis der Listings|Literatur
el|Σχήμα|Πίνακας|Εξίσωση|Ενότητα|Κώδικας|και|Κατάλογος σχημάτων|Κατάλογος πινάκων|Κατάλογος κωδίκων|Βιβλιογραφία
es|Figura/Figuras|Tabla/Tablas|Ecuación/Ecuaciones|Sección/Secciones|Listado/Listados|y|Índice de figuras|Índice de tablas|Índice de listados|Referencias
et|Joonis|Tabel|Valem|Jaotis|Programm|ja|Joonised|Tabelid|Programmid|Kirjandus
fa|شکل|جدول|معادله|بخش|برنامه|و|فهرست اشکال|فهرست جداول|فهرست کدها|منابع
fi|Kuva/Kuvat|Taulukko/Taulukot|Yhtälö/Yhtälöt|Luku/Luvut|Koodi/Koodit|ja|Kuvat|Taulukot|Koodilistaukset|Lähteet
fr|Figure/Figures|Tableau/Tableaux|Équation/Équations|Section/Sections|Listing/Listings|et|Table des figures|Liste des tableaux|Liste des listings|Bibliographie
he|איור|טבלה|משוואה|סעיף|קוד|ו|רשימת איורים|רשימת טבלאות|רשימת קטעי קוד|מקורות
hi|चित्र|सारणी|समीकरण|अनुभाग|कोड|और|चित्र सूची|सारणी सूची|कोड सूची|संदर्भ
hr|Slika|Tablica|Jednadžba|Odjeljak|Ispis|i|Popis slika|Popis tablica|Popis ispisa|Literatura
hu|ábra|táblázat|egyenlet|szakasz|kódrészlet|és|Ábrák jegyzéke|Táblázatok jegyzéke|Kódrészletek jegyzéke|Irodalomjegyzék
id|Gambar|Tabel|Persamaan|Bagian|Kode|dan|Daftar Gambar|Daftar Tabel|Daftar Kode|Daftar Pustaka
it|Figura/Figure|Tabella/Tabelle|Equazione/Equazioni|Sezione/Sezioni|Listato/Listati|e|Elenco delle figure|Elenco delle tabelle|Elenco dei listati|Bibliografia
ja|図|表|式|節|リスト|、|図目次|表目次|リスト目次|参考文献
ko|그림|표|식|절|코드|, |그림 차례|표 차례|코드 차례|참고 문헌
lt|Paveikslas|Lentelė|Lygtis|Skyrius|Kodas|ir|Paveikslų sąrašas|Lentelių sąrašas|Kodo sąrašas|Literatūra
lv|Attēls|Tabula|Vienādojums|Sadaļa|Kods|un|Attēlu saraksts|Tabulu saraksts|Koda saraksts|Literatūra
nb|Figur/Figurer|Tabell/Tabeller|Ligning/Ligninger|Avsnitt/Avsnitt|Kode/Koder|og|Figurer|Tabeller|Kodeeksempler|Referanser
nl|Figuur/Figuren|Tabel/Tabellen|Vergelijking/Vergelijkingen|Paragraaf/Paragrafen|Listing/Listings|en|Lijst van figuren|Lijst van tabellen|Lijst van listings|Literatuur
nn|Figur/Figurar|Tabell/Tabellar|Likning/Likningar|Avsnitt/Avsnitt|Kode/Kodar|og|Figurar|Tabellar|Kodedøme|Referansar
pl|Rysunek/Rysunki|Tabela/Tabele|Równanie/Równania|Rozdział/Rozdziały|Listing/Listingi|i|Spis rysunków|Spis tabel|Spis listingów|Bibliografia
pt|Figura/Figuras|Tabela/Tabelas|Equação/Equações|Seção/Seções|Listagem/Listagens|e|Lista de figuras|Lista de tabelas|Lista de listagens|Referências
ro|Figura|Tabelul|Ecuația|Secțiunea|Codul|și|Lista figurilor|Lista tabelelor|Lista codurilor|Bibliografie
ru|Рисунок|Таблица|Уравнение|Раздел|Листинг|и|Список рисунков|Список таблиц|Список листингов|Литература
sk|Obrázok|Tabuľka|Rovnica|Oddiel|Výpis|a|Zoznam obrázkov|Zoznam tabuliek|Zoznam výpisov|Literatúra
sl|Slika|Tabela|Enačba|Razdelek|Izpis|in|Kazalo slik|Kazalo tabel|Kazalo izpisov|Literatura
sr|Слика|Табела|Једначина|Одељак|Листинг|и|Списак слика|Списак табела|Списак листинга|Литература
sv|Figur/Figurer|Tabell/Tabeller|Ekvation/Ekvationer|Avsnitt/Avsnitt|Kod/Koder|och|Figurer|Tabeller|Kodlistningar|Referenser
th|รูปที่|ตารางที่|สมการที่|หัวข้อที่|โค้ดที่|และ|สารบัญรูป|สารบัญตาราง|สารบัญโค้ด|เอกสารอ้างอิง
tr|Şekil|Tablo|Denklem|Bölüm|Kod|ve|Şekiller Listesi|Tablolar Listesi|Kod Listesi|Kaynakça
uk|Рисунок|Таблиця|Рівняння|Розділ|Лістинг|і|Перелік рисунків|Перелік таблиць|Перелік лістингів|Література
ur|شکل|جدول|مساوات|حصہ|کوڈ|اور|فہرستِ اشکال|فہرستِ جداول|فہرستِ کوڈ|حوالہ جات
vi|Hình|Bảng|Phương trình|Mục|Mã|và|Danh sách hình|Danh sách bảng|Danh sách mã|Tài liệu tham khảo
zh|图|表|式|节|代码|、|插图目录|表格目录|代码目录|参考文献
zh-Hant|圖|表|式|節|程式碼|、|圖目錄|表目錄|程式碼目錄|參考文獻`

var allWords = sync.OnceValue(func() map[string]Words {
	all := map[string]Words{}

	for line := range strings.Lines(wordTable) {
		f := strings.Split(strings.TrimSpace(line), "|")

		w := Words{
			One:        map[Kind]string{},
			Many:       map[Kind]string{},
			Lists:      map[Kind]string{},
			And:        " " + f[6] + " ",
			Colon:      ":",
			References: f[10],
		}
		for i, kind := range []Kind{Figure, Table, Equation, Section, Listing} {
			w.One[kind], w.Many[kind], _ = strings.Cut(f[i+1], "/")
		}

		w.Lists[Figure], w.Lists[Table], w.Lists[Listing] = f[7], f[8], f[9]
		switch lang := f[0]; lang {
		case "fr":
			w.Colon = "\u202f:"
		case "ja", "ko", "zh", "zh-Hant":
			w.And = strings.TrimLeft(w.And, " ")
			if lang != "ko" {
				w.And = strings.TrimSpace(w.And)
			}
		case "ar", "he":
			w.And = strings.TrimRight(w.And, " ")
		}
		all[f[0]] = w
	}
	all["no"] = all["nb"]

	return all
})

// WordsOf returns the words of a language (BCP 47), those of English for an unknown one.
func WordsOf(lang string) Words {
	all := allWords()

	tag, err := language.Parse(lang)
	if err != nil {
		return all["en"]
	}
	base, _ := tag.Base()

	name := base.String()
	if script, _ := tag.Script(); name == "zh" && script.String() == "Hant" {
		name = "zh-Hant"
	}

	if w, ok := all[name]; ok {
		return w
	}

	return all["en"]
}

// Caption returns the start of a caption, such as "Figure 1:", as HTML. If text follows, the colon
// and a space are included.
func (w Words) Caption(kind Kind, number string, text bool) string {
	label := w.One[kind] + "\u00a0" + number
	if !text {
		return `<span class="xref-label">` + html.EscapeString(label) + "</span>"
	}

	return `<span class="xref-label">` + html.EscapeString(label+w.Colon) + "</span> "
}
