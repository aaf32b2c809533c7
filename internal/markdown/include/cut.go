package include

import (
	"bytes"
	"strconv"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/input"
)

// lineOptions returns the range "1:9" for pandoc-include's "startLine=1, endLine=9", "" for other options.
func lineOptions(options string) string {
	from, to := "", ""

	for option := range strings.SplitSeq(options, ",") {
		key, value, _ := strings.Cut(option, "=")
		switch strings.TrimSpace(key) {
		case "startLine":
			from = strings.TrimSpace(value)
		case "endLine":
			to = strings.TrimSpace(value)
		}
	}

	if from == "" && to == "" {
		return ""
	}

	return from + ":" + to
}

// linesIn returns a function that returns the part of a file as cutLines does.
func linesIn(part string) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) { return cutLines(text, part) }
}

// cutLines returns the lines of a text that a range of mdBook names: 2, 2:9, 2:, :9 or the name of an anchor. It
// returns the whole text for "". Errors: InvalidRequest if the range is invalid or has no lines, or the anchor is
// missing.
func cutLines(text []byte, part string) ([]byte, error) {
	from, to, span := strings.Cut(part, ":")
	first, err1 := strconv.Atoi(from)

	last, err2 := strconv.Atoi(to)
	switch {
	case part == "" || part == ":":
		return text, nil
	case !span && err1 == nil:
		last = first
	case !span:
		return cutAnchor(text, part)
	case from != "" && err1 != nil || to != "" && err2 != nil:
		return nil, fault.Errorf(fault.InvalidRequest, "%q is not a range of lines such as 2:9", input.Short(part))
	case to == "":
		last = len(text) + 1
	}
	var out []byte

	n := 0
	for line := range bytes.Lines(text) {
		if n++; n >= first && n <= last {
			out = append(out, line...)
		}
	}

	if out == nil {
		return nil, fault.Errorf(fault.InvalidRequest, "it has %d lines, none in %s", n, input.Short(part))
	}

	return out, nil
}

// cutAnchor returns the lines between "ANCHOR: name" and "ANCHOR_END: name", without the marks of other anchors.
// Errors: InvalidRequest for a missing anchor.
func cutAnchor(text []byte, name string) ([]byte, error) {
	var out []byte
	within, found := false, false

	for line := range bytes.Lines(text) {
		if m := anchorMark().FindSubmatch(line); m != nil {
			if string(m[2]) == name {
				within, found = len(m[1]) == 0, true
			}
			continue
		}

		if within {
			out = append(out, line...)
		}
	}

	if !found {
		return nil, fault.Errorf(fault.InvalidRequest, "it has no anchor %q", input.Short(name))
	}

	return out, nil
}

// cutSection returns the section of a note under a heading, in any case, up to the next heading of its level. It
// returns the whole note for "". Errors: InvalidRequest for a missing heading.
func cutSection(text []byte, heading string) ([]byte, error) {
	if heading == "" {
		return text, nil
	}
	var out []byte
	level := 0

	for line := range bytes.Lines(text) {
		marks := len(line) - len(bytes.TrimLeft(line, "#"))
		if marks > 0 && marks <= 6 && len(line) > marks && line[marks] == ' ' {
			if level > 0 && marks <= level {
				break
			}

			if level == 0 && strings.EqualFold(strings.TrimSpace(string(line[marks:])), heading) {
				level = marks
			}
		}

		if level > 0 {
			out = append(out, line...)
		}
	}

	if out == nil {
		return nil, fault.Errorf(fault.InvalidRequest, "it has no heading %q", input.Short(heading))
	}

	return out, nil
}
