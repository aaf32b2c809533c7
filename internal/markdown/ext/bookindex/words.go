package bookindex

import "strings"

// Title returns the heading of an index in a language (BCP 47), in English for an unknown one.
func Title(lang string) string {
	base, _, _ := strings.Cut(strings.ToLower(lang), "-")

	title := map[string]string{
		"ar": "الفهرس", "bg": "Показалец", "ca": "Índex alfabètic", "cs": "Rejstřík", "da": "Register",
		"de": "Register", "el": "Ευρετήριο", "es": "Índice alfabético", "fa": "نمایه", "fi": "Hakemisto",
		"he": "מפתח", "hi": "अनुक्रमणिका", "hr": "Kazalo", "hu": "Tárgymutató", "id": "Indeks",
		"it": "Indice analitico", "ja": "索引", "ko": "찾아보기", "nb": "Register", "nl": "Register",
		"no": "Register", "pl": "Indeks", "pt": "Índice remissivo", "ro": "Index",
		"ru": "Предметный указатель", "sk": "Register", "sl": "Stvarno kazalo", "sv": "Register",
		"th": "ดัชนี", "tr": "Dizin", "uk": "Покажчик", "vi": "Chỉ mục", "zh": "索引",
	}[base]
	if title == "" {
		return "Index"
	}

	return title
}

// Word translates "see" or "see also" into a language (BCP 47). It returns word for an unknown language.
func Word(word, lang string) string {
	base, _, _ := strings.Cut(strings.ToLower(lang), "-")

	words := map[string][2]string{
		"de": {"siehe", "siehe auch"}, "es": {"véase", "véase también"}, "fr": {"voir", "voir aussi"},
		"it": {"vedi", "vedi anche"},
		"nl": {"zie", "zie ook"}, "pl": {"zob.", "zob. też"}, "pt": {"ver", "ver também"},
		"ru": {"см.", "см. также"}, "sv": {"se", "se även"},
	}[base]
	switch {
	case words[0] == "":
		return word
	case word == "see":
		return words[0]
	}

	return words[1]
}
