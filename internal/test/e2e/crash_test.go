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

// longDocument returns Markdown of about a page for each section. Printing 400 sections takes a second or more.
func longDocument(seed string, sections int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Long document %s\n\n", seed)

	for i := range sections {
		fmt.Fprintf(&b, "## Section %d\n\n%s\n\n| a | b |\n|---|---|\n", i,
			strings.Repeat("Lorem ipsum dolor sit amet. ", 40))

		for j := range 12 {
			fmt.Fprintf(&b, "| %d | %d |\n", j, i*j)
		}
		b.WriteString("\n")
	}

	return b.String()
}

// interruptedJob submits a job, calls interrupt while the job is printing, and returns its id. If the job completes
// too early, it tries again with a longer document.
func interruptedJob(t *testing.T, c *e2e.Client, s e2e.Submission, interrupt func(id string)) (id string) {
	t.Helper()

	for sections := 400; sections <= 3200; sections *= 2 {
		s.Content = longDocument(t.Name(), sections)
		id = c.Submit(s).JobID
		var job presswork.Job
		wait.Until(t, "job "+id+" is printed", func() bool {
			job = c.Job(id)
			return job.Stage == presswork.StagePrinting || job.Status.Terminal()
		})

		if job.Status == presswork.Completed {
			continue
		}
		interrupt(id)
		// The job may have completed before it was interrupted.
		if job = c.Job(id); job.Status != presswork.Completed || job.Attempts > 1 {
			return id
		}
	}
	t.Fatal("each job completed before it was interrupted, want one that did not")

	return ""
}

func TestJobOfAKilledWorkerCompletesOnce(t *testing.T) {
	t.Parallel()
	fleet := newFleet(t)
	_, c := fleet.API(nil)
	worker := fleet.Worker(nil)
	id := interruptedJob(t, c, e2e.Submission{}, func(string) {
		worker.Signal(syscall.SIGKILL)
		<-worker.Ended()
		worker = fleet.Worker(nil)
	})
	wait.Until(t, "the job runs again", func() bool { return c.Job(id).Attempts == 2 })

	job := c.Completed(id)
	if job.Attempts != 2 || job.Artifact == nil {
		t.Errorf("job %+v, want two attempts and an artifact", job)
	}
	// The new worker also runs the next job.
	checkLog(t, watch(t, c, c.Submit(e2e.Submission{Content: "# after"}).WSURL))

	if log := eventLog(t, c, id); strings.Count(log, `"type":"completed"`) != 1 {
		t.Errorf("event log %s, want one completed event", log)
	}
}

// eventLog returns a job's whole event log as server-sent events.
func eventLog(t *testing.T, c *e2e.Client, id string) string {
	t.Helper()

	status, _, body := c.Do("GET", "/api/conversion/"+id+"/events?since=0", "", nil)
	if status != http.StatusOK {
		t.Fatalf("events: status %d, %s; want 200", status, body)
	}

	return string(body)
}

func TestAcceptedJobsSurviveAKilledServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := map[string]string{"DATA_DIR": dir + "/data", "PDF_OUTPUT_DIR": dir + "/output"}
	node, c := e2e.Serve(t, env)

	var ids []string
	for i := range 10 {
		ids = append(ids, c.Submit(e2e.Submission{Content: longDocument(fmt.Sprint(i), 60)}).JobID)
	}
	node.Signal(syscall.SIGKILL)
	<-node.Ended()

	_, c = e2e.Serve(t, env)
	for _, id := range ids {
		c.Completed(id)
	}
}

func TestDrainingServerFinishesItsJobs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := map[string]string{"DATA_DIR": dir + "/data", "PDF_OUTPUT_DIR": dir + "/output"}
	node, c := e2e.Serve(t, env)

	var ids []string
	for i := range 30 {
		ids = append(ids, c.Submit(e2e.Submission{Content: longDocument(fmt.Sprint(i), 10)}).JobID)
	}
	drain := func(s syscall.Signal) {
		t.Helper()
		node.Signal(s)
		wait.Receive(t, "the process has drained", node.Ended())

		if code := node.ExitCode(); code != 0 {
			t.Errorf("exit status %d after %s, want 0", code, s)
		}
	}
	drain(syscall.SIGTERM)
	// Under nohup the tests ignore SIGHUP, and so would their child. Notify ends that.
	hangups := make(chan os.Signal, 1)

	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)

	node, c = e2e.Serve(t, env)
	for _, id := range ids {
		if job := c.Completed(id); job.Attempts > 1 {
			t.Errorf("job %s ran %d times, want once", id, job.Attempts)
		}
	}
	drain(syscall.SIGHUP) // a terminal sends it when it is closed
}

// cancel cancels a job. The job may have completed already.
func cancel(t *testing.T, c *e2e.Client, id string) {
	t.Helper()

	status, _, body := c.Do("DELETE", "/api/conversion/"+id, "", nil)

	cancelled := status == http.StatusOK && strings.Contains(string(body), `"cancelled"`)
	if !cancelled && status != http.StatusConflict {
		t.Fatalf("cancel: status %d, %s; want 200 or 409", status, body)
	}
}

func TestCancelledJobFreesItsSlotAndLeavesNoArtifact(t *testing.T) {
	t.Parallel()
	_, c := e2e.Serve(t, map[string]string{"WORKERS": "1"})
	id := interruptedJob(t, c, e2e.Submission{}, func(id string) { cancel(t, c, id) })
	// The worker has one render slot. The next document gets it.
	began := time.Now()
	c.Completed(c.Submit(e2e.Submission{Content: "# next"}).JobID)

	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the next document took %s, want less than 30 s", took)
	}

	job := c.Job(id)
	if job.Status != presswork.Cancelled || job.Artifact != nil {
		t.Errorf("job %+v, want it cancelled without an artifact", job)
	}

	if status, _, _ := c.Do("GET", "/api/artifacts/"+id+"/download", "", nil); status != http.StatusNotFound {
		t.Errorf("artifact of a cancelled job: status %d, want 404", status)
	}

	if status, _, _ := c.Do("DELETE", "/api/conversion/"+id, "", nil); status != http.StatusConflict {
		t.Errorf("second cancel: status %d, want 409", status)
	}
}
