package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"presswork"
	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
)

// long is a document that takes the browser a second or more.
func long(seed string, sections int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Long document %s\n\n", seed)
	for i := range sections {
		fmt.Fprintf(&b, "## Section %d\n\n%s\n\n| a | b |\n|---|---|\n", i, strings.Repeat("Lorem ipsum dolor sit amet. ", 40))
		for j := range 12 {
			fmt.Fprintf(&b, "| %d | %d |\n", j, i*j)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// processing waits until a worker has the job.
func processing(t *testing.T, c *e2e.Client, id string) {
	t.Helper()
	wait.Until(t, "job "+id+" is printed", func() bool {
		job := c.Job(id)
		if job.Status.Terminal() {
			t.Fatalf("the job ended (%s) before it could be interrupted; make the document longer", job.Status)
		}
		return job.Stage == presswork.StagePrinting
	})
}

func TestAKilledWorkersJobCompletesOnce(t *testing.T) {
	t.Parallel()
	fleet := newFleet(t)
	_, c := fleet.API(nil)
	first := fleet.Worker(nil)
	id := c.Submit(e2e.Submission{Content: long(t.Name(), 400)}).JobID
	processing(t, c, id)
	first.Signal(syscall.SIGKILL)
	<-first.Ended()
	fleet.Worker(nil)
	wait.Until(t, "the job runs again", func() bool { return c.Job(id).Attempts == 2 })
	job := c.Completed(id)
	if job.Attempts != 2 || job.Artifact == nil {
		t.Errorf("job %+v", job)
	}
	events := watch(t, c, c.Submit(e2e.Submission{Content: "# after"}).WSURL)
	checkLog(t, events)
	if log := eventLog(t, c, id); strings.Count(log, `"type":"completed"`) != 1 {
		t.Errorf("the log does not hold one terminal event: %s", log)
	}
}

// eventLog returns a job's whole event log as server-sent events.
func eventLog(t *testing.T, c *e2e.Client, id string) string {
	t.Helper()
	status, _, body := c.Do("GET", "/api/conversion/"+id+"/events?since=0", "", nil)
	if status != http.StatusOK {
		t.Fatalf("events answered %d: %s", status, body)
	}
	return string(body)
}

func TestAnAcceptedJobSurvivesTheDeathOfEverything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := map[string]string{"DATA_DIR": dir + "/data", "PDF_OUTPUT_DIR": dir + "/output"}
	node, c := e2e.Serve(t, env)
	var ids []string
	for i := range 10 {
		ids = append(ids, c.Submit(e2e.Submission{Content: long(fmt.Sprint(i), 60)}).JobID)
	}
	node.Signal(syscall.SIGKILL)
	<-node.Ended()
	_, c = e2e.Serve(t, env)
	for _, id := range ids {
		c.Completed(id)
	}
}

func TestADrainLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := map[string]string{"DATA_DIR": dir + "/data", "PDF_OUTPUT_DIR": dir + "/output"}
	node, c := e2e.Serve(t, env)
	var ids []string
	for i := range 30 {
		ids = append(ids, c.Submit(e2e.Submission{Content: long(fmt.Sprint(i), 10)}).JobID)
	}
	drain := func(s syscall.Signal) {
		t.Helper()
		node.Signal(s)
		wait.Receive(t, "the process has drained", node.Ended())
		if code := node.ExitCode(); code != 0 {
			t.Errorf("exit status %d after %s", code, s)
		}
	}
	drain(syscall.SIGTERM)
	// Where the tests themselves run under nohup, the node would ignore the signal, too.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	node, c = e2e.Serve(t, env)
	for _, id := range ids {
		if job := c.Completed(id); job.Attempts > 1 {
			t.Errorf("job %s ran %d times", id, job.Attempts)
		}
	}
	drain(syscall.SIGHUP) // its terminal was closed
}

func TestACancelledJobStopsWithinASecondAndLeavesNoArtifact(t *testing.T) {
	t.Parallel()
	_, c := e2e.Serve(t, map[string]string{"WORKERS": "1"})
	id := c.Submit(e2e.Submission{Content: long("cancel", 900)}).JobID
	processing(t, c, id)
	status, _, body := c.Do("DELETE", "/api/conversion/"+id, "", nil)
	if status != http.StatusOK || !strings.Contains(string(body), `"cancelled"`) {
		t.Fatalf("cancelling answered %d: %s", status, body)
	}
	// The one render slot must be free again: another document gets it.
	began := time.Now()
	c.Completed(c.Submit(e2e.Submission{Content: "# next"}).JobID)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the next document took %s", took)
	}
	job := c.Job(id)
	if job.Status != presswork.Cancelled || job.Artifact != nil {
		t.Errorf("job %+v", job)
	}
	if status, _, _ := c.Do("GET", "/api/artifacts/"+id+"/download", "", nil); status != http.StatusNotFound {
		t.Errorf("the artifact of a cancelled job answered %d", status)
	}
	if status, _, _ := c.Do("DELETE", "/api/conversion/"+id, "", nil); status != http.StatusConflict {
		t.Errorf("cancelling twice answered %d", status)
	}
}
