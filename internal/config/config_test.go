package config_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"presswork/internal/config"
)

// env returns a getenv function with these variables.
func env(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestDefaultsAreThoseOfTheDocumentation(t *testing.T) {
	t.Parallel()

	c, err := config.Load(env(nil))
	if err != nil {
		t.Fatal(err)
	}

	if c.APIHost != "127.0.0.1" || c.APIPort != 8000 || c.RenderTimeout != 2*time.Minute ||
		c.MaxContentBytes != 10<<20 ||
		c.CacheMaxSizeGB != 2 {
		t.Errorf("got %+v, want the documented defaults", c)
	}
}

func TestErrorsNameTheVariableItsValueAndTheAllowedValues(t *testing.T) {
	t.Parallel()

	empty, blank := filepath.Join(t.TempDir(), "empty"), filepath.Join(t.TempDir(), "blank")
	for path, text := range map[string]string{empty: "", blank: " \n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	for name, tc := range map[string]struct {
		env       map[string]string
		wantParts []string // of the error
	}{
		"number":   {map[string]string{"API_PORT": "eighty"}, []string{`API_PORT="eighty"`, "0 to 65535"}},
		"range":    {map[string]string{"API_PORT": "70000"}, []string{"0 to 65535"}},
		"not NaN":  {map[string]string{"CACHE_MAX_SIZE_GB": "NaN"}, []string{"CACHE_MAX_SIZE_GB"}},
		"bool":     {map[string]string{"DEBUG": "maybe"}, []string{"true, false"}},
		"duration": {map[string]string{"RENDER_TIMEOUT": "90"}, []string{"RENDER_TIMEOUT", "unit"}},
		"word":     {map[string]string{"LOG_FORMAT": "xml"}, []string{"auto, text, json"}},
		"list":     {map[string]string{"WORKER_QUEUES": "render,bogus"}, []string{"render, export"}},
		"cidr":     {map[string]string{"TRUSTED_PROXIES": "10.0.0.0/8,x"}, []string{`"x"`}},
		"origin":   {map[string]string{"ALLOWED_ORIGINS": "app.example"}, []string{"scheme://host"}},
		"url":      {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "*"}, []string{"http(s)://host"}},
		"blank":    {map[string]string{"API_KEY": " , "}, []string{"API_KEY", "blank"}},
		"tls":      {map[string]string{"API_TLS_CERT": "c.pem"}, []string{"API_TLS_KEY"}},
		"s3": {
			map[string]string{"S3_ENDPOINT": "h:1", "S3_BUCKET": "b", "S3_ACCESS_KEY": "k"},
			[]string{"S3_SECRET_KEY"},
		},
		"records": {
			map[string]string{"RECORD_RETENTION_DAYS": "29"},
			[]string{"RECORD_RETENTION_DAYS", "29", "CACHE_RETENTION_DAYS"},
		},
		"both":       {map[string]string{"API_KEY": "hush", "API_KEY_FILE": "f"}, []string{"API_KEY_FILE"}},
		"no file":    {map[string]string{"API_KEY_FILE": "/does/not/exist"}, []string{"API_KEY_FILE"}},
		"empty file": {map[string]string{"API_KEY_FILE": empty}, []string{"API_KEY_FILE", empty, "is empty"}},
		"blank file": {map[string]string{"TOKEN_SECRET_FILE": blank}, []string{"TOKEN_SECRET_FILE", blank, "is empty"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := config.Load(env(tc.env))
			if err == nil {
				t.Error("Load returned no error")
				return
			}

			for _, s := range tc.wantParts {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("got %q, want %q in it", err, s)
				}
			}

			if strings.Contains(err.Error(), "hush") {
				t.Errorf("the error %q contains the secret", err)
			}
		})
	}
}

func TestSecretsComeFromFilesAndAreNeverShown(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("one,two\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	c, err := config.Load(env(map[string]string{"API_KEY_FILE": file, "REDIS_URL": "redis://u:hush@h:1/0"}))
	if err != nil {
		t.Fatal(err)
	}

	if len(c.APIKeys) != 2 || c.APIKeys[1] != "two" {
		t.Errorf("got keys %q, want one and two", c.APIKeys)
	}

	for _, s := range c.Settings() {
		if strings.Contains(s.Value, "one") || strings.Contains(s.Value, "hush") {
			t.Errorf("the value of %s is %q, want no secret", s.Name, s.Value)
		}
	}
}

func TestDocumentationIsPrintedFromTheCode(t *testing.T) {
	t.Parallel()

	var b bytes.Buffer
	if err := config.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}

	path := filepath.Join("..", "..", "docs", "configuration.md")
	if os.Getenv("PRESSWORK_UPDATE") == "1" {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	if !bytes.Equal(got, b.Bytes()) {
		t.Error("docs/configuration.md differs from the settings; `make generate` rewrites it")
	}
}

// FuzzSettings checks that each error names its variable and shows no secret.
func FuzzSettings(f *testing.F) {
	settings := config.Config{}.Settings()
	for i := range settings {
		f.Add(uint(i), "1e309")
	}

	for _, seed := range []string{
		"-1", "9223372036854775808", "NaN", "90s", "1h99999999999s", "0x10", " , ,", "http://[::1", "*,https://a,null",
		"10.0.0.0/33", "::1%lo", "a\x00b", ":",
	} {
		f.Add(uint(len(seed)), seed)
	}
	f.Fuzz(func(t *testing.T, which uint, value string) {
		setting := settings[which%uint(len(settings))]
		_, err := config.Load(env(map[string]string{setting.Name: value}))

		switch {
		case err == nil:
		case !strings.Contains(err.Error(), setting.Name):
			t.Errorf("%s=%q: got %v, want the name of the setting", setting.Name, value, err)
		case setting.Secret && len(value) > 20 && strings.Contains(err.Error(), value):
			t.Errorf("the error contains the secret value of %s: %v", setting.Name, err)
		}
	})
}

func TestEveryFieldIsASetting(t *testing.T) {
	t.Parallel()

	fields, settings := reflect.TypeFor[config.Config]().NumField(), len(config.Config{}.Settings())
	if fields != settings {
		t.Errorf("got %d fields and %d settings, want as many", fields, settings)
	}
}
