package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"presswork/internal/chromium"
	"presswork/internal/chromium/fonts"
	"presswork/internal/embedded"
)

// Machine describes the programs and fonts of this machine.
type Machine struct {
	Chromium Program `json:"chromium"`
	// Sandbox reports whether Chromium's own sandbox works here. SandboxReason is the reason if not.
	Sandbox       bool   `json:"sandbox"`
	SandboxReason string `json:"sandbox_reason,omitempty"`
	// NetworkIsolated reports whether its processes have no network.
	NetworkIsolated bool `json:"network_isolated"`
	// Redis is redis-server or a compatible program.
	Redis Program `json:"redis"`
	// Fonts are the embedded families. The browser gets them through FontConfig, which is empty without
	// fontconfig.
	Fonts      []Font `json:"fonts"`
	FontConfig string `json:"font_config"`
	// Scripts are writing systems with the fonts that cover them.
	Scripts  []Script  `json:"scripts"`
	Problems []Problem `json:"problems"`
}

// Program is a program that was looked up. All fields are empty when it is missing.
type Program struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

// Font is an embedded family.
type Font struct {
	Name string `json:"name"`
	// Kind is sans, serif, mono, display, math or symbols.
	Kind string `json:"kind"`
}

// Script is a writing system and the font that covers it, "" for none.
type Script struct {
	Name string `json:"name"`
	Font string `json:"font"`
}

// Problem is a missing or broken part with its remedy.
type Problem struct {
	What string `json:"what"`
	Fix  string `json:"fix"`
}

// inspectLimit bounds the start of the browser in Inspect.
const inspectLimit = 20 * time.Second

// Inspect examines the machine. It starts and ends the browser, which is that of Options.Browser. The error is the
// cause of ctx.
func Inspect(ctx context.Context, browser string) (Machine, error) {
	m := Machine{Fonts: []Font{}, Scripts: []Script{}, Problems: []Problem{}}
	m.inspectChromium(ctx, browser)
	m.inspectRedis(ctx)
	m.inspectFonts()
	m.inspectScripts(ctx)

	if ctx.Err() != nil {
		return m, context.Cause(ctx)
	}

	return m, nil
}

// problem adds a problem.
func (m *Machine) problem(what, fix string) { m.Problems = append(m.Problems, Problem{what, fix}) }

// inspectChromium starts the browser once, and records its version, its sandbox and its problems.
func (m *Machine) inspectChromium(ctx context.Context, browser string) {
	path, err := chromium.Find(browser)
	if err != nil {
		what, fix, _ := strings.Cut(err.Error(), "; ")
		m.problem(what, fix)

		return
	}
	m.Chromium.Path = path

	ctx, cancel := context.WithTimeoutCause(ctx, inspectLimit, errors.New("it does not start"))
	defer cancel()
	b := chromium.New(chromium.Options{Path: browser, Tabs: 1})

	err = b.Start(ctx)
	if err == nil {
		err = b.Health(ctx)
	}

	if err == nil {
		m.Chromium.Version = b.Version()
		m.Sandbox, m.SandboxReason = b.Sandbox()
		m.NetworkIsolated = b.NetworkIsolated()
	}

	if err := errors.Join(err, b.Stop(ctx)); err != nil {
		m.problem("Chromium does not work: "+Message(err),
			"run "+path+" --version by hand; reinstall it with `make setup`")

		return
	}

	if !m.Sandbox {
		m.problem(
			"Chromium's own sandbox is off: "+m.SandboxReason,
			"allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1; in a container, a "+
				"seccomp profile that allows them)",
		)
	}
}

// inspectRedis records whether redis-server is installed and starts.
func (m *Machine) inspectRedis(ctx context.Context) {
	path, err := embedded.FindServer()
	if err != nil {
		m.problem("redis-server is not installed; only `presswork serve` without REDIS_URL needs it",
			"`make setup` installs it; by hand: apt install redis-server, or brew install redis")

		return
	}
	m.Redis.Path = path

	output, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		m.problem(path+" does not start: "+err.Error(), "reinstall it")
		return
	}
	// "Redis server v=7.0.15 sha=…"
	for word := range strings.FieldsSeq(string(output)) {
		if v, ok := strings.CutPrefix(word, "v="); ok {
			m.Redis.Version = v
		}
	}
}

