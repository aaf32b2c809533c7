package nemesis

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/storage"
	"presswork/storage/minio"
)

// World is what is left of a run: what the API, Redis, the store and the machine
// hold when everything should be done.
type World struct {
	// Jobs are those that the API lists, by id, and Logs their events.
	Jobs map[string]presswork.Job
	Logs map[string][]presswork.Event
	// Objects are the keys in the store, Index those that its keeper knows.
	Objects, Index []string
	// Ghosts are keys of Redis that nothing needs, and what waits on queues.
	Ghosts []string
	// Wrong are the jobs whose artifact is not what their record says, and why.
	Wrong map[string]string
	// Requests and Tokens are what the ledger holds, Asked and Sent what the model's
	// server was asked for and has sent, and Audio how many recordings it heard.
	Requests, Tokens, Asked, Sent, Audio int64
	// Strays are processes that outlived their worker, Files what those left that
	// stopped in order, Stuck the nodes that did not stop.
	Strays, Files, Stuck []string
}

// settle waits until nothing is left to do, or for so long as that may take.
func (f *fleet) settle(l *load, ids []string, hooks func() int, limit time.Duration) {
	f.t.Helper()
	open := slices.Clone(ids)
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(250 * time.Millisecond) {
		open = slices.DeleteFunc(open, func(id string) bool {
			_, body, err := l.do("GET", f.bases[0]+"/api/conversion/"+id, "", nil)
			var job presswork.Job
			return err == nil && json.Unmarshal(body, &job) == nil && job.Status.Terminal()
		})
		if len(open) == 0 && len(f.ghosts()) == 0 && hooks() == 0 {
			return
		}
	}
}

// observe reads everything, and stops the fleet.
func (f *fleet) observe(l *load) World {
	f.t.Helper()
	w := World{Jobs: map[string]presswork.Job{}, Logs: map[string][]presswork.Event{}, Wrong: map[string]string{}}
	for cursor := ""; ; {
		code, body, err := l.do("GET", f.bases[0]+"/api/conversion?limit=100&cursor="+cursor, "", nil)
		var page struct {
			Data       []presswork.Job
			HasMore    bool   `json:"has_more"`
			NextCursor string `json:"next_cursor"`
		}
		if err != nil || code != http.StatusOK || json.Unmarshal(body, &page) != nil {
			f.t.Fatalf("the list of jobs: %d %v %s", code, err, body)
		}
		for _, job := range page.Data {
			w.Jobs[job.ID] = job
		}
		if cursor = page.NextCursor; !page.HasMore {
			break
		}
	}
	for id, job := range w.Jobs {
		l.stream(f.t.Context(), "GET", fmt.Sprintf("%s/api/conversion/%s/events?since=0", f.bases[1], id), nil, func(data string) bool {
			var e presswork.Event
			if json.Unmarshal([]byte(data), &e) == nil && e.Type != presswork.EventSnapshot {
				w.Logs[id] = append(w.Logs[id], e)
			}
			return job.Status.Terminal()
		})
		if job.Artifact == nil {
			continue
		}
		code, body, err := l.do("GET", f.bases[1]+job.Artifact.URL, "", nil)
		if err != nil || code != http.StatusOK || int64(len(body)) != job.Artifact.Size {
			w.Wrong[id] = fmt.Sprintf("answered %d with %d of %d bytes (%v)", code, len(body), job.Artifact.Size, err)
		}
	}
	w.Objects = f.objects()
	w.Ghosts = f.ghosts()
	client := f.at()
	defer client.Close()
	w.Index = client.HKeys(f.t.Context(), "pw:{keep}:size").Val()
	slices.Sort(w.Index)
	_, body, _ := l.do("GET", f.bases[0]+"/v1/usage?group_by=model", "", nil)
	var usage struct {
		Data []struct {
			Model            string
			Requests         int64
			CompletionTokens int64 `json:"completion_tokens"`
		}
	}
	json.Unmarshal(body, &usage)
	for _, u := range usage.Data {
		if u.Model == model {
			w.Requests, w.Tokens = w.Requests+u.Requests, w.Tokens+u.CompletionTokens
		}
	}
	w.Asked, w.Sent, w.Audio = int64(len(f.upstream.Requests())), f.sent.Load(), int64(len(f.upstream.Recordings()))
	for _, n := range f.nodes {
		if !n.stop() {
			w.Stuck = append(w.Stuck, n.name)
		}
	}
	// Kernels end the children of a process a moment later.
	nodes := filepath.Join(f.dir, "tmp")
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if w.Strays = strays(nodes); len(w.Strays) == 0 {
			break
		}
	}
	left, _ := os.ReadDir(nodes)
	for _, entry := range left {
		w.Files = append(w.Files, entry.Name())
	}
	return w
}

