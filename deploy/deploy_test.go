// Package deploy_test checks that the deployment files parse and name only settings and
// metrics that exist.
package deploy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"presswork/internal/config"
	"presswork/tasks"
)

const top = ".."

// files returns the texts of the files below the paths whose names end in ending.
func files(t *testing.T, ending string, paths ...string) map[string]string {
	t.Helper()
	out := map[string]string{}

	for _, p := range paths {
		err := filepath.WalkDir(filepath.Join(top, p), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ending) {
				return err
			}
			b, err := os.ReadFile(name)
			out[name] = string(b)

			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}

	if len(out) == 0 {
		t.Fatalf("no %s files", ending)
	}

	return out
}

func TestYAMLAndJSONParse(t *testing.T) {
	t.Parallel()

	for name, text := range files(t, "ml", "deploy", "docker-compose.yml", ".devcontainer") {
		d := yaml.NewDecoder(strings.NewReader(text))

		for {
			var v any
			if err := d.Decode(&v); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}

	for name, text := range files(t, ".json", "deploy", ".devcontainer") {
		if !json.Valid([]byte(text)) {
			t.Errorf("%s is not JSON", name)
		}
	}
}

// TestSearXNGAnswersInJSON checks a setting that browser_search needs and that SearXNG does
// not have by default.
func TestSearXNGAnswersInJSON(t *testing.T) {
	t.Parallel()

	b, err := os.ReadFile("searxng/settings.yml")
	if err != nil {
		t.Fatal(err)
	}

	var settings struct {
		Search struct{ Formats []string }
	}
	if err := yaml.Unmarshal(b, &settings); err != nil || !slices.Contains(settings.Search.Formats, "json") {
		t.Errorf("%v; formats are %v", err, settings.Search.Formats)
	}
}

// foreign are variables of other programs in these files.
var foreign = []string{"MINIO_ROOT_USER", "MINIO_ROOT_PASSWORD", "CGO_ENABLED", "SEARXNG_SECRET", "PYTHON_LIBRARIES"}

func TestEverySettingNamedExists(t *testing.T) {
	t.Parallel()

	known := slices.Clone(foreign)
	for _, s := range (config.Config{}).Settings() {
		known = append(known, s.Name)
	}
	// NAME: value, name: NAME, key: NAME, NAME=value; upper case with a "_".
	named := regexp.MustCompile(`\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b *[:=},]|(?:name|key): ([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b`)
	texts := files(t, "ml", "deploy/kubernetes", "docker-compose.yml", ".devcontainer")
	maps.Copy(texts, files(t, ".service", "deploy/systemd"))
	maps.Copy(texts, files(t, "Dockerfile", "deploy"))
	found := 0

	for name, text := range texts {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			found++

			if setting := m[1] + m[2]; !slices.Contains(known, setting) {
				t.Errorf("%s: %s is no setting", name, setting)
			}
		}
	}

	if found < 30 {
		t.Errorf("only %d settings found; the pattern does not fit the files", found)
	}
}

// TestTheImageHasWhatSetupInstalls checks that a container has the packages that
// `make setup setup-tools` installs on a machine.
func TestTheImageHasWhatSetupInstalls(t *testing.T) {
	t.Parallel()

	image, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}

	setup, err := os.ReadFile("../scripts/setup.sh")
	if err != nil {
		t.Fatal(err)
	}
	_, installs, _ := strings.Cut(string(image), "apt-get install")

	installs, _, _ = strings.Cut(installs, "rm -rf")
	if strings.Contains(installs, "${PYTHON_LIBRARIES}") {
		_, libraries, _ := strings.Cut(string(image), "ARG PYTHON_LIBRARIES=\"")
		libraries, _, _ = strings.Cut(libraries, "\"")
		installs += " " + libraries
	}
	has := strings.Fields(installs)
	found := 0

	for _, m := range regexp.MustCompile(`(?:(?:redis|bubblewrap|science|ffmpeg|poppler)\) packages|need_fonts)\+=\(([^)]+)\)`).FindAllSubmatch(setup, -1) {
		for name := range strings.FieldsSeq(string(m[1])) {
			found++

			if !slices.Contains(has, name) {
				t.Errorf("the image lacks %s", name)
			}
		}
	}

	if found < 14 {
		t.Errorf("%d packages found; the pattern does not fit scripts/setup.sh", found)
	}
}

func TestEveryMetricNamedExists(t *testing.T) {
	t.Parallel()
	var code strings.Builder

	for name, text := range files(t, ".go", "api", "worker", "tasks", "internal", "cmd") {
		if !strings.HasSuffix(name, "_test.go") {
			code.WriteString(text)
		}
	}
	texts := files(t, "alerts.yml", "deploy/prometheus")
	maps.Copy(texts, files(t, ".json", "deploy/grafana"))
	maps.Copy(texts, files(t, "operations.md", "docs"))
	// A queue gauge is made of a prefix and a name.
	queue := regexp.MustCompile(`^presswork_queue_(\w+)$`)
	for name, text := range texts {
		metrics := regexp.MustCompile(`\b(?:presswork|gen_ai_server)_[a-z_]+`).FindAllString(text, -1)
		if len(metrics) == 0 {
			t.Errorf("%s names no metric", name)
		}

		for _, m := range metrics {
			m = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(m, "")

			want := `"` + m + `"`
			if q := queue.FindStringSubmatch(m); q != nil {
				want = `"` + q[1] + `"`
			}

			if !strings.Contains(code.String(), want) {
				t.Errorf("%s: nothing measures %s", name, m)
			}
		}
	}
}

