// Package keyfile reads keys.yaml, the file of named API keys, and edits it. [Parse] returns its entries. [Add] and
// [Remove] change one entry as text, so that comments and the order stay, and check the result before they write it.
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
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"presswork/internal/input"
	"presswork/internal/lazyregexp"
	"presswork/tasks/stream"
)

// maxSize is the largest keys.yaml, in bytes.
const maxSize = 1 << 20

// tiers are the service tiers that an entry may grant.
var tiers = []string{string(stream.Flex), string(stream.Performance)}

// Tiers returns the service tiers that an entry may grant in addition to the default tier.
func Tiers() []string { return slices.Clone(tiers) }

// Entry is one key in the file. RPM counts every request that creates work. The other limits, the models and the
// tiers apply to completions.
type Entry struct {
	Name string `yaml:"name"`
	// An entry has either Key, the key itself or ${NAME}, or SHA256, the hexadecimal digest of the key.
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
	// Sum is the SHA-256 digest of the key, set by Parse.
	Sum [sha256.Size]byte `yaml:"-"`
}

// Read returns the text of the file. Errors name the path; fs.ErrNotExist is among them.
func Read(path string) ([]byte, error) {
	data, err := input.ReadFile(path, maxSize)
	if err != nil {
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			err = e.Err // the message below names the path
		}

		return nil, fmt.Errorf("KEYS_CONFIG: %s: %w", path, err)
	}

	return data, nil
}

// Parse returns the entries of the file's text. getenv resolves keys of the form ${NAME}. Errors name the line,
// and never a secret.
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
			err = errors.New("another entry has the same key")
		}

		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, lineOf(tree, i), err)
		}
		taken[e.Sum] = true
	}

	return file.Keys, nil
}

var (
	// keyName matches an allowed name; keyFromEnv matches a key that is read from an environment variable.
	keyName    = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)
	keyFromEnv = lazyregexp.New(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)
)

// check returns an error when the entry is not valid, and sets its Sum.
func (e *Entry) check(getenv func(string) string) error {
	switch {
	case !keyName().MatchString(e.Name):
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
	if m := keyFromEnv().FindStringSubmatch(secret); m != nil {
		if secret = getenv(m[1]); secret == "" {
			return fmt.Errorf("key %q is ${%s}, which is not set in the environment", e.Name, m[1])
		}
	}
	e.Sum = sha256.Sum256([]byte(secret))

	return nil
}

// yamlError returns an error with the message and the line of a YAML error. The library's own text quotes the
// source, which holds keys.
func yamlError(path string, err error) error {
	if e, ok := errors.AsType[yaml.Error](err); ok && e.GetToken() != nil {
		return fmt.Errorf("%s, line %d: %s", path, e.GetToken().Position.Line, e.GetMessage())
	}

	return fmt.Errorf("%s is not a valid file of keys", path)
}

// lineOf returns the line of entry n, which counts from 0; 1 when it is not found.
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
