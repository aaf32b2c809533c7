package catalogue

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"presswork/internal/inference"
	"presswork/internal/lazyregexp"
)

// completeUpstream checks an upstream, replaces its ${NAME} values and sets its name. With an error it returns the
// name of the invalid field.
func completeUpstream(u *inference.Upstream, getenv func(string) string) (string, error) {
	for field, value := range map[string]*string{"base_url": &u.BaseURL, "api_key": &u.APIKey, "model": &u.Model} {
		var err error
		if *value, err = expand(*value, getenv); err != nil {
			return field, err
		}
	}

	for name, value := range u.Headers {
		var err error
		if u.Headers[name], err = expand(value, getenv); err != nil {
			return "headers", err
		}
	}

	if u.BaseURL == "" {
		return "base_url", errors.New("it is required, such as http://127.0.0.1:8000/v1")
	}

	at, err := url.Parse(u.BaseURL)
	if err != nil || at.Host == "" || (at.Scheme != "http" && at.Scheme != "https") || at.RawQuery != "" ||
		at.User != nil {
		return "base_url", errors.New(
			"it must be an http or https address without user and query, such as http://127.0.0.1:8000/v1",
		)
	}

	for field, n := range map[string]int{"weight": u.Weight, "max_concurrency": u.MaxConcurrency} {
		if n < 0 {
			return field, fmt.Errorf("%d is negative; %s is 0 or more", n, field)
		}
	}

	for i, field := range u.Fields {
		if err := oneOf(field, inference.VendorFields()); err != nil {
			return fmt.Sprintf("fields[%d]", i), err
		}
	}

	u.Name = cmp.Or(u.Name, at.Host)
	if u.Kind != "" {
		return "kind", oneOf(u.Kind, inference.Kinds())
	}

	return "", nil
}

// fromEnv matches ${NAME} and ${NAME:-default}.
var fromEnv = lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`)

// expand replaces ${NAME} and ${NAME:-default} in a value. A variable that is empty counts as not set; without a
// default that is an error.
func expand(value string, getenv func(string) string) (string, error) {
	var missing string
	out := fromEnv().ReplaceAllStringFunc(value, func(ref string) string {
		m := fromEnv().FindStringSubmatch(ref)
		if v := getenv(m[1]); v != "" {
			return v
		}

		if m[2] == "" {
			missing = m[1]
		}

		return strings.TrimPrefix(m[2], ":-")
	})

	if missing != "" {
		return "", fmt.Errorf("${%s} is not set in the environment", missing)
	}

	return out, nil
}