func (f *fleet) objects() (keys []string) {
	f.t.Helper()
	s, err := minio.New(minio.Options{Endpoint: f.store.Address, AccessKey: f.store.AccessKey, SecretKey: f.store.SecretKey})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, prefix := range []string{storage.Artifacts, storage.Sources, storage.Renders} {
		for info, err := range s.List(f.t.Context(), prefix) {
			if err != nil {
				f.t.Fatal(err)
			}
			keys = append(keys, info.Key)
		}
	}
	slices.Sort(keys)
	return keys
}

// lasting are the beginnings of keys that need no end.
var lasting = []string{"pw:secret:", "pw:{keep}:", "pw:usage:", "pw:{meter:", "pw:settled", "pw:settled", "pw:dead", "pw:owners", "pw:workers", "asynq:queues", "asynq:servers", "asynq:workers"}

// ghosts reads every key of Redis. When all is done no queue holds a task but
// webhooks that were delivered, no job is open, and whatever else is kept goes by
// itself.
func (f *fleet) ghosts() (ghosts []string) {
	client := f.at()
	defer client.Close()
	ctx, cancel := context.WithTimeout(f.t.Context(), 30*time.Second)
	defer cancel()
	it := client.Scan(ctx, 0, "*", 1000).Iterator()
	for it.Next(ctx) {
		if why := ghostly(ctx, client, it.Val()); why != "" {
			ghosts = append(ghosts, it.Val()+": "+why)
		}
	}
	if it.Err() != nil {
		ghosts = append(ghosts, "Redis: "+it.Err().Error())
	}
	slices.Sort(ghosts)
	return ghosts
}

func ghostly(ctx context.Context, client *redis.Client, key string) string {
	_, rest, task := strings.Cut(key, "}:t:")
	switch {
	case task:
		if state := client.HGet(ctx, key, "state").Val(); state != "completed" || !strings.HasPrefix(rest, "webhook-") {
			return "a task that is " + state
		}
		return ""
	case key == "pw:open":
		return fmt.Sprintf("%d jobs need somebody", client.ZCard(ctx, key).Val())
	case strings.HasPrefix(key, "asynq:{"):
		switch part := key[strings.LastIndexByte(key, ':')+1:]; part {
		case "pending", "active":
			return fmt.Sprintf("%d tasks", client.LLen(ctx, key).Val())
		case "lease", "retry", "scheduled", "archived":
			return fmt.Sprintf("%d tasks", client.ZCard(ctx, key).Val())
		}
		return "" // counters of Asynq's
	case strings.HasSuffix(key, ":call") || strings.HasSuffix(key, ":frames") || strings.HasSuffix(key, ":waiters") || strings.Contains(key, ":line:"):
		if client.TTL(ctx, key).Val() < 0 {
			return "a call or a line that nobody stands in"
		}
		return ""
	}
	for _, prefix := range lasting {
		if strings.HasPrefix(key, prefix) {
			return ""
		}
	}
	if client.TTL(ctx, key).Val() == -1 {
		return "it never goes"
	}
	return ""
}
