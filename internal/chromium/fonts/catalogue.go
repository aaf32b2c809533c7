package fonts

import (
	"cmp"
	"slices"
	"strings"
)

const (
	ofl    = "OFL-1.1"
	apache = "Apache-2.0"
)

// catalogue returns the families of the archive, without the weights and styles that follow from file names.
func catalogue() []Family {
	expo := func(name string) string {
		return "@expo-google-fonts/" + strings.ToLower(strings.ReplaceAll(name, " ", "-"))
	}
	var list []Family
	add := func(kind Kind, scripts string, names ...string) {
		for _, name := range names {
			list = append(list,
				Family{Name: name, Kind: kind, License: ofl, Source: expo(name), Scripts: strings.Fields(scripts)})
		}
	}
	add(Sans, "Latin Vietnamese Greek Cyrillic", "IBM Plex Sans", "Inter", "Source Sans 3")
	add(Sans, "Latin Vietnamese Cyrillic", "Nunito")
	add(Sans, "Latin Vietnamese", "Work Sans")
	add(Sans, "Latin", "Atkinson Hyperlegible")
	add(Serif, "Latin Vietnamese Greek Cyrillic", "EB Garamond", "Literata", "Source Serif 4")
	add(Serif, "Latin Vietnamese Cyrillic", "Bitter", "Lora")
	add(Mono, "Latin Vietnamese Greek Cyrillic", "JetBrains Mono")
	add(Mono, "Latin Vietnamese Cyrillic", "IBM Plex Mono")
	add(Mono, "Latin", "Courier Prime")
	add(Display, "Latin Vietnamese Cyrillic", "Cormorant Garamond", "Playfair Display")
	add(Display, "Latin Vietnamese",
		"Dancing Script", "Fraunces", "Josefin Sans", "Quicksand", "Space Grotesk", "VT323")
	add(Display, "Latin", "Cinzel", "Comic Neue", "Creepster", "Orbitron", "Righteous", "Zilla Slab")
	elite := "Special Elite"
	list = append(list,
		Family{Name: elite, Kind: Display, License: apache, Source: expo(elite), Scripts: []string{"Latin"}},
		Family{Name: "STIX Two Math", Kind: Math, License: ofl, Source: "ziamath (PyPI)"},
		Family{Name: "Noto Sans Symbols 2", Kind: Symbols, License: ofl, Source: "@fontsource/noto-sans-symbols-2"},
	)
	order := []Kind{Sans, Serif, Mono, Display, Math, Symbols}
	slices.SortFunc(list, func(a, b Family) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind)),
			cmp.Compare(a.Name, b.Name),
		)
	})

	return list
}
