package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"presswork/internal/input"
)

// maxSecretFile is the largest file of a secret, in bytes.
const maxSecretFile = 64 << 10

// Load reads every setting through getenv and checks it. The error joins one
// line per wrong variable: its name, its value (unless secret), what is allowed.
func Load(getenv func(string) string) (Config, error) {
	var c Config
	v := reflect.ValueOf(&c).Elem()
	var errs []error

	for i := range v.NumField() {
		f := v.Type().Field(i)

		raw, err := read(f.Tag, getenv)
		if err == nil && raw != "" && blank(raw) {
			// A key that is blank by mistake must not open the server.
			err = errors.New("it is blank; leave it unset instead")
		}

		if raw = strings.TrimSpace(raw); err == nil {
			err = set(v.Field(i), f.Tag, raw)
		}

		if err != nil {
			errs = append(errs, complain(f.Tag, raw, err))
		}
	}

	if err := errors.Join(errs...); err != nil {
		return Config{}, err
	}

	return c, c.checkTogether()
}

// checkTogether holds the rules that span several settings.
func (c Config) checkTogether() error {
	if (c.APITLSCert == "") != (c.APITLSKey == "") {
		return errors.New("API_TLS_CERT and API_TLS_KEY: set both or neither")
	}

	if c.RecordRetentionDays != 0 && c.RecordRetentionDays < c.CacheRetentionDays {
		return fmt.Errorf(
			"RECORD_RETENTION_DAYS is %d; allowed is 0, or at least the %d of CACHE_RETENTION_DAYS",
			c.RecordRetentionDays,
			c.CacheRetentionDays,
		)
	}

	if c.S3Endpoint == "" {
		return nil
	}

	for name, value := range map[string]string{"S3_BUCKET": c.S3Bucket, "S3_ACCESS_KEY": c.S3AccessKey, "S3_SECRET_KEY": c.S3SecretKey} {
		if value == "" {
			return fmt.Errorf("%s is not set; S3_ENDPOINT needs S3_BUCKET, S3_ACCESS_KEY and S3_SECRET_KEY", name)
		}
	}

	return nil
}

// blank reports whether a value holds nothing but spaces, line ends and commas.
func blank(raw string) bool { return strings.Trim(raw, ", \t\r\n") == "" }

// read returns the text of a setting: its variable, the file that NAME_FILE names, or the
// default. A file that is named must hold a value.
func read(tag reflect.StructTag, getenv func(string) string) (string, error) {
	name := tag.Get("env")
	raw := getenv(name)

	path := getenv(name + "_FILE")
	if tag.Get("secret") == "" || path == "" {
		if raw == "" {
			raw = tag.Get("default")
		}

		return raw, nil
	}

	if raw != "" {
		return "", fmt.Errorf("%s and %s_FILE are both set; set one", name, name)
	}

	b, err := input.ReadFile(path, maxSecretFile)
	if err != nil {
		return "", fmt.Errorf("%s_FILE: %w", name, err)
	}

	if blank(string(b)) {
		return "", fmt.Errorf("%s_FILE: %s is empty; write the value into it, or leave %s_FILE unset", name, path, name)
	}

	return string(b), nil
}

func complain(tag reflect.StructTag, raw string, err error) error {
	if tag.Get("secret") != "" {
		return fmt.Errorf("%s: %w", tag.Get("env"), err)
	}

	return fmt.Errorf("%s=%q: %w", tag.Get("env"), raw, err)
}

func set(v reflect.Value, tag reflect.StructTag, raw string) error {
	switch p := v.Addr().Interface().(type) {
	case *string:
		*p = raw
		return checkWord(tag, raw)
	case *bool:
		b, err := strconv.ParseBool(raw)
		if err != nil {
			return errors.New("allowed: true, false")
		}
		*p = b

		return nil
	case *[]string:
		return setList(p, tag, raw)
	case *time.Duration:
		d, err := time.ParseDuration(raw)
		lo, _ := time.ParseDuration(tag.Get("min"))

		hi, _ := time.ParseDuration(tag.Get("max"))
		if err != nil || d < lo || d > hi {
			return fmt.Errorf(
				"allowed: a duration from %s to %s, with a unit (90s, 2m)",
				tag.Get("min"),
				tag.Get("max"),
			)
		}
		*p = d

		return nil
	}

	return setNumber(v, tag, raw)
}

func setNumber(v reflect.Value, tag reflect.StructTag, raw string) error {
	lo, _ := strconv.ParseFloat(tag.Get("min"), 64)

	hi, _ := strconv.ParseFloat(tag.Get("max"), 64)
	if v.Kind() == reflect.Float64 {
		f, err := strconv.ParseFloat(raw, 64)
		if err != nil || !(f >= lo && f <= hi) {
			return fmt.Errorf("allowed: a number from %s to %s", tag.Get("min"), tag.Get("max"))
		}
		v.SetFloat(f)

		return nil
	}

	n, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || float64(n) < lo || float64(n) > hi {
		return fmt.Errorf("allowed: a whole number from %s to %s", tag.Get("min"), tag.Get("max"))
	}
	v.SetInt(n)

	return nil
}

func setList(p *[]string, tag reflect.StructTag, raw string) error {
	for part := range strings.SplitSeq(raw, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}

		if err := checkWord(tag, part); err != nil {
			return err
		}
		*p = append(*p, part)
	}

	return nil
}

func checkWord(tag reflect.StructTag, word string) error {
	if allowed := tag.Get("allowed"); allowed != "" && !slices.Contains(strings.Split(allowed, ","), word) {
		return fmt.Errorf("allowed: %s", strings.ReplaceAll(allowed, ",", ", "))
	}

	if word == "" {
		return nil
	}

	switch tag.Get("check") {
	case "cidr":
		if _, err := netip.ParsePrefix(word); err != nil {
			if _, err := netip.ParseAddr(word); err != nil {
				return fmt.Errorf("%q is neither an address nor a CIDR (10.0.0.0/8)", word)
			}
		}
	case "hostport":
		if _, port, err := net.SplitHostPort(word); err != nil || port == "" {
			return errors.New("allowed: host:port (127.0.0.1:9090)")
		}
	case "word":
		if strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || len(word) > 32 {
			return errors.New("allowed: up to 32 of a to z, 0 to 9 and _")
		}
	case "url":
		if u, err := url.Parse(
			word,
		); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") ||
			strings.HasSuffix(word, "/") {
			return errors.New("allowed: http(s)://host[:port][/path], without a slash at its end")
		}
	case "origin":
		u, err := url.Parse(word)
		if word != "*" && (err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.Path != "") {
			return fmt.Errorf("%q is not an origin; allowed: scheme://host[:port], or *", word)
		}
	}

	return nil
}
