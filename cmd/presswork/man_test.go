package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"presswork/cmd/presswork/command"
)

func TestTheManualNamesEveryCommandAndFlag(t *testing.T) {
	t.Parallel()

	got := runCommand(t, "man")
	got.checkOK(t)

	page := strings.ReplaceAll(got.stdout, `\-`, "-")
	for _, want := range []string{".SS \"presswork md2pdf FILE.md|BOOKFOLDER [FILE.md...]\"", `\fBAPI_PORT\fR`, `\fB--toc\fR[=\fILEVEL\fR]`, `\fB-o\fR, \fB--output\fR \fIFILE\fR`, ".SH EXIT STATUS"} {
		if !strings.Contains(page, want) {
			t.Errorf("the manual lacks %s", want)
		}
	}
	var every func(cmd *cobra.Command)
	every = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			if c.Name() == "help" || cmd.Name() == "completion" || c.Hidden {
				continue
			}

			if !strings.Contains(page, ".SS \""+c.CommandPath()+" ") {
				t.Errorf("the manual lacks %s", c.CommandPath())
			}
			c.Flags().VisitAll(func(f *pflag.Flag) {
				if f.Name != "help" && !strings.Contains(page, `\fB--`+f.Name+`\fR`) {
					t.Errorf("the manual lacks --%s of %s", f.Name, c.CommandPath())
				}
			})
			every(c)
		}
	}
	every(newRootCommand(&command.Program{Getenv: func(string) string { return "" }}))
}

func TestTheManualIsWellFormed(t *testing.T) {
	t.Parallel()

	if _, err := exec.LookPath("groff"); err != nil && testing.Short() {
		t.Skip("needs groff; `make test` runs this test")
	}
	cmd := exec.CommandContext(t.Context(), "groff", "-man", "-Tutf8", "-ww", "-z")

	cmd.Stdin = strings.NewReader(runCommand(t, "man").stdout)
	if output, err := cmd.CombinedOutput(); err != nil || len(output) > 0 {
		t.Errorf("%v: %s (`make setup-test` installs groff)", err, output)
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t,
		map[string]string{"mine.css": ":root{--primary:#123456;--base-100:#ffffff;--base-content:#000000}"})

	for line, want := range map[string]string{
		"md2pdf --themes-dir DIR --theme ": "mine",
		"theme-preview nord ":              "dracula",
		"md2pdf --page-size ":              "Letter",
		"md2pdf --code-theme ":             "github",
		"md2pdf --margin-preset ":          "narrow",
		"md2pdf --pdf-a=":                  "2u",
		"md2pdf --as ":                     "slides",
		"md2pdf --to ":                     "epub",
		"export --pdf-a=":                  "2u",
		"export --theme ":                  "nord",
		"export --wait-until ":             "networkidle0",
		"transcribe --format ":             "srt",
		"md2pdf ":                          "markdown",
		"md2pdf --mer":                     "--merge",
	} {
		t.Run(line, func(t *testing.T) {
			args := []string{"__complete"}
			for word := range strings.SplitSeq(line, " ") {
				args = append(args, strings.Replace(word, "DIR", dir, 1))
			}

			got := runCommand(t, args...)
			if !strings.Contains("\n"+got.stdout, "\n"+want) {
				t.Errorf("%q completes to %q, without %s", line, got.stdout, want)
			}
		})
	}

	if got := runCommand(t, "__complete", "theme-preview", "nord", ""); strings.Contains(got.stdout, "nord\t") {
		t.Error("a theme is offered twice")
	}

	got := runCommand(t, "completion", "fisch")
	got.check(t, exitUsage, `did you mean "fish"?`)

	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		t.Run(shell, func(t *testing.T) {
			runCommand(t, "completion", shell).checkPrints(t, "presswork")
		})
	}
}
