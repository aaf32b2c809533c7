package config

import (
	"fmt"
	"io"
	"net/url"
	"reflect"
	"strings"
)

// Setting is one line of the documentation.
type Setting struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	// Value is the present value; of a secret it says only whether it is set.
	Value   string `json:"value"`
	Meaning string `json:"meaning"`
	Secret  bool   `json:"secret"`
}

// Settings describes every setting with its value in c, in the order of the documentation.
func (c Config) Settings() []Setting {
	list := c.settings()
	out := make([]Setting, 0, len(list))

	for _, s := range list {
		value := show(s.field)

		switch {
		case s.secret && value != "":
			value = "(set)"
		case s.redact:
			value = RedactURLs(value)
		}
		out = append(out, Setting{Name: s.name, Default: s.def, Value: value, Meaning: s.help, Secret: s.secret})
	}

	return out
}

// show returns the text of the value that field points to.
func show(field any) string {
	if list, ok := field.(*[]string); ok {
		return strings.Join(*list, ",")
	}

	return fmt.Sprint(reflect.ValueOf(field).Elem())
}

// RedactURLs hides the passwords in a comma list of addresses.
func RedactURLs(list string) string {
	parts := strings.Split(list, ",")
	for i, p := range parts {
		u, err := url.Parse(p)
		switch {
		case err != nil:
			parts[i] = "(set)"
		default:
			parts[i] = u.Redacted()
		}
	}

	return strings.Join(parts, ",")
}

// WriteMarkdown prints docs/configuration.md.
func WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Configuration\n\n" +
		"Every setting is an environment variable. A wrong value stops the start with one line that names the\n" +
		"variable, its value and what is allowed. A secret may also be given as `NAME_FILE`, the path of a file " +
		"that\n" +
		"holds it; the file must not be empty. `presswork config` prints this list with the present values.\n\n" +
		"This page is printed from the code by `make generate`.\n\n" +
		"| variable | default | meaning |\n|---|---|---|\n")

	for _, s := range (Config{}).Settings() {
		def := "unset"
		if s.Default != "" {
			def = "`" + s.Default + "`"
		}

		meaning := s.Meaning
		if s.Secret {
			meaning += " (secret)"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Name, def, strings.ReplaceAll(meaning, "|", `\|`))
	}
	_, err := io.WriteString(w, b.String())

	return err
}
