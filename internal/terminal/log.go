package terminal

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// NewConsole returns a logger that writes lines for a person: time of day, level unless INFO, component, message
// and attributes. It drops records below level.
func NewConsole(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(&console{w: w, mu: new(sync.Mutex), level: level})
}

// console is a slog.Handler that writes plain lines for people.
type console struct {
	w     io.Writer
	mu    *sync.Mutex
	level slog.Level
	// component stands before the message and attrs after it; groups prefix the keys.
	component string
	attrs     string
	groups    string
}

// Enabled implements slog.Handler.
func (c *console) Enabled(_ context.Context, level slog.Level) bool { return level >= c.level }

// Handle implements slog.Handler.
func (c *console) Handle(_ context.Context, r slog.Record) error {
	line := new(strings.Builder)
	line.WriteString(r.Time.Format(time.TimeOnly) + " ")

	if r.Level != slog.LevelInfo {
		line.WriteString(r.Level.String() + " ")
	}

	if c.component != "" {
		line.WriteString(c.component + ": ")
	}
	line.WriteString(r.Message + c.attrs)
	r.Attrs(func(a slog.Attr) bool {
		appendAttr(line, c.groups, a)
		return true
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := fmt.Fprintln(c.w, Printable(line.String()))

	return err
}

// appendAttr writes an attribute as key=value. A value that is both a slog.LogValuer and a fmt.Stringer has a text for
// people, which is written instead.
func appendAttr(line *strings.Builder, groups string, a slog.Attr) {
	_, structured := a.Value.Any().(slog.LogValuer)

	words, ok := a.Value.Any().(fmt.Stringer)
	if structured && ok {
		line.WriteString(": " + words.String())
		return
	}

	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			groups += a.Key + "."
		}

		for _, member := range v.Group() {
			appendAttr(line, groups, member)
		}

		return
	}

	text := v.String()
	if text == "" {
		return
	}

	if strings.ContainsAny(text, " \t\"=") {
		text = fmt.Sprintf("%q", text)
	}
	line.WriteString(" " + groups + a.Key + "=" + text)
}

// WithAttrs implements slog.Handler.
func (c *console) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *c
	more := new(strings.Builder)

	for _, a := range attrs {
		if a.Key == "component" {
			with.component = a.Value.String()
			continue
		}
		appendAttr(more, c.groups, a)
	}
	with.attrs += more.String()

	return &with
}

// WithGroup implements slog.Handler.
func (c *console) WithGroup(name string) slog.Handler {
	with := *c
	with.groups += name + "."

	return &with
}

// NewNotices returns a logger that writes warnings and errors of a command: one line with the message and its details.
// It ignores attributes of the logger itself.
func NewNotices(w io.Writer) *slog.Logger { return slog.New(notices{&sync.Mutex{}, w}) }

// notices is a slog.Handler that writes only messages, for commands.
type notices struct {
	mu *sync.Mutex
	w  io.Writer
}

// Enabled implements slog.Handler.
func (notices) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle implements slog.Handler.
func (n notices) Handle(_ context.Context, r slog.Record) error {
	var details []string
	r.Attrs(func(a slog.Attr) bool {
		switch text := a.Value.String(); {
		case text == "" || text == "<nil>":
		case a.Key == "error" || a.Key == "reason":
			details = append(details, text)
		default:
			details = append(details, a.Key+" "+text)
		}

		return true
	})

	line := "presswork: " + r.Message
	if len(details) > 0 {
		line += " (" + strings.Join(details, ", ") + ")"
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	_, err := fmt.Fprintln(n.w, Printable(line))

	return err
}

// WithAttrs implements slog.Handler.
func (n notices) WithAttrs([]slog.Attr) slog.Handler { return n }

// WithGroup implements slog.Handler.
func (n notices) WithGroup(string) slog.Handler { return n }
