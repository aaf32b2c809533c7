//go:build compat

package compat

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
)

const apiKey = "key-of-the-description"

// described has a running server, its OpenAPI description in a file, and the folder of the tools that check it.
type described struct {
	tools, dir, file, base string
}

// serveDescription starts a server and writes its /openapi.yaml to a file.
func serveDescription(t *testing.T) described {
	t.Helper()

	tools := os.Getenv("PRESSWORK_COMPAT")
	if tools == "" {
		t.Fatal("PRESSWORK_COMPAT is not set; `make compat` runs this test")
	}
	_, model := inferencetest.Start(t)
	config := writeFile(t, "models.yaml", fmt.Sprintf("models:\n  - {id: hello, upstreams: [{base_url: %q}]}\n", model))
	// Generated requests have generated addresses. So the server sends no webhooks and opens no pages.
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": config, "API_KEY": apiKey,
		"WORKER_QUEUES": "render,export,bulk,infer", "EXPORT_ALLOW_HOSTS": "localhost",
	})

	status, _, served := c.Do(http.MethodGet, "/openapi.yaml", "", nil)
	if status != http.StatusOK {
		t.Fatalf("/openapi.yaml: status %d, want 200", status)
	}
	// The examples must name a model of this server.
	served = bytes.ReplaceAll(served, []byte("model: openai/gpt-oss-20b"), []byte("model: hello"))
	d := described{tools: tools, dir: t.TempDir(), base: c.Base}

	d.file = filepath.Join(d.dir, "openapi.yaml")
	if err := os.WriteFile(d.file, served, 0o600); err != nil {
		t.Fatal(err)
	}

	return d
}

// run runs a tool in the folder of the description. The tool must succeed.
func (d described) run(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = d.dir
	cmd.Env = append(os.Environ(), "PYTHONPATH="+d.dir+"/client:"+d.tools+"/openapi", "PYTHONDONTWRITEBYTECODE=1",
		"COMPAT_BASE="+d.base, "COMPAT_KEY="+apiKey, "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")

	defer time.AfterFunc(clientLimit, func() { cmd.Process.Kill() }).Stop()

	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

// node runs a program of an npm package, which must succeed.
func (d described) node(t *testing.T, script string, args ...string) {
	t.Helper()
	d.run(t, d.tools+"/nodejs", append([]string{filepath.Join(d.tools, "node/node_modules", script)}, args...)...)
}

// TestServedDescription checks /openapi.yaml with validators, generated clients and generated requests.
func TestServedDescription(t *testing.T) {
	t.Parallel()
	d := serveDescription(t)

	sources, err := filepath.Abs("openapi")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("is valid", func(t *testing.T) {
		d.run(t, "python3", "-m", "openapi_spec_validator", d.file)
		d.node(t, "@redocly/cli/bin/cli.js", "lint", "--config", sources+"/redocly.yaml", d.file)
	})
	t.Run("generates a client in Python", func(t *testing.T) {
		d.run(t, "python3", "-m", "openapi_python_client", "generate", "--path", d.file, "--config",
			sources+"/python-client.yaml", "--meta", "none", "--fail-on-warning", "--output-path",
			"client/presswork_client")
		d.run(t, "python3", sources+"/client.py")
	})
	t.Run("generates types in TypeScript", func(t *testing.T) {
		program, err := os.ReadFile(sources + "/client.ts")
		if err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(d.dir+"/client.mts", program, 0o600); err != nil {
			t.Fatal(err)
		}

		if err := os.Symlink(d.tools+"/node/node_modules", d.dir+"/node_modules"); err != nil {
			t.Fatal(err)
		}
		// A request may leave out fields that have a default.
		d.node(t, "openapi-typescript/bin/cli.js", d.file, "--default-non-nullable", "false", "--output", "schema.d.ts")
		d.node(t, "typescript/bin/tsc", "--strict", "--skipLibCheck", "false", "--target", "es2022", "--module",
			"nodenext", "--lib", "es2022,dom", "client.mts")
		d.run(t, d.tools+"/nodejs", "client.mjs")
	})
	t.Run("matches the responses", func(t *testing.T) {
		// A schema cannot express three rules, so their checks are excluded. The server rejects content of blanks, takes
		// an empty parameter as absent, and keeps a cancelled job after DELETE.
		d.run(t, "python3", d.tools+"/openapi/bin/st", "run", d.file, "--url", d.base, "--header",
			"X-API-Key: "+apiKey, "--no-color", "--seed", "1", "--max-examples", "3", "--max-time", "45",
			"--request-timeout", "70", "--exclude-path", "/monitor", "--exclude-checks",
			"positive_data_acceptance,negative_data_rejection,ensure_resource_availability,use_after_free")
	})
}
