//go:build compat

package compat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rest is the text of the page between the table of cases and the table of the SDKs' own tests.
const rest = "\n`make compat` runs the clients against the real server with a scripted model, and compares this page;\n" +
	"`PRESSWORK_UPDATE=1 make compat` writes it. The server runs with `INFERENCE_VENDOR=groq`, because Groq's clients know\n" +
	"`x_groq` by name. Case A2 runs with `INFERENCE_LAX=true`, because SDKs' own tests send options that cannot be combined.\n\n" +
	`| agent or framework | version | what it does here |
|---|---|---|
| Codex | 0.169.0 | completes tasks with a patch, a shell, namespaces, reasoning summaries |
| Claude Code | 2.1.197 | completes a task with files and a shell |
| Continue | 1.5.47 | the same |
| OpenAI's Agents SDK | 0.24.0 | tools in turns, structured answers, streams |
| LangChain for OpenAI and for Anthropic | 1.7.4, 1.7.10 | the same in the three wire formats; embeddings |
| Pydantic AI | 2.68.0 | the same in the three wire formats |
| Anthropic's SDKs for Python and Node | 2.14.0, 1.14.0 | streams, thinking and tools in turns, built-in tools, the tool runner, errors |
| MCP SDKs for Python, JavaScript and Go | 2.3.0, 1.32.2, 1.8.0 | the tools of presswork mcp and /mcp, in the versions of 2025 and 2026 |
| MCP Inspector | 2.12.0 | tools with --strict, resources, prompts on both |
| Codex with MCP | 0.169.0 | calls convert_markdown of both |

[Settings to copy](../tutorials/clients.md) are run as well, but not those of Open WebUI: its packages have 6.9 GB. By hand,
Open WebUI 0.12.4 listed the models, chatted and embedded a document.

The SDKs' own tests also run. Fields of stored answers and placeholder MCP servers are left out.
`

// page is the path of the page.
const page = "../../../docs/lab/compatibility.md"

// checkPage compares docs/lab/compatibility.md with the results, unless the test has failed. With PRESSWORK_UPDATE=1 it
// writes the page.
func checkPage(t *testing.T, tools string, results map[string]map[string]row) {
	t.Helper()

	if t.Failed() {
		return
	}

	got := renderPage(t, tools, results)
	if os.Getenv("PRESSWORK_UPDATE") != "" {
		if err := os.WriteFile(page, got, 0o644); err != nil {
			t.Error(err)
		}

		return
	}

	if want, err := os.ReadFile(page); err != nil || !bytes.Equal(got, want) {
		t.Errorf(
			"docs/lab/compatibility.md differs from the results (%v); `PRESSWORK_UPDATE=1 make compat` writes it:\n%s",
			err,
			got,
		)
	}
}

// renderPage returns the text of docs/lab/compatibility.md for the results.
func renderPage(t *testing.T, tools string, results map[string]map[string]row) []byte {
	var b bytes.Buffer
	b.WriteString(`# Compatibility

Every case passes in these clients. Clients under "not in" cannot send it.

| client | package | version |
|---|---|---|
`)

	for _, c := range clients {
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", c.name, c.pkg, version(t, tools, c))
	}
	b.WriteString("\n| | case | not in |\n|---|---|---|\n")
	var remarks []string

	for _, k := range cases {
		var without []string

		for _, c := range clients {
			r := results[c.name][k.id]

			name := c.name
			if r.Remark != "" {
				remarks = append(remarks, fmt.Sprintf("%s, %s: %s", k.id, c.name, r.Remark))
				name += fmt.Sprintf(" [%d]", len(remarks))
			}

			if r.Without != "" {
				without = append(without, name)
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", k.id, k.what, cmp.Or(strings.Join(without, ", "), "–"))
	}

	for i, r := range remarks {
		fmt.Fprintf(&b, "\n%d. %s", i+1, r)
	}

	if len(remarks) > 0 {
		b.WriteString("\n")
	}
	b.WriteString(rest)
	b.WriteString("\n| SDK's own tests | of | not run |\n|---|---|---|\n")

	for _, own := range allOwnTests {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", own.name, own.what, cmp.Or(own.reasons(), "–"))
	}

	return b.Bytes()
}

// version returns the installed version of a package.
func version(t *testing.T, tools string, c client) string {
	t.Helper()

	dir, command := c.run(tools)
	switch dir {
	case "js":
		b, err := os.ReadFile(filepath.Join(tools, "node/node_modules", c.pkg, "package.json"))

		var p struct{ Version string }
		if err == nil {
			err = json.Unmarshal(b, &p)
		}

		if err != nil {
			t.Error(err)
		}

		return p.Version
	case "py":
		packages := strings.TrimPrefix(command[1], "PYTHONPATH=")

		found, err := filepath.Glob(filepath.Join(packages, strings.ReplaceAll(c.pkg, "-", "_")+"-*.dist-info"))
		if err != nil || len(found) != 1 {
			t.Errorf("version of %s: found %v, %v; want one package", c.pkg, found, err)
			return ""
		}
		_, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(found[0]), ".dist-info"), "-")

		return version
	}

	b, err := os.ReadFile("openaigo/go.mod")
	if err != nil {
		t.Error(err)
	}
	_, after, _ := strings.Cut(string(b), c.pkg+" v")
	version, _, _ := strings.Cut(after, "\n")

	return version
}
