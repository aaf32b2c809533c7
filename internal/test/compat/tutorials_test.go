//go:build compat

package compat

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/freeport"
)

// step is a command of a page with its output, or a file that the page shows.
type step struct {
	command, output string
	file, text      string
}

// pageBlock matches a code block with the name of a file above it, if it has one. hereDoc matches the start of a
// here-document.
var (
	pageBlock = regexp.MustCompile("(?m)^(?:`([\\w./-]+)`:\n\n)?```(\\w+)\n((?s:.*?))^```$")
	hereDoc   = regexp.MustCompile(`<<'(\w+)'`)
)

// steps returns the steps of a page. A block of the kind console has commands after "$ " and the output of each, in
// which … stands for any text. A block below the name of a file is the text of that file.
func steps(t *testing.T, page string) (list []step) {
	t.Helper()

	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}

	if n := bytes.Count(b, []byte("\n")); n > 120 {
		t.Errorf("%s has %d lines, want at most 120", page, n)
	}

	for _, m := range pageBlock.FindAllStringSubmatch(string(b), -1) {
		switch {
		case m[1] != "":
			list = append(list, step{file: m[1], text: m[3]})
		case m[2] == "console":
			list = append(list, commands(m[3])...)
		default:
			t.Errorf("%s has the block\n%s\nwant a file name above it or the kind console", page, m[3])
		}
	}

	return list
}

// commands splits a console block into commands with their outputs. A command continues in the next line after a
// backslash, and until the end of a here-document.
func commands(block string) (list []step) {
	continues, until := false, ""

	for line := range strings.Lines(block) {
		command, isNew := strings.CutPrefix(line, "$ ")
		switch {
		case until != "":
			list[len(list)-1].command += line
			if strings.TrimSpace(line) == until {
				until = ""
			}
			continue
		case continues:
			list[len(list)-1].command += line
			command = line
		case isNew:
			list = append(list, step{command: command})
		default:
			list[len(list)-1].output += line
			continue
		}

		continues = strings.HasSuffix(command, "\\\n")
		if m := hereDoc.FindStringSubmatch(command); m != nil {
			until = m[1]
		}
	}

	return list
}

// shell is a bash that runs one command after the other.
type shell struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

// newShell runs a shell in dir until the test ends.
func newShell(t *testing.T, dir string, env ...string) *shell {
	t.Helper()
	cmd := exec.Command("bash")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}

	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}

	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) // also ends processes that the tutorial leaves running
		in.Close()
		cmd.Wait()
	})
	// The shell ignores SIGTERM and waits for its children, which may still write to its folder.
	if _, err := io.WriteString(in, "trap : TERM\ntrap wait EXIT\n"); err != nil {
		t.Fatal(err)
	}

	return &shell{t, in, bufio.NewReader(out)}
}

// run runs a command and returns its output and its exit status.
func (s *shell) run(command string) (output string, status string) {
	s.t.Helper()
	const marker = "the-end-of-a-command"
	fmt.Fprintf(s.in, "{ %s} </dev/null\necho %s $?\n", command, marker)

	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			s.t.Fatalf("%s: %v, after %q", command, err, output)
		}
		// The marker may follow a last line without a newline.
		if before, after, ok := strings.Cut(line, marker+" "); ok {
			return output + before, strings.TrimSpace(after)
		}
		output += line
	}
}

// matches reports whether text is the output in a page, in which … stands for any text.
func matches(output, text string) bool {
	parts := strings.Split(strings.TrimSpace(output), "…")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}

	return regexp.MustCompile(`(?s)^` + strings.Join(parts, ".*?") + `$`).MatchString(strings.TrimSpace(text))
}

// TestTutorialsShowTheOutputOfTheirCommands runs every command of docs/tutorials and compares its output.
func TestTutorialsShowTheOutputOfTheirCommands(t *testing.T) {
	t.Parallel()
	tools := os.Getenv("PRESSWORK_COMPAT")

	_, model := inferencetest.Start(t)
	for _, page := range []string{"writer", "backend-developer", "ai-developer", "operator", "cookbook", "clients"} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()

			dir, bin := t.TempDir(), t.TempDir()
			if err := os.Symlink(e2e.Binary(t), filepath.Join(bin, "presswork")); err != nil {
				t.Fatal(err)
			}

			writeAgents(t, bin, tools)

			if err := os.WriteFile(filepath.Join(dir, "logo.png"), samplePNG(t), 0o600); err != nil {
				t.Fatal(err)
			}
			port := freeport.Take(t)
			// toTest replaces the addresses of the page by those of the test, and toPage does the opposite.
			toTest := strings.NewReplacer("127.0.0.1:8000", "127.0.0.1:"+port, "http://127.0.0.1:8080/v1", model)
			toPage := strings.NewReplacer("127.0.0.1:"+port, "127.0.0.1:8000", model, "http://127.0.0.1:8080/v1")

			s := newShell(
				t,
				dir,
				append(offlineSettings, "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+dir, "API_PORT="+port,
					"PYTHONPATH="+pythonOf(page, tools))...)
			for _, step := range steps(t, "../../../docs/tutorials/"+page+".md") {
				if step.file != "" {
					writeStep(t, filepath.Join(dir, step.file), toTest.Replace(step.text))
					continue
				}

				out, status := s.run(toTest.Replace(step.command))
				if out = toPage.Replace(out); status != "0" || !matches(step.output, out) {
					t.Errorf("$ %s\nstatus %s and output\n%s\nwant 0 and\n%s", step.command, status, out, step.output)
				}
			}
		})
	}
}

// writeStep writes the file of a step.
func writeStep(t *testing.T, path, text string) {
	t.Helper()

	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// writeAgents writes a script into bin for each agent that is a program.
func writeAgents(t *testing.T, bin, tools string) {
	t.Helper()

	for name, command := range agentPrograms(tools) {
		script := "#!/bin/sh\nexec " + strings.Join(command, " ") + ` "$@"` + "\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// pythonOf returns the folder with the Python packages that a page uses.
func pythonOf(page, tools string) string {
	if page == "clients" {
		return frameworks(tools)
	}

	return tools + "/python"
}
