package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"presswork/internal/inference/meter"
	"presswork/internal/input"
)

// maxKeysFile is the largest file of keys, in bytes.
const maxKeysFile = 1 << 20

// namedKey is one entry of the file. The limits other than rpm, and the models,
// hold for completions.
type namedKey struct {
	Name        string   `yaml:"name"`
	Key         string   `yaml:"key"`
	SHA256      string   `yaml:"sha256"`
	Admin       bool     `yaml:"admin"`
	Models      []string `yaml:"models"`
	RPM         int      `yaml:"rpm"`
	RPD         int      `yaml:"rpd"`
	TPM         int      `yaml:"tpm"`
	TPD         int      `yaml:"tpd"`
	Concurrency int      `yaml:"concurrency"`
}

func readKeysFile(path string) ([]byte, error) {
	data, err := input.ReadFile(path, maxKeysFile)
	if err != nil {
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			err = e.Err // the path is named here
		}
		return nil, fmt.Errorf("KEYS_CONFIG: %s: %w", path, err)
	}
	return data, nil
}

// parseKeys reads the file's text. Errors name the line, and never a secret.
func parseKeys(path string, data []byte, getenv func(string) string) ([]key, error) {
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, yamlError(path, err)
	}
	var file struct {
		Keys []namedKey `yaml:"keys"`
	}
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, yamlError(path, err)
	}
	keys := make([]key, 0, len(file.Keys))
	taken := map[[sha256.Size]byte]bool{}
	for i, entry := range file.Keys {
		k, err := entry.key(getenv)
		if err == nil && taken[k.sum] {
			err = errors.New("the same key stands under another entry")
		}
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, lineOf(tree, i), err)
		}
		taken[k.sum] = true
		keys = append(keys, k)
	}
	return keys, nil
}

var (
	keyName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)
	keyFromEnv = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)
)

func (e namedKey) key(getenv func(string) string) (key, error) {
	k := key{caller: caller{name: e.Name, admin: e.Admin, models: e.Models, limits: meter.Limits{
		RPM: e.RPM, RPD: e.RPD, TPM: e.TPM, TPD: e.TPD, Concurrency: e.Concurrency,
	}}}
	switch {
	case !keyName.MatchString(e.Name):
		return k, errors.New("name must be 1 to 64 letters, digits, dots, dashes, underscores or @")
	case (e.Key == "") == (e.SHA256 == ""):
		return k, fmt.Errorf("key %q needs either key or sha256", e.Name)
	case min(e.RPM, e.RPD, e.TPM, e.TPD, e.Concurrency) < 0:
		return k, fmt.Errorf("key %q has a negative limit; 0 is no limit", e.Name)
	}
	for _, pattern := range e.Models {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return k, fmt.Errorf("key %q: models has %q, which is neither a name nor a pattern such as openai/*", e.Name, pattern)
		}
	}
	if e.SHA256 != "" {
		b, err := hex.DecodeString(e.SHA256)
		if err != nil || len(b) != sha256.Size {
			return k, fmt.Errorf("sha256 of key %q must be 64 hex digits", e.Name)
		}
		k.sum = [sha256.Size]byte(b)
		return k, nil
	}
	secret := e.Key
	if m := keyFromEnv.FindStringSubmatch(secret); m != nil {
		if secret = getenv(m[1]); secret == "" {
			return k, fmt.Errorf("key %q is ${%s}, which is not set in the environment", e.Name, m[1])
		}
	}
	k.sum = sha256.Sum256([]byte(secret))
	return k, nil
}

// yamlError keeps the message and the line of a YAML error. The library's own
// text quotes the source around it, and there are keys in it.
func yamlError(path string, err error) error {
	if e, ok := errors.AsType[yaml.Error](err); ok && e.GetToken() != nil {
		return fmt.Errorf("%s, line %d: %s", path, e.GetToken().Position.Line, e.GetMessage())
	}
	return fmt.Errorf("%s is not a valid file of keys", path)
}

// lineOf finds the line of entry n, 1-based; 1 when it cannot.
func lineOf(tree *ast.File, n int) int {
	at, err := yaml.PathString(fmt.Sprintf("$.keys[%d]", n))
	if err != nil {
		return 1
	}
	node, err := at.FilterFile(tree)
	if err != nil {
		return 1
	}
	return node.GetToken().Position.Line
}
