package fonts

import (
	"encoding/xml"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// licenseDir is the directory of the licences, both in the archive and after installation.
const licenseDir = "licenses"

// systemDirs returns the directories of fonts that are not embedded: the system's and those in
// this user's home. fontconfig cannot find the latter, because the browser's HOME is its
// profile. Root has only the system's, because its browser runs as another user.
func systemDirs() []string {
	dirs := []string{"/usr/share/fonts", "/usr/local/share/fonts"}
	if os.Geteuid() == 0 {
		return dirs
	}

	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ".local/share/fonts"), filepath.Join(home, ".fonts"))
	}

	return dirs
}

// preferred returns the families for generic names, best first.
func preferred() []struct{ name, families string } {
	// One list for all writing systems, so that a letter looks the same on every machine.
	const rest = "Noto Sans,Noto Sans Arabic,Noto Sans Hebrew,Noto Sans Thai,Noto Sans Lao,Noto Sans Khmer," +
		"Noto Sans Myanmar,Noto Sans Devanagari,Noto Sans Bengali,Noto Sans Gurmukhi,Noto Sans Gujarati," +
		"Noto Sans Oriya,Noto Sans Tamil,Noto Sans Telugu,Noto Sans Kannada,Noto Sans Malayalam," +
		"Noto Sans Sinhala,Noto Serif Tibetan,Noto Sans Georgian,Noto Sans Armenian,Noto Sans Ethiopic," +
		"Noto Sans CJK SC,STIX Two Math,Noto Sans Symbols 2,JetBrains Mono,Noto Sans Symbols," +
		"Noto Sans Symbols2,Noto Sans Math,Noto Color Emoji"
	const (
		sans  = "Inter," + rest
		serif = "Source Serif 4,Noto Serif," + rest
		mono  = "JetBrains Mono,IBM Plex Mono,Noto Sans Mono," + rest
	)

	return []struct{ name, families string }{
		{"sans-serif", sans},
		{"serif", serif},
		{"monospace", mono},
		{"system-ui", sans},
		{"cursive", "Dancing Script," + rest},
		{"fantasy", "Righteous," + rest},
		{"math", "STIX Two Math"},
		// Chromium's defaults for its generic families.
		{"Arial", sans},
		{"Helvetica", sans},
		{"Times New Roman", serif},
		{"Times", serif},
		{"Courier New", mono},
		{"Latin Modern Math", "STIX Two Math"},
	}
}

// regional returns the families for languages that share characters but not their shapes, and
// for emoji, by the language that Chromium requests.
func regional() []struct{ language, family string } {
	return []struct{ language, family string }{
		{"zh-tw", "Noto Sans CJK TC"},
		{"zh-hant", "Noto Sans CJK TC"},
		{"zh-hk", "Noto Sans CJK HK"},
		{"zh-mo", "Noto Sans CJK HK"},
		{"ja", "Noto Sans CJK JP"},
		{"ko", "Noto Sans CJK KR"},
		{"und-zsye", "Noto Color Emoji"},
	}
}

// configuration returns a complete fontconfig file for fonts installed in root. system are the directories of other
// fonts. It includes no file of the system, because those rules differ between machines.
func configuration(root string, system []string) string {
	var b strings.Builder
	element := func(name, text string) {
		b.WriteString("<" + name + ">")
		_ = xml.EscapeText(&b, []byte(text)) // a write to memory cannot fail
		b.WriteString("</" + name + ">")
	}
	line := func(name, text string) { element(name, text); b.WriteString("\n") }
	pattern := func(family, file string) {
		b.WriteString(`<pattern><patelt name="family">`)
		element("string", family)
		b.WriteString("</patelt>")

		if file != "" {
			b.WriteString(`<patelt name="file">`)
			element("string", file)
			b.WriteString("</patelt>")
		}
		b.WriteString("</pattern>\n")
	}

	b.WriteString("<?xml version=\"1.0\"?>\n<!DOCTYPE fontconfig SYSTEM \"urn:fontconfig:fonts.dtd\">\n<fontconfig>\n")
	line("dir", filepath.Join(root, fontDir))

	for _, dir := range system {
		line("dir", dir)
	}
	line("cachedir", filepath.Join(root, cacheName))
	line("cachedir", "/var/cache/fontconfig")
	b.WriteString(`<cachedir prefix="xdg">fontconfig</cachedir>` + "\n")

	// Reject the system's fonts of the embedded families. They may be another version, or a
	// variable font, which Chromium prints as drawings (Type 3).
	b.WriteString("<selectfont>\n<acceptfont>\n")
	list := catalogue()

	for _, f := range faces() {
		name := path.Base(f.Name)
		pattern(familyOf(list, name), filepath.Join(root, fontDir, name))
	}
	b.WriteString("</acceptfont>\n<rejectfont>\n")

	for _, family := range list {
		pattern(family.Name, "")
	}
	b.WriteString("</rejectfont>\n</selectfont>\n")

	// No hinting: it would move letters to whole pixels of a screen.
	b.WriteString(`<match target="font"><edit name="antialias" mode="assign"><bool>true</bool></edit>` +
		`<edit name="hinting" mode="assign"><bool>false</bool></edit>` +
		`<edit name="hintstyle" mode="assign"><const>hintnone</const></edit>` +
		`<edit name="rgba" mode="assign"><const>none</const></edit></match>` + "\n")
	// When Chromium searches a font for a character, it names no family. sans-serif makes the rules below apply, so
	// this rule comes before them.
	b.WriteString(`<match target="pattern"><edit name="family" mode="append_last"><string>sans-serif</string></edit>` +
		"</match>\n")

	for _, p := range preferred() {
		b.WriteString(`<alias binding="strong">`)
		element("family", p.name)
		b.WriteString("<prefer>")

		for family := range strings.SplitSeq(p.families, ",") {
			element("family", family)
		}
		b.WriteString("</prefer></alias>\n")
	}

	for _, r := range regional() {
		b.WriteString(`<match target="pattern"><test name="lang">`)
		element("string", r.language)
		b.WriteString(`</test><test name="family"><string>Noto Sans</string></test>` +
			`<edit name="family" mode="prepend" binding="strong">`)
		element("string", r.family)
		b.WriteString("</edit></match>\n")
	}
	b.WriteString("</fontconfig>\n")

	return b.String()
}

// familyOf returns the family of a font file, such as "EB Garamond" for "EBGaramond-Bold.ttf".
func familyOf(list []Family, file string) string {
	stem, _, _ := strings.Cut(file, "-")
	for _, f := range list {
		if strings.ReplaceAll(f.Name, " ", "") == stem {
			return f.Name
		}
	}

	return stem
}
