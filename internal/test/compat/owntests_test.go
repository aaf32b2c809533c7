//go:build compat

package compat

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ownTestModels lists the models that the SDKs' own tests name.
var ownTestModels = []string{
	"meta-llama/llama-4-scout-17b-16e-instruct", "model", "model_id", "gpt-6-astra", "claude-opus-5-5",
	"claude-mythos-preview", "claude-opus-4-5", "claude-opus-4-5-20251101", "claude-sonnet-4-5",
	"claude-sonnet-4-5-20250929",
}

// ownTests selects tests of an SDK's own suite, for endpoints that Presswork has.
type ownTests struct {
	// name is the name of the SDK in the table, source its folder, and module its package.
	name, source, module string
	// root is the path in the base address of the SDK, and packages the folders of its packages.
	root     string
	packages []string
	// what and paths are the endpoints and their tests.
	what  string
	paths []string
	// gaps has the tests to leave out, as expressions of pytest, with the reasons.
	gaps map[string]string
}

// allOwnTests has a value for each row of the table of the SDKs' own tests.
var allOwnTests = []ownTests{
	{
		name: "groq-python", source: "groq-1.7.0", module: "groq", packages: []string{"python"},
		what: "chat completions, models", paths: []string{"chat", "test_models.py"},
		gaps: map[string]string{"delete": "deleting models: " + noDeletion},
	},
	{
		name: "openai-python", source: "openai-3.54.0", module: "openai", root: "/v1", packages: []string{"python"},
		what: "Responses", paths: []string{"test_responses.py", "responses/test_input_tokens.py"},
		gaps: map[string]string{
			"retrieve or delete or cancel or compact": "retrieve, delete, cancel, compact: " + stored,
		},
	},
	{
		name: "openai-python", source: "openai-3.54.0", module: "openai", root: "/v1", packages: []string{"python"},
		what: "embeddings", paths: []string{"test_embeddings.py"},
		gaps: map[string]string{
			"(strict or aiohttp) and not params": "strict validation without a format: " + base64Strict,
		},
	},
	{
		name: "anthropic-python", source: "anthropic-2.14.0", module: "anthropic",
		packages: []string{"anthropic-2.14.0", "python"}, what: "Messages, models",
		paths: []string{"test_messages.py", "beta/test_messages.py", "test_models.py"},
	},
}

// The reasons for gaps.
const (
	stored       = "no answer is stored"
	noDeletion   = "models.yaml has them"
	base64Strict = "the SDK asks for base64, which its strict mode rejects"
)

// reasons returns the reasons for the gaps in one line.
func (o *ownTests) reasons() string { return strings.Join(slices.Sorted(maps.Values(o.gaps)), "; ") }

// runOwnTests runs the own tests of the SDKs without the gaps.
func runOwnTests(t *testing.T, tools, base string) {
	for _, own := range allOwnTests {
		t.Run(own.name+", "+own.what, func(t *testing.T) {
			t.Parallel()
			args := []string{"-m", "pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider", "-p", "stateless"}
			var included []string

			for gap := range own.gaps {
				included = append(included, "not ("+gap+")")
			}

			if included != nil {
				args = append(args, "-k", strings.Join(included, " and "))
			}

			for _, path := range own.paths {
				args = append(args, "tests/api_resources/"+path)
			}
			cmd := exec.CommandContext(t.Context(), "python3", args...)
			cmd.Dir = tools + "/tests/" + own.source

			plugin, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}

			path := plugin + "/py:" + tools + "/tests/python"
			for _, p := range own.packages {
				path = tools + "/" + p + ":" + path
			}
			cmd.Env = append(os.Environ(), "PYTHONPATH="+path, "PYTHONDONTWRITEBYTECODE=1", "COMPAT_SDK="+own.module,
				"TEST_API_BASE_URL="+base+own.root)

			out, err := cmd.CombinedOutput()
			if err != nil || !regexp.MustCompile(`(?m)^\d+ passed`).Match(out) {
				t.Errorf("pytest: %v, output\n%s\nwant only passed tests", err, bytes.TrimSpace(out))
			}
		})
	}
}