// script is a writing system to look up.
type script struct {
	name          string
	sample        rune   // a character that only fonts of the script have
	lang          string // the language that a page would declare, as fontconfig writes it; "" for none
	debianPackage string // has a font for the script
}

// scripts lists writing systems, each with a character to test and the package that has it.
func scripts() []script {
	return []script{
		{"Latin, Greek, Cyrillic", 'Ж', "", "fonts-noto-core"},
		{"Chinese", '你', "zh-cn", "fonts-noto-cjk"},
		{"Japanese", 'あ', "ja", "fonts-noto-cjk"},
		{"Korean", '한', "ko", "fonts-noto-cjk"},
		{"Arabic", 'ع', "ar", "fonts-noto-core"},
		{"Hebrew", 'א', "he", "fonts-noto-core"},
		{"Thai", 'ก', "th", "fonts-noto-core"},
		{"Devanagari", 'क', "hi", "fonts-noto-core"},
		{"Emoji", '😀', "und-zsye", "fonts-noto-color-emoji"},
	}
}

// inspectFonts records the embedded fonts, and whether they can be installed.
func (m *Machine) inspectFonts() {
	for _, f := range fonts.Families() {
		m.Fonts = append(m.Fonts, Font{f.Name, string(f.Kind)})
	}

	config, err := fonts.Install("")
	if err != nil {
		m.problem("documents are printed with the system's fonts: "+err.Error(), "make that folder writable")
	}
	m.FontConfig = config
}

// inspectScripts queries fontconfig in the same way as the browser.
func (m *Machine) inspectScripts(ctx context.Context) {
	match, err := exec.LookPath("fc-match")
	if err != nil {
		m.problem("fonts cannot be looked up: fontconfig's fc-match is not installed", "apt install fontconfig")
		return
	}
	missing := map[string][]string{} // scripts by package
	var packages []string

	for _, s := range scripts() {
		font, err := m.fontOf(ctx, match, s)
		if err != nil {
			m.problem("fonts cannot be looked up: fc-match: "+err.Error(), "apt install fontconfig")
			return
		}

		m.Scripts = append(m.Scripts, Script{s.name, font})
		if font == "" {
			if missing[s.debianPackage] == nil {
				packages = append(packages, s.debianPackage)
			}
			missing[s.debianPackage] = append(missing[s.debianPackage], s.name)
		}
	}

	for _, pkg := range packages {
		m.problem("no font for "+strings.Join(missing[pkg], ", ")+": such text is printed as boxes", "apt install "+pkg)
	}
}

// fontOf returns the family for a script, or "" if the best match lacks its glyph.
func (m *Machine) fontOf(ctx context.Context, match string, s script) (string, error) {
	pattern := fmt.Sprintf("sans-serif:charset=%x", s.sample)
	if s.lang != "" {
		pattern += ":lang=" + s.lang
	}

	cmd := exec.CommandContext(ctx, match, "-f", "%{family[0]}\n%{charset}", pattern)
	if m.FontConfig != "" {
		cmd.Env = append(os.Environ(), "FONTCONFIG_FILE="+m.FontConfig)
	}

	output, err := cmd.Output()
	if err != nil {
		return "", err
	}

	family, ranges, _ := strings.Cut(string(output), "\n")
	// fontconfig always names a font, even if none has the character.
	if !covers(ranges, s.sample) {
		return "", nil
	}

	return family, nil
}

// covers reports whether a set of characters in fontconfig's form, "20-7e a0 …", has r.
func covers(ranges string, r rune) bool {
	for part := range strings.FieldsSeq(ranges) {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		lo, errLo := strconv.ParseInt(first, 16, 32)

		hi, errHi := strconv.ParseInt(last, 16, 32)
		if errLo == nil && errHi == nil && rune(lo) <= r && r <= rune(hi) {
			return true
		}
	}

	return false
}