// TestEveryAlertIsTried checks that each alert has two tests: one in which it fires, and one
// in which it does not.
func TestEveryAlertIsTried(t *testing.T) {
	t.Parallel()

	alerts, err := os.ReadFile("prometheus/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}

	tests, err := os.ReadFile("testdata/alerts_test.yml")
	if err != nil {
		t.Fatal(err)
	}

	for _, m := range regexp.MustCompile(`- alert: (\w+)`).FindAllSubmatch(alerts, -1) {
		if n := strings.Count(string(tests), `alertname="`+string(m[1])+`"`); n != 2 {
			t.Errorf("%s has %d tests, want one that it fires and one that it does not", m[1], n)
		}
	}
}

func TestWorkersFollowEveryQueue(t *testing.T) {
	t.Parallel()

	keda, err := os.ReadFile(top + "/deploy/kubernetes/keda.yaml")
	if err != nil {
		t.Fatal(err)
	}

	var follows, want []string
	for _, m := range regexp.MustCompile(`valueLocation: (.+)`).FindAllStringSubmatch(string(keda), -1) {
		follows = append(follows, m[1])
	}

	for _, q := range tasks.Queues() {
		want = append(
			want,
			fmt.Sprintf("presswork_queue_open{queue=%q}", q),
			fmt.Sprintf("presswork_queue_oldest_seconds{queue=%q}", q),
		)
	}
	slices.Sort(follows)
	slices.Sort(want)

	if !slices.Equal(follows, want) {
		t.Errorf("keda.yaml follows %q, want %q", follows, want)
	}
}

func TestLinksBetweenDocumentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	// Links within code are not followed.
	code := regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")
	for name, text := range files(t, ".md", "docs", "deploy", "CONTRIBUTING.md", "CHANGELOG.md") {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// manifests returns the objects of a file by kind and name.
func manifests(t *testing.T, name string) map[string]manifest {
	t.Helper()

	b, err := os.ReadFile("kubernetes/" + name)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]manifest{}

	for d := yaml.NewDecoder(strings.NewReader(string(b))); ; {
		var m manifest
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out[m.Kind+"/"+m.Metadata.Name] = m
	}
}

type manifest struct {
	Kind       string
	Metadata   struct{ Name string }
	Data       map[string]string
	StringData map[string]string `yaml:"stringData"`
	Spec       struct {
		Egress []struct {
			To []struct {
				PodSelector *struct {
					MatchLabels map[string]string `yaml:"matchLabels"`
				} `yaml:"podSelector"`
			}
			Ports []struct{ Port int }
		}
		Template struct {
			Spec struct {
				Containers []struct {
					WorkingDir   string `yaml:"workingDir"`
					VolumeMounts []struct {
						Name      string
						MountPath string `yaml:"mountPath"`
					} `yaml:"volumeMounts"`
				}
				Volumes []struct {
					Name      string
					Projected struct{ Sources []map[string]source }
				}
			}
		}
	}
}

type source struct {
	Name     string
	Optional bool
	Items    []struct{ Key, Path string }
}

// TestConfiguredFilesAreWhereTheyAreLookedFor checks the working directories: by default,
// INFERENCE_CONFIG and KEYS_CONFIG name files there.
func TestConfiguredFilesAreWhereTheyAreLookedFor(t *testing.T) {
	t.Parallel()
	have := manifests(t, "config.yaml")
	maps.Copy(have, manifests(t, "secret.example.yaml"))

	for role, want := range map[string][]string{"api": {"ConfigMap/presswork-models models.yaml", "Secret/presswork-keys keys.yaml"}, "worker": {"ConfigMap/presswork-models models.yaml"}} {
		pod := manifests(t, role+".yaml")["Deployment/presswork-"+role].Spec.Template.Spec
		mounted := ""

		for _, m := range pod.Containers[0].VolumeMounts {
			if m.MountPath == pod.Containers[0].WorkingDir {
				mounted = m.Name
			}
		}
		var got []string

		for _, v := range pod.Volumes {
			for _, sources := range v.Projected.Sources {
				for kind, s := range sources {
					kind = map[string]string{"configMap": "ConfigMap", "secret": "Secret"}[kind]
					for _, item := range s.Items {
						if object := have[kind+"/"+s.Name]; v.Name == mounted && s.Optional &&
							object.Data[item.Key]+object.StringData[item.Key] != "" {
							got = append(got, kind+"/"+s.Name+" "+item.Path)
						}
					}
				}
			}
		}

		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s finds %q in its working directory, and not %q", role, got, want)
		}
	}
}

// TestWorkersReachTheEnginesOfTheCluster checks the engines in models.yaml, and Ollama.
func TestWorkersReachTheEnginesOfTheCluster(t *testing.T) {
	t.Parallel()
	var open []string

	for _, rule := range manifests(t, "networkpolicy.yaml")["NetworkPolicy/presswork-worker"].Spec.Egress {
		for _, to := range rule.To {
			if to.PodSelector != nil && to.PodSelector.MatchLabels["presswork/engine"] == "true" {
				for _, p := range rule.Ports {
					open = append(open, fmt.Sprint(p.Port))
				}
			}
		}
	}
	models := manifests(t, "config.yaml")["ConfigMap/presswork-models"].Data["models.yaml"]

	shown := regexp.MustCompile(`base_url: "http://[^/"]+:(\d+)/`).FindAllStringSubmatch(models, -1)
	if len(shown) == 0 {
		t.Error("models.yaml shows no engine")
	}

	for _, port := range append(shown, []string{"", "8080"}, []string{"", "11434"}) {
		if !slices.Contains(open, port[1]) {
			t.Errorf("engines on port %s are not reached; open are %v", port[1], open)
		}
	}
}
