package typography

import "strings"

// marks are the quotation marks and spaces of a language.
type marks struct {
	// open and shut are the outer quotation marks, inOpen and inShut those of a quotation within a
	// quotation.
	open, shut, inOpen, inShut string
	// spaced lists the marks of punctuation with a no-break space before them: ";:!?" in French,
	// only the colon in Canadian French.
	spaced string
}

const (
	narrowSpace = "\u202f" // a narrow no-break space
	noBreak     = "\u00a0" // a no-break space
)

// marksOf returns the marks of a language (BCP 47), those of English for an unknown one.
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
