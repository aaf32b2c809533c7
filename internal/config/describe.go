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
	// Value is the present value. For a secret it only shows whether one is set.
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

// RedactURLs hides the passwords in a comma list of addresses. Of an address that cannot be parsed it only shows
// that it is set.
func RedactURLs(list string) string {
	parts := strings.Split(list, ",")
	for i, p := range parts {
		u, err := url.Parse(p)
		switch {
		case err != nil: // the password may be anywhere in it
			parts[i] = "(set)"
		default:
			parts[i] = u.Redacted()
		}
	}

	return strings.Join(parts, ",")
}

// WriteMarkdown prints docs/configuration.md. Errors: those of w.
func WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Configuration\n\n" +
		"Every setting is an environment variable; those without a default are unset. A wrong value stops the start\n" +
		"with one line that names the variable, its value and what is allowed. Secrets can also be files:\n" +
		"`NAME_FILE` is the path of one that is not empty. `presswork config` prints this list with the present\n" +
		"values; `make generate` prints this page.\n\n" +
		"| variable | default | meaning |\n|---|---|---|\n")

	for _, s := range (Config{}).Settings() {
		def := ""
		if s.Default != "" {
			def = " `" + s.Default + "`"
		}

		meaning := s.Meaning
		if s.Secret {
			meaning += " (secret)"
		}
		fmt.Fprintf(&b, "| `%s` |%s | %s |\n", s.Name, def, strings.ReplaceAll(meaning, "|", `\|`))
	}
	_, err := io.WriteString(w, b.String())

	return err
}
