//go:build validators

package deploy_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tools returns the folder in which scripts/deploytools.sh installs the validators. It fails if the folder is not known.
func tools(t *testing.T) string {
	t.Helper()

	dir := os.Getenv("PRESSWORK_DEPLOY")
	if dir == "" {
		t.Fatal("PRESSWORK_DEPLOY is not set; `make check-deploy` runs this test")
	}

	return dir
}

// run returns the standard output of a program. The error of a failed program holds its output.
func run(t *testing.T, stdin []byte, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(tools(t), "python"), "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr

	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s%s", filepath.Base(name), err, out, stderr.Bytes())
	}

	return out, err
}

// TestValidators runs the validators of the programs that read these files. Each validator also
// runs on a file with one error, which it must reject.
func TestValidators(t *testing.T) {
	t.Parallel()
	dir := tools(t)
	type validator struct {
		name, file   string
		right, wrong string // a text in the file, and an invalid text that replaces it
		validate     func(t *testing.T, file string) error
	}
	kubernetes := func(t *testing.T, manifests []byte) error {
		_, err := run(t, manifests, "python3", "testdata/kubernetes.py",
			dir+"/keda.sh_scaledobjects.yaml", dir+"/keda.sh_triggerauthentications.yaml")

		return err
	}
	kubernetesFile := func(t *testing.T, file string) error {
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}

		return kubernetes(t, b)
	}

	cases := []validator{
		{"kubernetes", "kubernetes/api.yaml", "replicas:", "replicaCount:", func(t *testing.T, file string) error {
			built, err := run(t, nil, dir+"/kustomize", "build", filepath.Dir(file))
			if err != nil {
				return err
			}

			return kubernetes(t, built)
		}},
		{"keda", "kubernetes/keda.yaml", "maxReplicaCount:", "maxReplicas:", kubernetesFile},
		{"secret", "kubernetes/secret.example.yaml", "stringData:", "stringsData:", kubernetesFile},
		{"compose", "../docker-compose.yml", "mem_limit: 3g", "memory: 3g", func(t *testing.T, file string) error {
			_, err := run(t, nil, dir+"/compose", file)
			return err
		}},
		{"hadolint", "Dockerfile", "WORKDIR /src", "WORKDIR src", func(t *testing.T, file string) error {
			_, err := run(t, nil, dir+"/python/bin/hadolint", file)
			return err
		}},
		{
			"alerts",
			"prometheus/alerts.yml",
			"sum(rate(presswork_runs_total[10m]))",
			"sum(rate(presswork_runs_total)[10m])",
			func(t *testing.T, file string) error {
				_, err := run(t, nil, dir+"/promtool", "check", "rules", file)
				return err
			},
		},
		{
			"expressions of alerts",
			"prometheus/alerts.yml",
			"> 0.9 * (max(presswork_store_max_bytes) > 0)",
			"> 0.9 * max(presswork_store_max_bytes)",
			func(t *testing.T, file string) error {
				tests, err := os.ReadFile("testdata/alerts_test.yml")
				if err == nil {
					err = os.WriteFile(filepath.Join(filepath.Dir(file), "alerts_test.yml"), tests, 0o600)
				}

				if err == nil {
					_, err = run(t, nil, dir+"/promtool", "test", "rules",
						filepath.Join(filepath.Dir(file), "alerts_test.yml"))
				}

				return err
			},
		},
		{
			"prometheus",
			"prometheus/prometheus.yml",
			"static_configs:",
			"static_config:",
			func(t *testing.T, file string) error {
				_, err := run(t, nil, dir+"/promtool", "check", "config", "--syntax-only", file)
				return err
			},
		},
	}
	for _, unit := range []string{"api", "serve", "worker@"} {
		cases = append(cases, validator{
			"systemd " + unit, "systemd/presswork-" + unit + ".service", "KillMode=mixed", "KillMode=both",
			func(t *testing.T, file string) error {
				out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", file).
					CombinedOutput()
				// systemd-analyze only warns about names that it does not know.
				if err == nil && len(out) > 0 {
					err = errors.New("warnings")
				}

				if err != nil {
					err = fmt.Errorf("systemd-analyze: %w\n%s", err, out)
				}

				return err
			},
		})
	}

	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			if err := c.validate(t, edited(t, c.file, "", "")); err != nil {
				t.Errorf("%s: got %v, want no error", c.file, err)
			}

			if c.validate(t, edited(t, c.file, c.right, c.wrong)) == nil {
				t.Errorf("%s with %q instead of %q: got no error, want one", c.file, c.wrong, c.right)
			}
		})
	}
}

// edited returns the path of a copy of a file with one text replaced, in a copy of its folder.
// In systemd units it also replaces the program by /bin/true, because systemd-analyze looks for the program.
func edited(t *testing.T, file, right, wrong string) string {
	t.Helper()

	dir := t.TempDir()
	if filepath.Dir(file) != ".." {
		if err := os.CopyFS(dir, os.DirFS(filepath.Dir(file))); err != nil {
			t.Fatal(err)
		}
	}

	b, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(b, []byte(right)) {
		t.Fatalf("read %s: %v; want %q in it", file, err, right)
	}
	text := strings.ReplaceAll(strings.Replace(string(b), right, wrong, 1), "/usr/local/bin/presswork", "/bin/true")

	name := filepath.Join(dir, filepath.Base(file))
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	return name
}
