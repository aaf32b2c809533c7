//go:build compat

package compat

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
)

// agentModels maps the models of the agents to the scenarios of the scripted server. Codex has its own tools for each
// name of a model.
var agentModels = map[string]string{
	"gpt-5.5":     "agent-plan",
	"gpt-5.6-sol": "agent-plan",
	"gpt-oss-20b": "agent-plan",
	"tools-plan":  "tools-plan",
	"hello":       "hello",
	"json":        "json",
	"cut":         "cut",
	"busy":        "status:503",
	"context":     "context",
	"echo":        "echo",
}

// agentPrograms returns the command of each agent that scripts/compat.sh installs as a program.
func agentPrograms(tools string) map[string][]string {
	node := tools + "/nodejs"
	native, _ := filepath.Glob(tools + "/claude-code-2.1.197/node_modules/@anthropic-ai/claude-code-*/claude")

	return map[string][]string{
		"codex":  {node, tools + "/codex-0.169.0/node_modules/@openai/codex/bin/codex.js"},
		"claude": native,
		"cn":     {node, tools + "/continue-1.5.47/node_modules/@continuedev/cli/dist/cn.js"},
	}
}

// frameworks returns the folder with LangChain and Pydantic AI.
func frameworks(tools string) string { return tools + "/frameworks-1.7.4-1.7.10-2.68.0" }

// offlineSettings keep agents from sending requests to other servers.
var offlineSettings = []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CONTINUE_TELEMETRY_ENABLED=0"}

// serveAgents starts a server with the models of the agents and returns its address.
func serveAgents(t *testing.T) string {
	t.Helper()
	_, base := inferencetest.Start(t)

	var models strings.Builder
	models.WriteString("models:\n")

	for id, scenario := range agentModels {
		fmt.Fprintf(&models, "  - {id: %q, capabilities: [chat, tools, reasoning, vision], "+
			"upstreams: [{base_url: %q, model: %q}]}\n", id, base, scenario)
	}
	fmt.Fprintf(&models, "  - {id: vector, capabilities: [embeddings], upstreams: [{base_url: %q}]}\n", base)
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": writeFile(t, "models.yaml", models.String()), "API_KEY": apiKey, "WORKER_QUEUES": "infer",
	})

	return c.Base
}

// runAgent runs an agent in dir, which must succeed, and returns its output. env is its environment.
func runAgent(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Env = slices.Concat([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, offlineSettings, env)

	defer time.AfterFunc(clientLimit, func() { cmd.Process.Kill() }).Stop()

	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}

	return string(out)
}

// TestCodexCompletesTasks runs Codex with three of its sets of tools. They are a freeform patch with a shell, namespaces
// in an item of the input, and the functions for unknown models.
func TestCodexCompletesTasks(t *testing.T) {
	t.Parallel()
	codex := agentPrograms(os.Getenv("PRESSWORK_COMPAT"))["codex"]
	base := serveAgents(t)

	// The quotes in "mo''del" are in the command only. So the words in the output are those of the shell.
	const done = "say The note is there."

	const patch = `apply_patch {"input":"*** Begin Patch\n*** Add File: note.txt\n+Made by a model.\n*** End Patch\n"}`
	for model, plan := range map[string]string{
		"gpt-5.5": inferencetest.Plan(patch, `think Read it. | exec_command {"cmd":"cat note.txt"}`, done),
		"gpt-5.6-sol": inferencetest.Plan(`think Look. | functions__exec `+
			`{"input":"text((await tools.exec_command({cmd: \"echo Made by a mo''del.\"})).output)"}`, done),
		"gpt-oss-20b": inferencetest.Plan(`think Look. | exec_command {"cmd":"echo Made by a mo''del."}`, done),
	} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			home := filepath.Dir(writeFile(t, "config.toml", codexConfig(base)))

			out := runAgent(t, dir, []string{"CODEX_HOME=" + home, "PRESSWORK_API_KEY=" + apiKey},
				codex[0], codex[1], "exec", "--skip-git-repo-check", "-m", model,
				"-c", `model_reasoning_summary="auto"`, plan)
			if !strings.Contains(out, "Made by a model.") || !strings.HasSuffix(out, "The note is there.\n") {
				t.Errorf("output %s, want the words of the note and The note is there. at the end", out)
			}

			note, err := os.ReadFile(filepath.Join(dir, "note.txt"))
			if model == "gpt-5.5" && (err != nil || string(note) != "Made by a model.\n") {
				t.Errorf("note.txt has %q (%v), want Made by a model.", note, err)
			}
		})
	}
}

