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

// agentModels are the models of the agents with the scenarios that play them. Codex has its own tools for each name.
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

// agentPrograms returns the command of each agent that is a program: scripts/compat.sh installs them.
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

// quietly are settings that keep agents from asking other servers.
var quietly = []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CONTINUE_TELEMETRY_ENABLED=0"}

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

// runAgent runs an agent in dir, with env as its environment, and returns what it prints.
func runAgent(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Env = slices.Concat([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, quietly, env)

	defer time.AfterFunc(clientLimit, func() { cmd.Process.Kill() }).Stop()

	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}

	return string(out)
}

// TestCodexCompletesTasks runs Codex with three of its sets of tools. They are a freeform patch with a shell,
// namespaces in an item of the input, and the functions for unknown models.
func TestCodexCompletesTasks(t *testing.T) {
	t.Parallel()
	codex := agentPrograms(os.Getenv("PRESSWORK_COMPAT"))["codex"]
	base := serveAgents(t)

	const patch = `apply_patch {"input":"*** Begin Patch\n*** Add File: note.txt\n+Made by a model.\n*** End Patch\n"}`
	for model, plan := range map[string]string{
		"gpt-5.5": inferencetest.Plan(patch, `think Read it. | exec_command {"cmd":"cat note.txt"}`, "say The note is there."),
		"gpt-5.6-sol": inferencetest.Plan(
			`think Look. | functions__exec {"input":"text((await tools.exec_command({cmd: \"echo Made by a mo''del.\"})).output)"}`,
			"say The note is there."),
		"gpt-oss-20b": inferencetest.Plan(`think Look. | exec_command {"cmd":"echo Made by a mo''del."}`, "say The note is there."),
	} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			home, dir := t.TempDir(), t.TempDir()
			config := fmt.Sprintf("model_provider = \"presswork\"\napproval_policy = \"never\"\n"+
				"sandbox_mode = \"danger-full-access\"\n[model_providers.presswork]\nname = \"Presswork\"\n"+
				"base_url = \"%s/v1\"\nwire_api = \"responses\"\nenv_key = \"PRESSWORK_API_KEY\"\n", base)

			if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}

			out := runAgent(t, dir, []string{"CODEX_HOME=" + home, "PRESSWORK_API_KEY=" + apiKey},
				codex[0], codex[1], "exec", "--skip-git-repo-check", "-m", model,
				"-c", `model_reasoning_summary="auto"`, plan)
			if !strings.Contains(out, "Made by a model.") || !strings.HasSuffix(out, "The note is there.\n") {
				t.Errorf("%s", out)
			}

			note, err := os.ReadFile(filepath.Join(dir, "note.txt"))
			if model == "gpt-5.5" && (err != nil || string(note) != "Made by a model.\n") {
				t.Errorf("note.txt: %q, %v", note, err)
			}
		})
	}
}

// TestCodingAgentsCompleteTasks runs Claude Code, which speaks Messages, and Continue, which speaks chat completions.
func TestCodingAgentsCompleteTasks(t *testing.T) {
	t.Parallel()
	base, agents := serveAgents(t), agentPrograms(os.Getenv("PRESSWORK_COMPAT"))

	for name, tc := range map[string]struct {
		env   []string
		args  []string
		write string
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
			if out := runAgent(
				t,
				dir,
				tc.env,
				command[0],
				command[1:]...); !strings.Contains(
				out,
				"The note is there.",
			) {
				t.Errorf("%s", out)
			}

			if text, err := os.ReadFile(filepath.Join(dir, "copy.txt")); string(text) != "Made by a model." {
				t.Errorf("copy.txt: %q, %v", text, err)
			}
		})
	}
}

func TestFrameworksRun(t *testing.T) {
	t.Parallel()
	runAgent(t, "py", []string{
		"PYTHONPATH=" + frameworks(os.Getenv("PRESSWORK_COMPAT")),
		"COMPAT_BASE=" + serveAgents(t),
		"COMPAT_KEY=" + apiKey,
		"PYTHONDONTWRITEBYTECODE=1",
	}, "python3", "-W", "ignore", "frameworks.py")
}

func TestTheAgentsSDKRuns(t *testing.T) {
	t.Parallel()
	runAgent(t, "py", []string{
		"PYTHONPATH=" + os.Getenv("PRESSWORK_COMPAT") + "/agents-0.24.0", "COMPAT_BASE=" + serveAgents(t),
		"COMPAT_KEY=" + apiKey, "PYTHONDONTWRITEBYTECODE=1",
	}, "python3", "-W", "ignore", "agents_sdk.py")
}

func TestAnthropicsSDKsRun(t *testing.T) {
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
				"COMPAT_TOOLS_BASE=" + withTools.Base, "COMPAT_TOOLS_MODEL=" + clients[0].name + "/tools-plan", "COMPAT_KEY=" + apiKey, "PYTHONDONTWRITEBYTECODE=1",
			}, command[1], command[2:]...)
		})
	}
}
