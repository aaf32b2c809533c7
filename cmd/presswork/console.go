package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// console writes log lines for a person at a terminal: the time of day, the level
// where it is not INFO, the part of the program, the message, what belongs to it.
type console struct {
	w     io.Writer
	mu    *sync.Mutex
	level slog.Level
	// component is in front of the message, attrs follow it; groups prefix the keys.
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
	_, err := fmt.Fprintln(c.w, printable(line.String()))

	return err
}

// appendAttr writes what a value says of itself in words, else its key and itself.
func appendAttr(line *strings.Builder, groups string, a slog.Attr) {
	_, known := a.Value.Any().(slog.LogValuer)

	words, tells := a.Value.Any().(fmt.Stringer)
	if known && tells {
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
