package convert

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"presswork"
	"presswork/cmd/presswork/command"
	"presswork/internal/config"
	"presswork/internal/local"
	"presswork/internal/local/runlog"
	"presswork/internal/terminal"
	"presswork/themes"
)

// prepare builds the inputs from the command line. Every error is a usage error.
func (m *md2pdf) prepare(paths []string) ([]local.Input, error) {
	if err := checkValues(paths); err != nil {
		return nil, err
	}

	cfg, err := config.Load(m.Getenv)
	if err != nil {
		return nil, err
	}
	m.cfg = cfg

	m.watch = m.watch || m.live
	if m.themesDir, err = command.ThemesFolder(m.themesDir, cfg); err != nil {
		return nil, err
	}

	// Before the files are read, so that --watch also notices a change during the reading.
	m.shared = local.Take(m.watched()...)
	if m.cssFile != "" {
		if err := m.readCSS(); err != nil {
			return nil, err
		}
	}

	if err := m.readPassword(); err != nil {
		return nil, err
	}

	if m.epoch, err = sourceDateEpoch(m.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		return nil, err
	}

	if err := local.CheckOptions(m.options); err != nil {
		return nil, fmt.Errorf("%s%s", flagOf(err), local.Message(err))
	}

	if err := m.prepareChoice(); err != nil {
		return nil, err
	}

	if m.format, err = m.outputFormat(); err != nil {
		return nil, err
	}

	if err := local.CheckOutput(m.format, m.options); err != nil {
		return nil, fmt.Errorf("%s%s", flagOf(err), local.Message(err))
	}

	inputs, err := m.plan(paths, "."+string(m.format))
	if err != nil {
		return nil, err
	}

	for i := range inputs {
		inputs[i].Theme, inputs[i].Options = m.theme, m.options
	}

	return inputs, m.checkFlags(inputs)
}

// checkValues rejects a word that was meant as a flag's value but was parsed as a file name.
func checkValues(paths []string) error {
	values := []string{"true", "false", "1", "2", "3", "4", "5", "6", "2b", "2u", "3b"}
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil && slices.Contains(values, path) {
			return fmt.Errorf(
				"%q is not a file; write the optional value of a flag after an equals sign: --toc=2, --pdf-a=2u, "+
					"--tagged=false", path)
		}
	}

	return nil
}

// outputFormat returns the format named by --to or --html, else the one that the output's file name implies.
func (m *md2pdf) outputFormat() (presswork.Output, error) {
	asked := presswork.Output(strings.ToLower(m.to))
	switch {
	case m.html && asked != "" && asked != presswork.HTML:
		return "", fmt.Errorf("--html and --to %s cannot be combined", m.to)
	case m.html:
		asked = presswork.HTML
	case m.to != "" && !slices.Contains(presswork.Outputs(), asked):
		return "", fmt.Errorf("--to: %q is not a supported format; allowed: %s", m.to, outputNames())
	}

	named := presswork.Output(strings.ToLower(strings.TrimPrefix(filepath.Ext(m.output), ".")))
	switch named {
	case "htm":
		named = presswork.HTML
	case "zip":
		named = presswork.PNG
	}

	// A file with one of these names and another content would not open. Any other extension is part of the name.
	unsupported := []presswork.Output{
		"doc", "docx", "jpeg", "jpg", "mobi", "odt", "pptx", "ps", "rtf", "svg", "tex", "txt", "webp",
	}
	switch {
	case slices.Contains(unsupported, named):
		return "", fmt.Errorf("-o %s: the extension is not a supported format; allowed: %s", m.output, outputNames())
	case !slices.Contains(presswork.Outputs(), named):
		return cmp.Or(asked, presswork.PDF), nil
	case asked != "" && asked != named:
		return "", fmt.Errorf("-o %s does not match the format %s; change one of them", m.output, asked)
	}

	return named, nil
}

// outputNames lists the formats for messages.
func outputNames() string {
	names := fmt.Sprint(presswork.Outputs())
	return strings.ReplaceAll(strings.Trim(names, "[]"), " ", ", ")
}

// plan pairs each input with its output path, which ends in ext unless -o names a file.
func (m *md2pdf) plan(paths []string, ext string) ([]local.Input, error) {
	if !m.merge || len(paths) == 1 && local.IsFolder(paths[0]) {
		return local.Plan(paths, m.output, ext)
	}
	in, err := local.PlanMerged(paths, m.output, ext)

	return []local.Input{in}, err
}

// sourceDateEpoch parses SOURCE_DATE_EPOCH, in seconds since 1970. It returns the zero time for "".
func sourceDateEpoch(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}

	seconds, err := strconv.ParseInt(text, 10, 64)
	if at := time.Unix(seconds, 0).UTC(); err == nil && seconds >= 0 && at.Year() <= 9999 {
		return at, nil
	}

	return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q; it must be a whole number of seconds since 1970", text)
}

// readPassword reads the password from its file.
func (m *md2pdf) readPassword() error {
	if m.passwordFile == "" {
		return nil
	}

	if m.options.Password != "" {
		return errors.New("--password and --password-file cannot be combined")
	}

	password, err := command.PasswordIn("password-file", m.passwordFile)
	m.options.Password = password

	return err
}

// checkFlags rejects flags that contradict each other.
func (m *md2pdf) checkFlags(inputs []local.Input) error {
	usesStdin, usesStdout := false, false
	for _, in := range inputs {
		usesStdin = usesStdin || in.Path == local.Std || slices.Contains(in.Merge, local.Std)
		usesStdout = usesStdout || in.Output == local.Std
	}

	switch {
	case m.jobs < 1:
		return fmt.Errorf("--jobs is %d; it must be at least 1", m.jobs)
	case usesStdout && m.json:
		return errors.New("--json and the document both need standard output; choose a file with -o")
	case usesStdout && m.open:
		return errors.New("--open needs a file; choose one with -o")
	case usesStdout && m.format != presswork.HTML && terminal.Is(m.Stdout):
		return errors.New("standard output is a terminal; redirect it, or choose a file with -o")
	case m.live && len(inputs) > 1:
		return fmt.Errorf("--live shows one document, but %d were given; add --merge to join them", len(inputs))
	case m.live && m.format != presswork.PDF:
		return fmt.Errorf("--live shows the pages of a PDF; it does not support %s", m.format)
	case m.watch && (usesStdin || usesStdout):
		return errors.New("--watch needs files, not standard input or output")
	case m.open && len(inputs) > 1:
		return fmt.Errorf("--open takes one document, but %d were given", len(inputs))
	}

	return nil
}

// readCSS reads the stylesheet of --css into the options.
func (m *md2pdf) readCSS() error {
	css, err := os.ReadFile(m.cssFile)
	if err != nil {
		return fmt.Errorf("--css: %w", err)
	}
	m.options.CSS = string(css)

	return nil
}

// prepareChoice checks the flags for theme choice and opens the run log. Every error is a usage error.
func (m *md2pdf) prepareChoice() error {
	if m.aiTheme && m.theme != "" {
		return errors.New("--theme and --ai-theme cannot be combined")
	}

	if m.advice.preferred() && m.theme != "" && m.theme != themes.Auto {
		return errors.New("--mood and --doc-type choose a theme, and --theme names one; leave one out")
	}

	if m.aiTheme || m.advice.preferred() {
		m.theme = themes.Auto
	}

	dir, err := runlog.Folder(m.Getenv)
	if dir != "" {
		m.runLog = runlog.Open(dir)
	}

	return err
}
