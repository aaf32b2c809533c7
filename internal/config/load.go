package config

import (
	"cmp"
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

// Load reads every setting through getenv and checks it. The error joins one line for each wrong variable: its name,
// its value unless it is a secret, and what is allowed.
func Load(getenv func(string) string) (Config, error) {
	var c Config
	var errs []error

	for _, s := range c.settings() {
		raw, err := s.read(getenv)
		if err == nil && raw != "" && blank(raw) {
			// An operator who sets a blank API_KEY by mistake must not get an open server.
			err = errors.New("it is blank; leave it unset instead")
		}

		if raw = strings.TrimSpace(raw); err == nil {
			err = s.set(raw)
		}

		if err != nil {
			errs = append(errs, s.wrong(raw, err))
		}
	}

	if err := errors.Join(errs...); err != nil {
		return Config{}, err
	}

	return c, c.checkTogether()
}

// checkTogether checks the rules that involve several settings.
func (c Config) checkTogether() error {
	if (c.APITLSCert == "") != (c.APITLSKey == "") {
		return errors.New("API_TLS_CERT and API_TLS_KEY: set both or neither")
	}

	if c.RecordRetentionDays != 0 && c.RecordRetentionDays < c.CacheRetentionDays {
		return fmt.Errorf("RECORD_RETENTION_DAYS is %d; allowed is 0, or at least the %d of CACHE_RETENTION_DAYS",
			c.RecordRetentionDays, c.CacheRetentionDays)
	}

	if c.S3Endpoint == "" {
		return nil
	}

	for name, value := range map[string]string{
		"S3_BUCKET": c.S3Bucket, "S3_ACCESS_KEY": c.S3AccessKey, "S3_SECRET_KEY": c.S3SecretKey,
	} {
		if value == "" {
			return fmt.Errorf("%s is not set; S3_ENDPOINT needs S3_BUCKET, S3_ACCESS_KEY and S3_SECRET_KEY", name)
		}
	}

	return nil
}

// blank reports whether a value holds nothing but spaces, line ends and commas.
func blank(raw string) bool { return strings.Trim(raw, ", \t\r\n") == "" }

// read returns the text of the setting: its variable, the file that NAME_FILE names, or the default. A file that is
// named must hold a value.
func (s setting) read(getenv func(string) string) (string, error) {
	raw := getenv(s.name)

	path := getenv(s.name + "_FILE")
	if !s.secret || path == "" {
		return cmp.Or(raw, s.def), nil
	}

	// It is unclear which of the two is the new one, so none is chosen.
	if raw != "" {
		return "", fmt.Errorf("%s and %s_FILE are both set; set one", s.name, s.name)
	}

	b, err := input.ReadFile(path, maxSecretFile)
	if err != nil {
		return "", fmt.Errorf("%s_FILE: %w", s.name, err)
	}

	if blank(string(b)) {
		return "", fmt.Errorf("%s_FILE: %s is empty; write the value into it, or leave %s_FILE unset",
			s.name, path, s.name)
	}

	return string(b), nil
}

// wrong adds to err the setting's name and, unless it is a secret, its value.
func (s setting) wrong(raw string, err error) error {
	if s.secret {
		return fmt.Errorf("%s: %w", s.name, err)
	}

	return fmt.Errorf("%s=%q: %w", s.name, raw, err)
}

// set writes the value of raw into the field.
func (s setting) set(raw string) error {
	switch p := s.field.(type) {
	case *string:
		*p = raw
		return s.checkWord(raw)
	case *bool:
		b, err := strconv.ParseBool(raw)
		if err != nil {
			return errors.New("allowed: true, false")
		}
		*p = b

		return nil
	case *[]string:
		return s.setList(p, raw)
	case *time.Duration:
		d, err := time.ParseDuration(raw)
		lo, _ := time.ParseDuration(s.min)

		hi, _ := time.ParseDuration(s.max)
		if err != nil || d < lo || d > hi {
			return fmt.Errorf("allowed: a duration from %s to %s, with a unit (90s, 2m)", s.min, s.max)
		}
		*p = d

		return nil
	}

	return s.setNumber(raw)
}

// setNumber parses a number and checks it against the setting's minimum and maximum.
func (s setting) setNumber(raw string) error {
	v := reflect.ValueOf(s.field).Elem()
	lo, _ := strconv.ParseFloat(s.min, 64)
	hi, _ := strconv.ParseFloat(s.max, 64)

	if v.Kind() == reflect.Float64 {
		f, err := strconv.ParseFloat(raw, 64)
		if err != nil || !(f >= lo && f <= hi) { // also true for NaN
			return fmt.Errorf("allowed: a number from %s to %s", s.min, s.max)
		}
		v.SetFloat(f)

		return nil
	}

	// The limits are small enough to be exact as float64.
	n, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || float64(n) < lo || float64(n) > hi {
		return fmt.Errorf("allowed: a whole number from %s to %s", s.min, s.max)
	}
	v.SetInt(n)

	return nil
}

// setList parses a list of words separated by commas. Empty words are ignored.
func (s setting) setList(p *[]string, raw string) error {
	for part := range strings.SplitSeq(raw, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}

		if err := s.checkWord(part); err != nil {
			return err
		}
		*p = append(*p, part)
	}

	return nil
}

// checkWord checks a word against the allowed words of the setting or its check, such as "url". An empty word is
// allowed.
func (s setting) checkWord(word string) error {
	if s.allowed != "" && !slices.Contains(strings.Split(s.allowed, ","), word) {
		return fmt.Errorf("allowed: %s", strings.ReplaceAll(s.allowed, ",", ", "))
	}

	if word == "" {
		return nil
	}

	switch s.check {
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
		u, err := url.Parse(word)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.HasSuffix(word, "/") {
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
