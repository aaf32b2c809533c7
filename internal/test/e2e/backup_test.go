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

// The backup is taken while a document is printing. Then the server and its data are lost.
func TestRestoreBringsBackABackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	settings := map[string]string{"REDIS_URL": redistest.Start(t), "PDF_OUTPUT_DIR": dir + "/lost", "WORKERS": "1"}
	p, c := e2e.Serve(t, settings)
	printed := c.Completed(c.Submit(e2e.Submission{Content: "# Printed"}).JobID)
	pdf := c.Download(printed)
	unfinished := interruptedJob(t, c, e2e.Submission{}, func(string) {})
	runProgram(t, settings, "backup", dir+"/backup")
	p.Signal(syscall.SIGKILL)
	<-p.Ended()

	restored := map[string]string{"PDF_OUTPUT_DIR": dir + "/restored", "DATA_DIR": dir + "/data"}
	runProgram(t, restored, "restore", dir+"/backup", dir+"/data/redis")

	_, c = e2e.Serve(t, restored)
	if !bytes.Equal(c.Download(c.Job(printed.ID)), pdf) {
		t.Error("the restored artifact differs")
	}

	if job := c.Completed(unfinished); job.Artifact == nil {
		t.Errorf("job %+v, want an artifact", job)
	}
}

// runProgram runs presswork with args and expects it to succeed.
func runProgram(t *testing.T, env map[string]string, args ...string) {
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
