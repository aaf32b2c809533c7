package tasks_test

import (
	"fmt"
	"testing"

	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

func TestAClusterThatLosesAShardLosesNoAcceptedJob(t *testing.T) {
	t.Parallel()
	const owner = "ann"
	// The ledger and the owner's list are on nodes 0 and 1. The keys of the queue may be on any node.
	cluster := redistest.StartCluster(t, tasks.LedgerKey, tasks.OwnerKey(owner))
	b := setupOn(t, cluster.Address, tasks.Options{})
	ctx := t.Context()
	b.submit(t, submission(t)) // the client now knows every node, and every node the scripts
	withKey := func(node, n int) tasks.Submission {
		s := submission(t)
		s.Owner, s.IdempotencyKey, s.Fingerprint = owner, fmt.Sprintf("%d-%d", node, n), "f"

		return s
	}
	const each = 8

	nodes := []int{0, 1, 2}
	for _, node := range nodes {
		t.Run(fmt.Sprintf("without node %d", node), func(t *testing.T) {
			cluster.Kill(node)

			for n := range each {
				if rec, _, err := b.client.Submit(ctx, withKey(node, n)); err == nil && node < 2 {
					t.Errorf("job %s was accepted without node %d", rec.ID, node)
				}
			}
			cluster.Restart(t, node)
		})
	}
	var ids []string

	for _, node := range nodes {
		for n := range each {
			wait.Until(t, "the cluster accepts jobs again", func() bool {
				rec, _, err := b.client.Submit(ctx, withKey(node, n))
				if err == nil {
					ids = append(ids, rec.ID)
				}

				return err == nil
			})
		}
	}
	listed := map[string]bool{}

	page, err := b.client.Jobs(ctx, owner, tasks.Query{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}

	for _, rec := range page.Records {
		listed[rec.ID] = true
	}

	for _, id := range ids {
		if !listed[id] {
			t.Errorf("job %s is not in its owner's list", id)
		}

		if err := b.rdb.ZScore(ctx, tasks.LedgerKey, id).Err(); err != nil {
			t.Errorf("job %s is not in the ledger: %v", id, err)
		}

		if n := b.rdb.Exists(ctx, tasks.AsynqTask(tasks.Render, id)).Val(); n != 1 {
			t.Errorf("job %s has no task", id)
		}
	}
	b.serve(t, tasks.Options{}, complete)

	for _, id := range ids {
		b.wantCompleted(t, id, 1)
	}
}
