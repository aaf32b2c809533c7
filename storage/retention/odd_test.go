package retention_test

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"presswork/storage"
	"presswork/storage/retention"
)

// oddStore is a store with objects that a sweep must skip: keys of other programs, and objects
// for which Stat and Delete fail.
type oddStore struct {
	storage.Store
	foreign, locked []string
}

// List lists objects with invalid keys before the others.
func (s oddStore) List(ctx context.Context, prefix string) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		for _, key := range s.foreign {
			if strings.HasPrefix(key, prefix) && !yield(storage.Info{Key: key, Modified: time.Now()}, nil) {
				return
			}
		}

		for info, err := range s.Store.List(ctx, prefix) {
			if !yield(info, err) {
				return
			}
		}
	}
}

func (s oddStore) denied(key string) error {
	if slices.Contains(s.locked, key) {
		return fmt.Errorf("%s: access denied", key)
	}

	return nil
}

func (s oddStore) Stat(ctx context.Context, key string) (storage.Info, error) {
	if err := s.denied(key); err != nil {
		return storage.Info{}, err
	}

	return s.Store.Stat(ctx, key)
}

func (s oddStore) Delete(ctx context.Context, key string) error {
	if err := s.denied(key); err != nil {
		return err
	}

	return s.Store.Delete(ctx, key)
}

func (s oddStore) keeper(k *deployment, log *strings.Builder) *retention.Keeper {
	k.opts.Store, k.opts.Log = s, slog.New(slog.NewTextHandler(log, nil))
	return k.keeper()
}

func TestASweepSkipsForeignKeys(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{})
	foreign := []string{"artifacts/", "artifacts/my file.pdf", "sources/.hidden"}
	var log strings.Builder
	keeper := oddStore{Store: k.store, foreign: append(foreign, "fence/", "fence/7", "fence/note")}.keeper(k, &log)
	k.add(t, keeper, "artifacts/old.pdf")
	k.advance(31 * day)
	sweep(t, keeper)
	k.wantObjects(t)

	if got, want := keeper.Counts(), (retention.Counts{Sweeps: 1, Expired: 1, Skipped: 3}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}

	for _, key := range foreign {
		if !strings.Contains(log.String(), key) {
			t.Errorf("the log does not name %q:\n%s", key, &log)
		}
	}
}

func TestASweepSkipsObjectsThatCannotBeDeleted(t *testing.T) {
	t.Parallel()

	for name, cap := range map[string]int64{"past their retention": 0, "over the cap": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newDeployment(t, retention.Options{MaxBytes: cap, Retention: 30 * day})
			var log strings.Builder
			keeper := oddStore{Store: k.store, locked: []string{"artifacts/a.pdf"}}.keeper(k, &log)
			k.add(t, keeper, "artifacts/a.pdf", "artifacts/b.pdf", "renders/c.pdf")
			k.advance(2 * time.Hour)

			if cap == 0 {
				k.advance(30 * day)
			}
			put(t, k.store, "artifacts/found.pdf", "0123456789") // no node has recorded it
			sweep(t, keeper)
			k.wantStored(t, "artifacts/a.pdf")

			got := keeper.Counts()
			if got.Sweeps != 1 || got.Failed != 0 || got.Skipped == 0 || got.Expired+got.Shrunk != 3 {
				t.Errorf("counted %+v, want one sweep with three deleted and some skipped objects", got)
			}

			if !strings.Contains(log.String(), "artifacts/a.pdf") {
				t.Errorf("the log does not name the object:\n%s", &log)
			}
		})
	}
}

func TestASweepFailsWhenTheStoreDoesNotReturnItsFence(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{})
	var log strings.Builder

	keeper := oddStore{Store: k.store, foreign: []string{"fence/000000000007"}}.keeper(k, &log)
	if err := keeper.Sweep(t.Context()); err == nil || !strings.Contains(err.Error(), "fence/000000000007") {
		t.Errorf("got %v, want an error that names the object", err)
	}
}