// codexConfig returns a config.toml of Codex for the server at base.
func codexConfig(base string) string {
	return fmt.Sprintf("model_provider = \"presswork\"\napproval_policy = \"never\"\n"+
		"sandbox_mode = \"danger-full-access\"\n[model_providers.presswork]\nname = \"Presswork\"\n"+
		"base_url = \"%s/v1\"\nwire_api = \"responses\"\nenv_key = \"PRESSWORK_API_KEY\"\n", base)
}

// TestCodingAgentsCompleteTasks runs Claude Code, which uses Messages, and Continue, which uses chat completions.
func TestCodingAgentsCompleteTasks(t *testing.T) {
	t.Parallel()
	base, agents := serveAgents(t), agentPrograms(os.Getenv("PRESSWORK_COMPAT"))

	for name, tc := range map[string]struct {
		env   []string
		args  []string
		write string // the argument of its tool Write that has the path
	}{
		"claude": {
			[]string{"ANTHROPIC_BASE_URL=" + base, "ANTHROPIC_AUTH_TOKEN=" + apiKey, "ANTHROPIC_MODEL=gpt-oss-20b"},
			[]string{"--allowedTools", "Write,Bash", "-p"},
			"file_path",
		},
		"cn": {nil, []string{
			"--config", writeFile(t, "config.yaml", "name: presswork\nversion: 0.0.1\nschema: v1\n"+
				"models: [{name: m, provider: openai, model: gpt-oss-20b, apiBase: \""+base+"/v1\", apiKey: "+apiKey+"}]\n"),
			"--auto", "-p",
		}, "filepath"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			note := filepath.Join(dir, "note.txt")
			plan := inferencetest.Plan(fmt.Sprintf(`Write {%q:%q,"content":"Made by a model."}`, tc.write, note),
				`Bash {"command":"cat note.txt >copy.txt","description":"Copy"}`, "say The note is there.")

			command := slices.Concat(agents[name], tc.args, []string{plan})

			out := runAgent(t, dir, tc.env, command[0], command[1:]...)
			if !strings.Contains(out, "The note is there.") {
				t.Errorf("output %s, want The note is there. in it", out)
			}

			if text, err := os.ReadFile(filepath.Join(dir, "copy.txt")); string(text) != "Made by a model." {
				t.Errorf("copy.txt has %q (%v), want Made by a model.", text, err)
			}
		})
	}
}

// TestFrameworksGetCorrectAnswers runs LangChain and Pydantic AI. The program checks the answers and exits with an error.
func TestFrameworksGetCorrectAnswers(t *testing.T) {
	t.Parallel()
	runPython(t, frameworks(os.Getenv("PRESSWORK_COMPAT")), "frameworks.py")
}

// TestAgentsSDKGetsCorrectAnswers runs OpenAI's Agents SDK. The program checks the answers and exits with an error.
func TestAgentsSDKGetsCorrectAnswers(t *testing.T) {
	t.Parallel()
	runPython(t, os.Getenv("PRESSWORK_COMPAT")+"/agents-0.24.0", "agents_sdk.py")
}

// runPython runs a program of the folder py with packages, against a server with the models of the agents.
func runPython(t *testing.T, packages, program string) {
	t.Helper()
	runAgent(t, "py", []string{
		"PYTHONPATH=" + packages, "COMPAT_BASE=" + serveAgents(t), "COMPAT_KEY=" + apiKey, "PYTHONDONTWRITEBYTECODE=1",
	}, "python3", "-W", "ignore", program)
}

// TestAnthropicSDKsGetCorrectAnswers runs Anthropic's SDKs. The programs check the answers and exit with an error.
func TestAnthropicSDKsGetCorrectAnswers(t *testing.T) {
	t.Parallel()
	packages, base := os.Getenv("PRESSWORK_COMPAT")+"/anthropic-2.14.0", serveAgents(t)
	web, site := startUpstream(t)
	withTools := serveBuiltins(t, map[string]string{"INFERENCE_CONFIG": writeModels(t, web.URL+"/v1")}, web, site)

	for name, command := range map[string][]string{
		"python": {"py", "python3", "-W", "ignore", "anthropic_sdk.py"},
		"node":   {"js", os.Getenv("PRESSWORK_COMPAT") + "/nodejs", "anthropic.mjs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runAgent(t, command[0], []string{
				"PYTHONPATH=" + packages, "COMPAT_MODULES=" + packages, "COMPAT_BASE=" + base,
				"COMPAT_TOOLS_BASE=" + withTools.Base, "COMPAT_TOOLS_MODEL=" + clients[0].name + "/tools-plan",
				"COMPAT_KEY=" + apiKey, "PYTHONDONTWRITEBYTECODE=1",
			}, command[1], command[2:]...)
		})
	}
}
