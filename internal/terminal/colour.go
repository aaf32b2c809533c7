package terminal

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Painter returns the escape sequence that sets the foreground (layer 38) or the background (layer 48) to "#rrggbb".
type Painter func(layer int, hex string) string

// NewPainter returns a painter with as many colours as w can show: 16 million or 256. It returns nil if w shows none.
func NewPainter(getenv func(string) string, w io.Writer) Painter {
	term, colours := getenv("TERM"), getenv("COLORTERM")
	switch {
	case !Is(w), getenv("NO_COLOR") != "", term == "", term == "dumb":
		return nil
	case colours == "truecolor", colours == "24bit", getenv("WT_SESSION") != "", strings.HasSuffix(term, "-direct"),
		slices.Contains([]string{"xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm"}, term):
		return trueColour
	}

	return indexedColour
}

// trueColour returns the escape sequence for a colour such as "#1f2937". layer is 38 for text, 48 for the background.
func trueColour(layer int, hex string) string {
	r, g, b, ok := parseHex(hex)
	if !ok {
		return ""
	}

	return fmt.Sprintf("\x1b[%d;2;%d;%d;%dm", layer, r, g, b)
}

// indexedColour is trueColour for a terminal with 256 colours. It uses the nearest colour of xterm's 6 × 6 × 6 cube, or
// of its 24 greys.
func indexedColour(layer int, hex string) string {
	r, g, b, ok := parseHex(hex)
	if !ok {
		return ""
	}

	if max(r, g, b)-min(r, g, b) < 10 && r >= 8 && r < 238 {
		return fmt.Sprintf("\x1b[%d;5;%dm", layer, 232+(r-3)/10)
	}
	// The cube's steps are 0, 95, 135, 175, 215 and 255.
	step := func(v int) int {
		if v < 48 {
			return 0
		}

		return max(1, (v-35)/40)
	}

	return fmt.Sprintf("\x1b[%d;5;%dm", layer, 16+36*step(r)+6*step(g)+step(b))
}

// parseHex reads a colour such as "#1f2937".
func parseHex(hex string) (r, g, b int, ok bool) {
	v, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 24)
	return int(v >> 16), int(v >> 8 & 0xff), int(v & 0xff), err == nil
}
