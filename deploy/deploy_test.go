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

const repository = ".."

// files returns the texts, by name, of the files below paths whose names end in ending. It fails if there is none.
func files(t *testing.T, ending string, paths ...string) map[string]string {
	t.Helper()
	out := map[string]string{}

	for _, p := range paths {
		err := filepath.WalkDir(filepath.Join(repository, p), func(name string, d fs.DirEntry, err error) error {
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

	// "ml" is the end of .yml and .yaml.
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
		t.Errorf("search.formats = %v, error %v; want json in it", settings.Search.Formats, err)
	}
}

// foreign lists the variables of other programs in these files.
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
				t.Errorf("%s names %s, which is no setting of Presswork", name, setting)
			}
		}
	}

	if found < 30 {
		t.Errorf("found %d settings, want at least 30; does the pattern fit the files?", found)
	}
}

// TestImageHasThePackagesOfSetup checks that a container has the packages that
// `make setup setup-tools` installs on a machine.
func TestImageHasThePackagesOfSetup(t *testing.T) {
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

	lists := regexp.MustCompile(`(?:(?:redis|bubblewrap|science|ffmpeg|poppler)\) packages|need_fonts)\+=\(([^)]+)\)`)
	for _, m := range lists.FindAllSubmatch(setup, -1) {
		for name := range strings.FieldsSeq(string(m[1])) {
			found++

			if !slices.Contains(has, name) {
				t.Errorf("the image lacks %s", name)
			}
		}
	}

	if found < 14 {
		t.Errorf("found %d packages, want at least 14; does the pattern fit scripts/setup.sh?", found)
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
	// The code joins the name of a queue gauge from this prefix and a word.
	queue := regexp.MustCompile(`^presswork_queue_(\w+)$`)
	for name, text := range texts {
		metrics := regexp.MustCompile(`\b(?:presswork|gen_ai_server)_[a-z_]+`).FindAllString(text, -1)
		if len(metrics) == 0 {
			t.Errorf("%s names no metric, want at least one", name)
		}

		for _, m := range metrics {
			m = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(m, "")

			want := `"` + m + `"`
			if q := queue.FindStringSubmatch(m); q != nil {
				want = `"` + q[1] + `"`
			}

			if !strings.Contains(code.String(), want) {
				t.Errorf("%s names %s, which is no metric in the code", name, m)
			}
		}
	}
}

// TestEveryAlertIsTested checks that each alert has two tests: one in which it fires, and one
// in which it does not.
func TestEveryAlertIsTested(t *testing.T) {
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
			t.Errorf("alert %s has %d tests, want one in which it fires and one in which it does not", m[1], n)
		}
	}
}

func TestKEDAScalesByEveryQueue(t *testing.T) {
	t.Parallel()

	keda, err := os.ReadFile("kubernetes/keda.yaml")
	if err != nil {
		t.Fatal(err)
	}

	var got, want []string
	for _, m := range regexp.MustCompile(`valueLocation: (.+)`).FindAllStringSubmatch(string(keda), -1) {
		got = append(got, m[1])
	}

	for _, q := range tasks.Queues() {
		want = append(want, fmt.Sprintf("presswork_queue_open{queue=%q}", q),
			fmt.Sprintf("presswork_queue_oldest_seconds{queue=%q}", q))
	}
	slices.Sort(got)
	slices.Sort(want)

	if !slices.Equal(got, want) {
		t.Errorf("keda.yaml scales by %q, want %q", got, want)
	}
}

func TestLinksBetweenDocumentsExist(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	// Links within code are not followed.
	code := regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")
	for name, text := range files(t, ".md", "docs", "deploy", "CONTRIBUTING.md", "CHANGELOG.md") {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), m[1])); err != nil {
				t.Errorf("link in %s: %v", name, err)
			}
		}
	}
}

// manifests returns the objects of a file, by "kind/name".
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

// manifest has the fields of the Kubernetes objects that the tests read.
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

// source is an object whose items a projected volume shows as files.
type source struct {
	Name     string
	Optional bool
	Items    []struct{ Key, Path string }
}

// TestWorkingDirectoriesHaveTheConfiguredFiles checks the deployments: by default, INFERENCE_CONFIG and KEYS_CONFIG name
// files in the working directory.
func TestWorkingDirectoriesHaveTheConfiguredFiles(t *testing.T) {
	t.Parallel()
	have := manifests(t, "config.yaml")
	maps.Copy(have, manifests(t, "secret.example.yaml"))

	const models, keys = "ConfigMap/presswork-models models.yaml", "Secret/presswork-keys keys.yaml"
	for role, want := range map[string][]string{"api": {models, keys}, "worker": {models}} {
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
			t.Errorf("the working directory of %s has %q, want %q", role, got, want)
		}
	}
}

// TestNetworkPolicyAllowsTheEnginesOfTheCluster checks the ports of whisper.cpp, of Ollama and of the engines in
// models.yaml.
func TestNetworkPolicyAllowsTheEnginesOfTheCluster(t *testing.T) {
	t.Parallel()
	var allowed []string

	for _, rule := range manifests(t, "networkpolicy.yaml")["NetworkPolicy/presswork-worker"].Spec.Egress {
		for _, to := range rule.To {
			if to.PodSelector != nil && to.PodSelector.MatchLabels["presswork/engine"] == "true" {
				for _, p := range rule.Ports {
					allowed = append(allowed, fmt.Sprint(p.Port))
				}
			}
		}
	}
	models := manifests(t, "config.yaml")["ConfigMap/presswork-models"].Data["models.yaml"]

	ports := []string{"8080", "11434"}
	for _, m := range regexp.MustCompile(`base_url: "http://[^/"]+:(\d+)/`).FindAllStringSubmatch(models, -1) {
		ports = append(ports, m[1])
	}

	if len(ports) == 2 {
		t.Error("found no engine in models.yaml, want at least one")
	}

	for _, port := range ports {
		if !slices.Contains(allowed, port) {
			t.Errorf("workers may connect to engines on the ports %v, want %s in them", allowed, port)
		}
	}
}
