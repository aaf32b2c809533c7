package keyfile

import (
	"strings"
	"testing"
)

// FuzzKeysFile checks that a file is parsed completely, or rejected with one line that names the file and quotes
// no secret.
func FuzzKeysFile(f *testing.F) {
	for _, seed := range []string{
		"keys:\n  - {name: ann, key: SECRET, models: [openai/*], rpm: 5}\n  - name: ops@example.com\n    sha256: " + strings.Repeat("0a", 32) + "\n    admin: true\n",
		"keys:\n  - {name: ann, key: '${KEY}'}\n  - {name: bob, key: ${NONE}}\n", "keys:\n  - {name: ann, key: SECRET}\n  - {name: bob, key: SECRET}\n",
		"keys: [{name: a, key: [SECRET]}]", "keys: [{name: a, key: SECRET, rpm: -1}]", "keys: &a [*a]", "a: &a [x]\nkeys: [{name: a, key: SECRET, models: *a}]",
		"keys:\n  - name: a\n    key SECRET\n", "keys: {name: \"a", "keys:\n\t- name: a", "keys: [{name: a, key: SECRET, models: ['[']}]", "---\n---\n", "keys: [{<<: {name: a}, key: SECRET}]",
	} {
		f.Add(seed)
	}
	const secret = "9rYq7"
	f.Fuzz(func(t *testing.T, text string) {
		data := strings.ReplaceAll(text, "key: SECRET", "key: "+secret)

		keys, err := Parse("keys.yaml", []byte(data), func(name string) string {
			return map[string]string{"KEY": secret}[name]
		})
		if err != nil {
			if said := err.Error(); !strings.HasPrefix(said, "keys.yaml") || strings.Contains(said, secret) {
				t.Errorf("%q: %s", data, said)
			}

			return
		}

		seen := map[[32]byte]bool{}
		for _, k := range keys {
			if !keyName().MatchString(k.Name) || seen[k.Sum] || min(k.RPM, k.RPD, k.TPM, k.TPD, k.Concurrency) < 0 {
				t.Errorf("%q: %+v", data, k)
			}
			seen[k.Sum] = true
		}
	})
}
