package terminal

import (
	"fmt"
	"strings"
	"testing"
)

func TestPlainKeepsTextTabsAndLineBreaksOnly(t *testing.T) {
	t.Parallel()
	var b strings.Builder

	text := "a\x1b[2J\tb\r\n\u009bc é"
	if n, err := Plain(&b).Write([]byte(text)); n != len(text) || err != nil {
		t.Errorf("wrote %d, %v", n, err)
	}

	if got := b.String(); got != "a[2J\tb\nc é" {
		t.Errorf("got %q", got)
	}

	if got := Printable("a\x1b\nb"); got != "a\ufffd\ufffdb" {
		t.Errorf("got %q", got)
	}
}

func TestBarsHaveTheSameWidth(t *testing.T) {
	t.Parallel()

	for share, want := range map[float64]int{-1: 0, 0: 0, 0.5: 15, 1: 30, 7: 30} {
		t.Run(fmt.Sprint(share), func(t *testing.T) {
			if got := Bar(share); strings.Count(got, "█") != want || len([]rune(got)) != 30 {
				t.Errorf("%v: %q", share, got)
			}
		})
	}
}
