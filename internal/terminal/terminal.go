// Package terminal writes text for a person: tables, progress bars, colours and log lines. Text from documents, servers
// and file names loses its control characters, so that it cannot steer the terminal.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"
)

// Is reports whether stream, a reader or a writer, is a terminal.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// Printable replaces the control characters of one line.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\ufffd'
		}

		return r
	}, s)
}

// Plain returns a writer to w that drops control characters other than tabs and line breaks.
func Plain(w io.Writer) io.Writer { return plain{w} }

// plain is a writer that removes escape sequences.
type plain struct{ w io.Writer }

// Write implements io.Writer.
func (p plain) Write(b []byte) (int, error) {
	kept := strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}

		return r
	}, string(b))
	_, err := io.WriteString(p.w, kept)

	return len(b), err
}

// Table writes rows in columns. head and each row separate their columns with tabs. Control characters are dropped.
// Errors: those of w.
func Table(w io.Writer, head string, rows func(io.Writer)) error {
	t := tabwriter.NewWriter(Plain(w), 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, head)
	rows(t)

	return t.Flush()
}

// Dash returns s, or "-" for the empty string.
func Dash(s string) string {
	if s == "" {
		return "-"
	}

	return s
}

// Count returns a number with its noun: "1 page", "2 pages", "3 entries".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}

	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		noun = stem + "ie"
	}

	return fmt.Sprintf("%d %ss", n, noun)
}

// Size returns a number of bytes as "999 bytes" or "12 KB".
func Size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}

	return fmt.Sprintf("%d KB", (n+500)/1000)
}

// Bar draws a share between 0 and 1.
func Bar(share float64) string {
	const width = 30
	done := int(width * min(max(share, 0), 1))

	return strings.Repeat("█", done) + strings.Repeat("░", width-done)
}

// Columns returns how many characters fit into a line of w: the variable COLUMNS, else the width of the terminal, else
// 80.
func Columns(getenv func(string) string, w io.Writer) int {
	if n, err := strconv.Atoi(getenv("COLUMNS")); err == nil && n > 0 {
		return min(n, 1000)
	}

	if size := sizeOf(w); size != nil && size.Col > 0 {
		return int(size.Col)
	}

	return 80
}

// Rows returns how many lines fit on the terminal w, 24 if that is not known.
func Rows(w io.Writer) int {
	if size := sizeOf(w); size != nil && size.Row > 1 {
		return int(size.Row)
	}

	return 24
}

// sizeOf returns the size of a terminal, nil if w is none.
func sizeOf(w io.Writer) *unix.Winsize {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}

	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return nil
	}

	return size
}
