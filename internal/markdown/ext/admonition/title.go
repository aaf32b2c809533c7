package admonition

import (
	"strings"

	"presswork/internal/markdown/tree"
)

// titlesOf returns the titles of GitHub's five alerts in a language (BCP 47) by their names. It returns
// nil for English and for a language without a translation.
func titlesOf(lang string) map[string]string {
	base, _, _ := strings.Cut(strings.ToLower(lang), "-")

	words, ok := map[string]string{
		"ar": "ملاحظة|نصيحة|مهم|تحذير|تنبيه",
		"cs": "Poznámka|Tip|Důležité|Varování|Pozor",
		"da": "Bemærk|Tip|Vigtigt|Advarsel|Forsigtig",
		"de": "Hinweis|Tipp|Wichtig|Warnung|Achtung",
		"es": "Nota|Consejo|Importante|Advertencia|Precaución",
		"fi": "Huomautus|Vinkki|Tärkeää|Varoitus|Huomio",
		"fr": "Remarque|Astuce|Important|Avertissement|Attention",
		"he": "הערה|טיפ|חשוב|אזהרה|זהירות",
		"hi": "नोट|सुझाव|महत्वपूर्ण|चेतावनी|सावधान",
		"it": "Nota|Suggerimento|Importante|Avviso|Attenzione",
		"ja": "メモ|ヒント|重要|警告|注意",
		"ko": "참고|팁|중요|경고|주의",
		"nb": "Merk|Tips|Viktig|Advarsel|Forsiktig",
		"nl": "Opmerking|Tip|Belangrijk|Waarschuwing|Let op",
		"no": "Merk|Tips|Viktig|Advarsel|Forsiktig",
		"pl": "Uwaga|Wskazówka|Ważne|Ostrzeżenie|Przestroga",
		"pt": "Nota|Dica|Importante|Aviso|Cuidado",
		"ru": "Примечание|Совет|Важно|Предупреждение|Осторожно",
		"sv": "Obs|Tips|Viktigt|Varning|Se upp",
		"th": "หมายเหตุ|เคล็ดลับ|สำคัญ|คำเตือน|ข้อควรระวัง",
		"tr": "Not|İpucu|Önemli|Uyarı|Dikkat",
		"uk": "Примітка|Порада|Важливо|Попередження|Обережно",
		"vi": "Ghi chú|Mẹo|Quan trọng|Cảnh báo|Thận trọng",
		"zh": "注意|提示|重要|警告|小心",
	}[base]
	if !ok {
		return nil
	}
	titles := map[string]string{}

	kinds := []string{"note", "tip", "important", "warning", "caution"}
	for i, word := range strings.Split(words, "|") {
		titles[kinds[i]] = word
	}

	return titles
}

// setTitle gives an alert without a title the translation of its name into a language (BCP 47). If there is none, the
// title is the name with a capital.
func setTitle(a *tree.Alert, lang string) {
	if a.Titled {
		return
	}

	a.Titled = true
	if a.Title = titlesOf(lang)[a.Name]; a.Title == "" {
		a.Title = strings.ToUpper(a.Name[:1]) + a.Name[1:]
	}
}
