package nemesis

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/storage"
	"presswork/storage/minio"
)

// objects returns the keys of all objects in the store, sorted.
func (f *fleet) objects() (keys []string) {
	f.t.Helper()

	s, err := minio.New(
		minio.Options{Endpoint: f.store.Address, AccessKey: f.store.AccessKey, SecretKey: f.store.SecretKey},
	)
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

// permanent lists the prefixes of keys that need no expiry.
var permanent = []string{
	"pw:secret:",
	"pw:{keep}:",
	"pw:usage:",
	"pw:{meter:",
	"pw:settled",
	"pw:dead",
	"pw:owners",
	"pw:workers",
	"asynq:queues",
	"asynq:servers",
	"asynq:workers",
}

// queuesOf010 is the prefix of the keys in which release 0.1.0 queued calls. Later releases do not read them, so an
// upgrade may leave some.
const queuesOf010 = "pw:{calls}:"

// leftoverKeys returns the keys of Redis that should not exist, with the reasons. At the end, only delivered webhooks may
// be tasks on a queue, no job may be open, and all other keys must expire.
func (f *fleet) leftoverKeys() (leftovers []string) {
	ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Minute)
	defer cancel()

	for _, s := range f.redis.primaries() {
		client := s.Client()

		it := client.Scan(ctx, 0, "*", 1000).Iterator()
		for it.Next(ctx) {
			// Keys may expire after they were listed, for example those of delivered webhooks.
			if why := leftoverReason(ctx, client, it.Val()); why != "" && client.Exists(ctx, it.Val()).Val() > 0 {
				leftovers = append(leftovers, it.Val()+": "+why)
			}
		}

		if it.Err() != nil {
			leftovers = append(leftovers, "Redis: "+it.Err().Error())
		}
		client.Close()
	}
	slices.Sort(leftovers)

	return leftovers
}

// leftoverReason returns why a key should not exist, or "" if it may.
func leftoverReason(ctx context.Context, client *redis.Client, key string) string {
	_, rest, task := strings.Cut(key, "}:t:")
	switch {
	case task:
		if state := client.HGet(ctx, key, "state").Val(); state != "completed" || !strings.HasPrefix(rest, "webhook-") {
			return "a task that is " + state
		}

		return ""
	case key == "pw:open":
		return fmt.Sprintf("%d jobs are open", client.ZCard(ctx, key).Val())
	case strings.HasPrefix(key, "asynq:{"):
		switch part := key[strings.LastIndexByte(key, ':')+1:]; part {
		case "pending", "active":
			return fmt.Sprintf("%d tasks", client.LLen(ctx, key).Val())
		case "lease", "retry", "scheduled", "archived":
			return fmt.Sprintf("%d tasks", client.ZCard(ctx, key).Val())
		}

		return "" // Asynq's counters
	case strings.HasPrefix(key, queuesOf010):
		return ""
	case strings.HasSuffix(key, ":call"), strings.HasSuffix(key, ":frames"), strings.HasSuffix(key, ":waiters"),
		strings.Contains(key, ":line:"):
		if client.TTL(ctx, key).Val() < 0 {
			return "a call or a queue that does not expire"
		}

		return ""
	}

	for _, prefix := range permanent {
		if strings.HasPrefix(key, prefix) {
			return ""
		}
	}

	if client.TTL(ctx, key).Val() == -1 {
		return "it does not expire"
	}

	return ""
}
