package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestTranscribeSaysWhatIsWrongBeforeItSendsAnything(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.wav": "RIFF", "sub/b.wav": "RIFF"})
	recording := filepath.Join(dir, "a.wav")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, exitUsage, "takes FILE"},
		{[]string{recording, "--format", "stt"}, exitUsage, `--format: "stt" is not a format; did you mean "srt"?; allowed: json, text`},
		{[]string{recording, "--server", "localhost"}, exitUsage, "--server: "},
		{[]string{filepath.Join(dir, "none.wav")}, exitFailed, "no such file"},
		{[]string{filepath.Join(dir, "sub")}, exitFailed, "sub: it is a folder"},
		{[]string{recording, "-o", filepath.Join(dir, "none", "a.txt")}, exitFailed, "there is no folder"},
		{[]string{recording, "-o", filepath.Join(dir, "sub")}, exitFailed, "sub: it is a folder"},
	} {
		args := append([]string{"transcribe", "--model", "ears"}, c.args...)
		if got := ask(t, args...); got.code != c.code || !strings.Contains(got.stderr, c.says) || got.stdout != "" {
			t.Errorf("%v: %+v; want %q", c.args, got, c.says)
		}
	}
}
