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
	// Value is the present value; a secret shows only whether it is set.
	Value   string `json:"value"`
	Meaning string `json:"meaning"`
	Secret  bool   `json:"secret"`
}

// Settings describes every setting with its value in c, in the order of the
// struct.
func (c Config) Settings() []Setting {
	v := reflect.ValueOf(c)

	out := make([]Setting, 0, v.NumField())
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag

		s := Setting{
			Name:    tag.Get("env"),
			Default: tag.Get("default"),
			Meaning: tag.Get("help"),
			Secret:  tag.Get("secret") != "",
			Value:   show(v.Field(i)),
		}
		switch {
		case s.Secret && s.Value != "":
			s.Value = "(set)"
		case tag.Get("redact") == "url":
			s.Value = RedactURLs(s.Value)
		}
		out = append(out, s)
	}

	return out
}

func show(v reflect.Value) string {
	if list, ok := reflect.TypeAssert[[]string](v); ok {
		return strings.Join(list, ",")
	}

	return fmt.Sprint(v.Interface())
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
		"variable, its value and what is allowed. A secret may also be given as `NAME_FILE`, the path of a file that\n" +
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
