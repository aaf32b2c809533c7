//go:build compat

package compat

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
)

// agentModels are the models of the agents with the scenarios that play them. Codex has its own tools for each name.
var agentModels = map[string]string{
	"gpt-5.5": "agent-plan", "gpt-5.6-sol": "agent-plan", "gpt-oss-20b": "agent-plan",
	"tools-plan": "tools-plan", "hello": "hello", "json": "json", "cut": "cut", "busy": "status:503", "context": "context",
}

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
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": writeFile(t, "models.yaml", models.String()), "API_KEY": apiKey, "WORKER_QUEUES": "infer",
	})

	return c.Base
}

// runAgent runs an agent in dir and returns what it prints.
func runAgent(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(os.Environ(), env...), time.Second

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
	codex := os.Getenv("PRESSWORK_COMPAT") + "/codex-0.169.0/node_modules/@openai/codex/bin/codex.js"
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
				os.Getenv("PRESSWORK_COMPAT")+"/nodejs", codex, "exec", "--skip-git-repo-check", "-m", model,
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

	for name, command := range map[string][]string{
		"python": {"py", "python3", "-W", "ignore", "anthropic_sdk.py"},
		"node":   {"js", os.Getenv("PRESSWORK_COMPAT") + "/nodejs", "anthropic.mjs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runAgent(t, command[0], []string{
				"PYTHONPATH=" + packages, "COMPAT_MODULES=" + packages, "COMPAT_BASE=" + base,
				"COMPAT_KEY=" + apiKey, "PYTHONDONTWRITEBYTECODE=1",
			}, command[1], command[2:]...)
		})
	}
}
