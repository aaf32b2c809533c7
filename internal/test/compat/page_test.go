//go:build compat

package compat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const page = "../../../docs/compatibility.md"

// checkPage writes docs/compatibility.md with PRESSWORK_UPDATE=1, and else
// compares it with what was found.
func checkPage(t *testing.T, tools string, results map[string]map[string]row) {
	t.Helper()
	if t.Failed() {
		return
	}
	got := render(t, tools, results)
	if os.Getenv("PRESSWORK_UPDATE") != "" {
		if err := os.WriteFile(page, got, 0o644); err != nil {
			t.Error(err)
		}
		return
	}
	if want, err := os.ReadFile(page); err != nil || !bytes.Equal(got, want) {
		t.Errorf(
			"docs/compatibility.md does not say what was found (%v); `PRESSWORK_UPDATE=1 make compat` writes it:\n%s",
			err,
			got,
		)
	}
}

func render(t *testing.T, tools string, results map[string]map[string]row) []byte {
	var b bytes.Buffer
	b.WriteString(`# Compatibility

Printed by ` + "`PRESSWORK_UPDATE=1 make compat`" + `, which runs the official clients against the real server, its queue and worker, with a
scripted model behind them. ✓ passes; – the client has no way to ask for it. The server runs with ` + "`INFERENCE_VENDOR=groq`" + `,
because Groq's clients know ` + "`x_groq`" + ` by name, and A2 with ` + "`INFERENCE_LAX=true`" + `, because SDKs' own tests send options that
exclude each other. The tests of chat completions and models that come with groq-python pass, too.

| client | package | version |
|---|---|---|
`)
	for _, c := range clients {
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", c.name, c.of, version(t, tools, c))
	}
	b.WriteString("\n| | case |")
	for _, c := range clients {
		b.WriteString(" " + c.name + " |")
	}
	b.WriteString("\n|---|---|" + strings.Repeat(":-:|", len(clients)) + "\n")
	var remarks []string
	for _, k := range cases {
		fmt.Fprintf(&b, "| %s | %s |", k.id, k.what)
		for _, c := range clients {
			r := results[c.name][k.id]
			mark := "✓"
			if r.Without != "" {
				mark = "–"
			}
			if r.Remark != "" {
				remarks = append(remarks, fmt.Sprintf("%s, %s: %s", k.id, c.name, r.Remark))
				mark += fmt.Sprintf(" [%d]", len(remarks))
			}
			b.WriteString(" " + mark + " |")
		}
		b.WriteString("\n")
	}
	for i, r := range remarks {
		fmt.Fprintf(&b, "\n%d. %s", i+1, r)
	}
	if len(remarks) > 0 {
		b.WriteString("\n")
	}
	return b.Bytes()
}

// version reads what is installed.
func version(t *testing.T, tools string, c client) string {
	t.Helper()
	dir, command := c.run(tools)
	switch dir {
	case "js":
		b, err := os.ReadFile(filepath.Join(tools, "node/node_modules", c.of, "package.json"))
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
		found, err := filepath.Glob(filepath.Join(packages, strings.ReplaceAll(c.of, "-", "_")+"-*.dist-info"))
		if err != nil || len(found) != 1 {
			t.Errorf("the version of %s: %v %v", c.of, found, err)
			return ""
		}
		_, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(found[0]), ".dist-info"), "-")
		return version
	}
	b, err := os.ReadFile("openaigo/go.mod")
	if err != nil {
		t.Error(err)
	}
	_, after, _ := strings.Cut(string(b), c.of+" v")
	version, _, _ := strings.Cut(after, "\n")
	return version
}
