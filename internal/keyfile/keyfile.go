// Package keyfile reads keys.yaml, the file of named API keys, and edits it.
package keyfile

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
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"presswork/internal/input"
	"presswork/tasks/stream"
)

// maxSize is the largest file of keys, in bytes.
const maxSize = 1 << 20

// tiers are the service tiers that an entry may grant.
var tiers = []string{string(stream.Flex), string(stream.Performance)}

// Tiers returns the service tiers beside the default, which an entry may grant.
func Tiers() []string { return slices.Clone(tiers) }

// Entry is one entry of the file. The limits other than rpm, the models and the tiers hold
// for completions.
type Entry struct {
	Name        string   `yaml:"name"`
	Key         string   `yaml:"key,omitempty"`
	SHA256      string   `yaml:"sha256,omitempty"`
	Admin       bool     `yaml:"admin,omitempty"`
	Models      []string `yaml:"models,flow,omitempty"`
	Tiers       []string `yaml:"tiers,flow,omitempty"`
	RPM         int      `yaml:"rpm,omitempty"`
	RPD         int      `yaml:"rpd,omitempty"`
	TPM         int      `yaml:"tpm,omitempty"`
	TPD         int      `yaml:"tpd,omitempty"`
	Concurrency int      `yaml:"concurrency,omitempty"`
	// Sum is the digest of the key.
	Sum [sha256.Size]byte `yaml:"-"`
}

// Read returns the file's text.
func Read(path string) ([]byte, error) {
	data, err := input.ReadFile(path, maxSize)
	if err != nil {
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			err = e.Err // the path is named here
		}

		return nil, fmt.Errorf("KEYS_CONFIG: %s: %w", path, err)
	}

	return data, nil
}

// Parse reads the file's text; getenv resolves the keys of the form ${NAME}. Errors name the
// line, and never a secret.
func Parse(path string, data []byte, getenv func(string) string) ([]Entry, error) {
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, yamlError(path, err)
	}

	var file struct {
		Keys []Entry `yaml:"keys"`
	}
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).
		Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, yamlError(path, err)
	}
	taken := map[[sha256.Size]byte]bool{}

	for i := range file.Keys {
		e := &file.Keys[i]

		err := e.check(getenv)
		if err == nil && taken[e.Sum] {
			err = errors.New("the same key stands under another entry")
		}

		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, lineOf(tree, i), err)
		}
		taken[e.Sum] = true
	}

	return file.Keys, nil
}

var (
	keyName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)
	keyFromEnv = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)
)

// check refuses what an entry may not be, and sets its Sum.
func (e *Entry) check(getenv func(string) string) error {
	switch {
	case !keyName.MatchString(e.Name):
		return errors.New("name must be 1 to 64 letters, digits, dots, dashes, underscores or @")
	case (e.Key == "") == (e.SHA256 == ""):
		return fmt.Errorf("key %q needs either key or sha256", e.Name)
	case min(e.RPM, e.RPD, e.TPM, e.TPD, e.Concurrency) < 0:
		return fmt.Errorf("key %q has a negative limit; 0 is no limit", e.Name)
	}

	for _, pattern := range e.Models {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return fmt.Errorf("key %q: models has %q, which is neither a name nor a pattern such as openai/*", e.Name,
				pattern)
		}
	}

	for _, tier := range e.Tiers {
		if !slices.Contains(tiers, tier) {
			return fmt.Errorf("key %q: tiers has %q%s; allowed: %s",
				e.Name, tier, input.DidYouMean(tier, tiers), strings.Join(tiers, ", "))
		}
	}

	if e.SHA256 != "" {
		b, err := hex.DecodeString(e.SHA256)
		if err != nil || len(b) != sha256.Size {
			return fmt.Errorf("sha256 of key %q must be 64 hex digits", e.Name)
		}
		e.Sum = [sha256.Size]byte(b)

		return nil
	}

	secret := e.Key
	if m := keyFromEnv.FindStringSubmatch(secret); m != nil {
		if secret = getenv(m[1]); secret == "" {
			return fmt.Errorf("key %q is ${%s}, which is not set in the environment", e.Name, m[1])
		}
	}
	e.Sum = sha256.Sum256([]byte(secret))

	return nil
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
