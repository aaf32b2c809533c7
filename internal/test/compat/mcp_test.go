//go:build compat

package compat

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
)

// serveMCP starts a server that needs apiKey, and returns its address.
func serveMCP(t *testing.T) string {
	t.Helper()
	_, c := e2e.Serve(t, map[string]string{"API_KEY": apiKey})

	return c.Base
}

// here returns the absolute path of a file in the folder of the tests.
func here(t *testing.T, path string) string {
	t.Helper()

	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}

	return full
}

// TestMCPSDKsUseBothTransports runs the official SDKs. The programs check the results and exit with an error.
func TestMCPSDKsUseBothTransports(t *testing.T) {
	t.Parallel()
	tools, program, base := os.Getenv("PRESSWORK_COMPAT"), e2e.Binary(t), serveMCP(t)

	for name, row := range map[string]struct {
		packages string
		command  func(dir string) []string
	}{
		"python": {tools + "/mcp-2.3.0", func(string) []string {
			return []string{"python3", "-W", "ignore", here(t, "py/mcp_sdk.py"), program}
		}},
		"node": {tools + "/mcp-node-1.32.2", func(dir string) []string {
			return []string{tools + "/nodejs", here(t, "js/mcp.mjs"), program, dir}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			command := row.command(dir)
			runAgent(t, dir, []string{
				"PYTHONPATH=" + row.packages, "COMPAT_MODULES=" + row.packages, "COMPAT_BASE=" + base,
				"COMPAT_KEY=" + apiKey, "PYTHONDONTWRITEBYTECODE=1",
			}, command[0], command[1:]...)
		})
	}
}

// TestMCPInspectorAcceptsTheServers runs the command line of the MCP Inspector, which also checks the schemas of tools.
func TestMCPInspectorAcceptsTheServers(t *testing.T) {
	t.Parallel()
	tools := os.Getenv("PRESSWORK_COMPAT")
	inspector := tools + "/inspector-2.12.0/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
	dir := t.TempDir()
	stdio := []string{e2e.Binary(t), "mcp"}
	http := []string{serveMCP(t) + "/mcp", "--transport", "http", "--header", "X-API-Key: " + apiKey}

	for name, server := range map[string][]string{"stdio": stdio, "http": http} {
		for _, row := range []struct {
			args string
			want string
		}{
			{"--method tools/list --strict", `"convert_markdown"`},
			{"--method tools/call --tool-name convert_markdown --tool-arg output=a.pdf markdown=text theme=nord", "1 page"},
			{"--method resources/read --uri presswork://options", "`toc`"},
			{"--method prompts/list", `"report"`},
		} {
			t.Run(name+" "+strings.Fields(row.args)[1], func(t *testing.T) {
				args := append([]string{inspector, "--cli"}, server...)

				out := runAgent(t, dir, []string{"HOME=" + dir}, tools+"/nodejs",
					append(args, strings.Fields(row.args)...)...)
				if !strings.Contains(out, row.want) {
					t.Errorf("output %s, want %s in it", out, row.want)
				}
			})
		}
	}
}

// TestCodexConvertsByMCP runs Codex with a local and a remote server. A scripted model calls convert_markdown of both.
func TestCodexConvertsByMCP(t *testing.T) {
	t.Parallel()
	codex, dir := agentPrograms(os.Getenv("PRESSWORK_COMPAT"))["codex"], t.TempDir()
	config := codexConfig(serveAgents(t)) + fmt.Sprintf(
		"[mcp_servers.local]\ncommand = %q\nargs = [\"mcp\"]\ncwd = %q\n"+
			"[mcp_servers.remote]\nurl = \"%s/mcp\"\nbearer_token_env_var = \"PRESSWORK_API_KEY\"\n",
		e2e.Binary(t), dir, serveMCP(t))
	home := filepath.Dir(writeFile(t, "config.toml", config))

	out := runAgent(t, dir, []string{"CODEX_HOME=" + home, "PRESSWORK_API_KEY=" + apiKey},
		codex[0], codex[1], "exec", "--skip-git-repo-check", "-m", "gpt-oss-20b", inferencetest.Plan(
			`mcp__local__convert_markdown {"markdown":"# Minutes","output":"minutes.pdf","theme":"nord"}`,
			`mcp__remote__convert_markdown {"markdown":"# Minutes","output":"minutes.pdf"}`))

	if pdf, err := os.ReadFile(filepath.Join(dir, "minutes.pdf")); err != nil ||
		!strings.HasPrefix(string(pdf), "%PDF-") {
		t.Errorf("minutes.pdf has %.20q (%v), want a PDF; output:\n%s", pdf, err, out)
	}

	if !strings.Contains(out, "Download it from http://") {
		t.Errorf("output %s, want the address of a download in it", out)
	}
}
