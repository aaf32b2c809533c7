package local

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	"presswork/internal/chromium"
)

// Machine is what this machine offers the program.
type Machine struct {
	Chromium Program `json:"chromium"`
	// Sandbox tells whether Chromium's own sandbox confines it here;
	// SandboxReason, why not.
	Sandbox       bool    `json:"sandbox"`
	SandboxReason string  `json:"sandbox_reason,omitempty"`
	Redis         Program `json:"redis"`
	// Scripts are writing systems that no text font covers everywhere.
	Scripts  []Script  `json:"scripts"`
	Problems []Problem `json:"problems"`
}

// Program is one that was looked for; all fields are empty when it is missing.
type Program struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

// Script is a writing system and the font that covers it, "" for none.
type Script struct {
	Name string `json:"name"`
	Font string `json:"font"`
}

// Problem is something missing or broken and how to mend it.
type Problem struct {
	What string `json:"what"`
	Fix  string `json:"fix"`
}

// inspectLimit bounds the start of the browser that Inspect tries.
const inspectLimit = 20 * time.Second

// Inspect looks at the machine; the browser is started and ended for it. The
// error is ctx's cause.
func Inspect(ctx context.Context) (Machine, error) {
	m := Machine{Scripts: []Script{}, Problems: []Problem{}}
	m.inspectChromium(ctx)
	m.inspectRedis(ctx)
	m.inspectFonts(ctx)
	if ctx.Err() != nil {
		return m, context.Cause(ctx)
	}
	return m, nil
}

func (m *Machine) problem(what, fix string) { m.Problems = append(m.Problems, Problem{what, fix}) }

func (m *Machine) inspectChromium(ctx context.Context) {
	path, err := chromium.Find("")
	if err != nil {
		what, fix, _ := strings.Cut(err.Error(), "; ")
		m.problem(what, fix)
		return
	}
	m.Chromium.Path = path
	ctx, cancel := context.WithTimeoutCause(ctx, inspectLimit, errors.New("it does not start"))
	defer cancel()
	b := chromium.New(chromium.Options{Tabs: 1})
	err = b.Start(ctx)
	if err == nil {
		err = b.Health(ctx)
	}
	if err == nil {
		m.Chromium.Version = b.Version()
		m.Sandbox, m.SandboxReason = b.Sandbox()
	}
	if err := errors.Join(err, b.Stop(ctx)); err != nil {
		m.problem("Chromium does not work: "+Message(err), "run "+path+" --version by hand; install it anew with `make setup`")
		return
	}
	if !m.Sandbox {
		m.problem("Chromium's own sandbox is off: "+m.SandboxReason,
			"allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1; in a container, a seccomp profile that allows them)")
	}
}

func (m *Machine) inspectRedis(ctx context.Context) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		m.problem("redis-server is not installed; only `presswork serve` without REDIS_URL needs it",
			"`make setup` installs it; by hand: apt install redis-server, or brew install redis")
		return
	}
	m.Redis.Path = path
	said, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		m.problem("redis-server does not start: "+err.Error(), "install it anew")
		return
	}
	// "Redis server v=7.0.15 sha=…"
	for _, word := range strings.Fields(string(said)) {
		if v, ok := strings.CutPrefix(word, "v="); ok {
			m.Redis.Version = v
		}
	}
}

// scripts are the writing systems that are looked for, each by a character that
// its fonts have, and the Debian package with such a font.
func scripts() []struct{ name, codepoint, pkg string } {
	return []struct{ name, codepoint, pkg string }{
		{"Latin, Greek, Cyrillic", "0416", "fonts-noto-core"},
		{"Chinese", "4f60", "fonts-noto-cjk"},
		{"Japanese", "3042", "fonts-noto-cjk"},
		{"Korean", "d55c", "fonts-noto-cjk"},
		{"Arabic", "0639", "fonts-noto-core"},
		{"Hebrew", "05d0", "fonts-noto-core"},
		{"Thai", "0e01", "fonts-noto-core"},
		{"Devanagari", "0915", "fonts-noto-core"},
		{"Emoji", "1f600", "fonts-noto-color-emoji"},
	}
}

func (m *Machine) inspectFonts(ctx context.Context) {
	list, err := exec.LookPath("fc-list")
	if err != nil {
		m.problem("fonts cannot be looked up: fontconfig's fc-list is not installed", "apt install fontconfig")
		return
	}
	missing := map[string][]string{} // scripts by package
	var packages []string
	for _, s := range scripts() {
		said, err := exec.CommandContext(ctx, list, ":charset="+s.codepoint, "family").Output()
		if err != nil {
			m.problem("fonts cannot be looked up: fc-list: "+err.Error(), "apt install fontconfig")
			return
		}
		font := bestFont(string(said))
		m.Scripts = append(m.Scripts, Script{s.name, font})
		if font == "" {
			if missing[s.pkg] == nil {
				packages = append(packages, s.pkg)
			}
			missing[s.pkg] = append(missing[s.pkg], s.name)
		}
	}
	for _, pkg := range packages {
		m.problem("no font for "+strings.Join(missing[pkg], ", ")+": such text is printed as boxes", "apt install "+pkg)
	}
}

// bestFont picks a family out of fc-list's lines: the Noto one that the
// installer brings if it is there, else the first by name.
func bestFont(lines string) string {
	best := ""
	for line := range strings.Lines(lines) {
		family, _, _ := strings.Cut(strings.TrimSpace(line), ",")
		rank := func(f string) bool { return strings.HasPrefix(f, "Noto") }
		if family != "" && (best == "" || rank(family) && !rank(best) || rank(family) == rank(best) && family < best) {
			best = family
		}
	}
	return best
}
