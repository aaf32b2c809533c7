package terminal

import "testing"

func TestSwatchesOnATerminalOf256Colours(t *testing.T) {
	t.Parallel()

	for hex, want := range map[string]string{
		"#000000": "16", "#ffffff": "231", "#808080": "244", "#ff0000": "196", "#5f87af": "67", "#00ff5f": "47",
	} {
		t.Run(hex, func(t *testing.T) {
			if got := indexedColour(48, hex); got != "\x1b[48;5;"+want+"m" {
				t.Errorf("%s is %q, want colour %s", hex, got, want)
			}
		})
	}
}
