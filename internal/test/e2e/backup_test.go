package e2e_test

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"presswork/internal/test/e2e"
	"presswork/internal/test/redistest"
)

// A backup is taken while a document is printed; everything is lost then.
func TestRestoreBringsBackABackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lost := map[string]string{"REDIS_URL": redistest.Start(t), "PDF_OUTPUT_DIR": dir + "/lost", "WORKERS": "1"}
	p, c := e2e.Serve(t, lost)
	printed := c.Completed(c.Submit(e2e.Submission{Content: "# Printed"}).JobID)
	pdf := c.Download(printed)
	open := interrupted(t, c, e2e.Submission{}, func(string) {})
	command(t, lost, "backup", dir+"/backup")
	p.Signal(syscall.SIGKILL)
	<-p.Ended()

	restored := map[string]string{"PDF_OUTPUT_DIR": dir + "/restored", "DATA_DIR": dir + "/data"}
	command(t, restored, "restore", dir+"/backup", dir+"/data/redis")

	_, c = e2e.Serve(t, restored)
	if !bytes.Equal(c.Download(c.Job(printed.ID)), pdf) {
		t.Error("the artifact is another one")
	}

	if job := c.Completed(open); job.Artifact == nil {
		t.Errorf("%+v", job)
	}
}

// command runs the program to its end.
func command(t *testing.T, env map[string]string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), e2e.Binary(t), args...)

	cmd.Env = os.Environ()
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}

	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}
