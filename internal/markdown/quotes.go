package markdown

import "strings"

// marks are how a language writes what a keyboard has not.
type marks struct {
	// open and shut are the outer quotation marks, inOpen and inShut those of a
	// quotation in a quotation.
	open, shut, inOpen, inShut string
	// spaced reports whether ; : ! and ? have a space before them, which must not
	// be broken: all of them in French, only the colon in Canadian French.
	spaced string
}

const (
	narrowSpace = "\u202f"
	noBreak     = "\u00a0"
)

// marksOf returns the marks of a language (BCP 47); a language not listed is
// set as English.
func marksOf(lang string) marks {
	lang = strings.ToLower(lang)

	base, _, _ := strings.Cut(lang, "-")
	switch {
	case lang == "fr-ca" || lang == "fr-ch":
		return marks{"«" + narrowSpace, narrowSpace + "»", "“", "”", ":"}
	case lang == "de-ch" || lang == "de-li" || lang == "it-ch":
		return marks{"«", "»", "‹", "›", ""}
	case lang == "pt-pt" || lang == "pt-ao" || lang == "pt-mz":
		return marks{"«", "»", "“", "”", ""}
	case strings.HasPrefix(lang, "zh-hant") || lang == "zh-tw" || lang == "zh-hk":
		return marks{"「", "」", "『", "』", ""}
	}

	switch base {
	case "fr":
		return marks{"«" + narrowSpace, narrowSpace + "»", "“", "”", ";:!?"}
	case "de", "cs", "sk", "sl", "is", "et", "lt", "ka", "bg":
		return marks{"„", "“", "‚", "‘", ""}
	case "pl", "ro", "hu", "hr":
		inOpen, inShut := "«", "»"

		switch base {
		case "hr":
			inOpen, inShut = "‘", "’"
		case "hu":
			inOpen, inShut = "»", "«"
		}

		return marks{"„", "”", inOpen, inShut, ""}
	case "sr", "bs", "mk":
		return marks{"„", "“", "’", "’", ""}
	case "es", "ca", "gl", "eu", "it", "el", "fa", "hy":
		return marks{"«", "»", "“", "”", ""}
	case "ru", "uk", "be", "kk", "az":
		return marks{"«", "»", "„", "“", ""}
	case "nb", "nn", "no":
		return marks{"«", "»", "‘", "’", ""}
	case "sq", "ar":
		return marks{"«", "»", "‹", "›", ""}
	case "da":
		return marks{"»", "«", "›", "‹", ""}
	case "sv", "fi":
		return marks{"”", "”", "’", "’", ""}
	case "ja":
		return marks{"「", "」", "『", "』", ""}
	}

	return marks{"“", "”", "‘", "’", ""}
}

// alertTitles are the names of GitHub's five alerts.
func alertTitles(lang string) map[string]string {
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

// setTitle names an alert whose source does not: in the document's language if
// it is one of the five, else by the word of the source.
func (a *alert) setTitle(lang string) {
	if a.titled {
		return
	}

	a.titled = true
	if a.title = alertTitles(lang)[a.name]; a.title == "" {
		a.title = strings.ToUpper(a.name[:1]) + a.name[1:]
	}
}
