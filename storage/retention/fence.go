package retention

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"presswork/storage"
)

// fence is the object that records which deployment owns a store. The owner renews it with its sweeps: it creates the
// object with the next number and deletes the one before. The creation fails when another deployment was faster. Each
// fence has a new random token, which the owner keeps in its Redis. A copy of that Redis, for example a restored
// backup, has only old tokens and is another deployment.
type fence struct {
	// Deployment and Redis name the owner in messages.
	Deployment string `json:"deployment"`
	Redis      string `json:"redis"`
	// Token is new in each fence.
	Token string `json:"token"`

	number int64 // 0 means that the store has no fence
	// renewed is storage.Info.Modified of the object.
	renewed time.Time
}

// fenceLife is how many intervals between two sweeps may pass without a renewal. After that the
// fence is abandoned, and another deployment may take over the store.
const fenceLife = 10

// key returns the key of the fence. Its number has leading zeros, so that a listing has the newest fence last.
func (f fence) key() string { return fmt.Sprintf("%s%012d", storage.Fence, f.number) }

// ownedBy reports whether the fence has the current or the next token of a deployment.
// The next token counts because a Redis may lose its last writes.
func (f fence) ownedBy(id identity) bool {
	return f.number > 0 && (f.Token == id.Token || f.Token == id.Next)
}

// readFence returns the newest fence of a store, or a fence with number 0.
func readFence(ctx context.Context, store storage.Store) (f fence, err error) {
	for range 5 { // more often than an owner replaces its fence meanwhile
		f, err = newestFence(ctx, store)
		if err != nil || f.number == 0 {
			return f, err
		}

		err = f.read(ctx, store)
		if !errors.Is(err, storage.ErrNotFound) {
			return f, err
		}
		// The owner has replaced the fence since it was listed.
	}

	return f, fmt.Errorf("the store lists the object %s and does not return it: %w", f.key(), err)
}

// read reads the content of the fence. Errors: storage.ErrNotFound, an object that is not JSON, an outage.
func (f *fence) read(ctx context.Context, store storage.Store) error {
	r, _, err := store.Get(ctx, f.key(), storage.Range{})
	if err != nil {
		return err
	}

	b, err := io.ReadAll(io.LimitReader(r, 4<<10))
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}

	if err := json.Unmarshal(b, f); err != nil {
		return fmt.Errorf("the object %s is no fence; delete it: %w", f.key(), err)
	}

	return nil
}

// newestFence returns the number and the time of the newest fence that the store lists.
func newestFence(ctx context.Context, store storage.Store) (f fence, err error) {
	for info, err := range store.List(ctx, storage.Fence) {
		if err != nil && info.Key == "" {
			return f, err
		}

		if number := fenceNumber(info.Key); number > f.number {
			f.number, f.renewed = number, info.Modified
		}
	}

	return f, nil
}

// fenceNumber returns the number of the fence with a key, or 0 if it is another object.
func fenceNumber(key string) int64 {
	number, err := strconv.ParseInt(strings.TrimPrefix(key, storage.Fence), 10, 64)
	if err != nil || (fence{number: number}).key() != key {
		return 0
	}

	return number
}

// put creates the fence, or fails with storage.ErrExists.
func (f fence) put(ctx context.Context, store storage.Store) error {
	b, err := json.Marshal(f)
	if err != nil {
		return err
	}
	_, err = store.Put(ctx, f.key(), strings.NewReader(string(b)), int64(len(b)),
		storage.Attrs{ContentType: "application/json"})

	return err
}

// CheckAbandoned returns an error when a deployment has renewed the fence of a store in the last ten minutes, so
// that its nodes may run. That is fenceLife with the default Interval. It also returns the error of a store that
// cannot be read.
func CheckAbandoned(ctx context.Context, store storage.Store) error {
	const limit = fenceLife * time.Minute

	f, err := readFence(ctx, store)
	if err != nil {
		return fmt.Errorf("the fence of the store: %w", err)
	}

	age := time.Since(f.renewed)
	if f.number == 0 || age >= limit {
		return nil
	}

	return fmt.Errorf("the store belongs to deployment %s with Redis %s, which renewed it %s ago: "+
		"restore into another store; if you replace that deployment, stop its nodes and wait until the store was not "+
		"renewed for %s, or delete the object %s", f.Deployment, f.Redis, age.Round(time.Second), limit, f.key())
}

// claimStore returns an error when the store belongs to another deployment, or when nodes on the same Redis use
// another store. If it cannot find out within five seconds, it logs that and returns nil. The sweeps check again,
// and delete nothing before they know.
func (k *Keeper) claimStore(ctx context.Context) error {
	const timeout, pause = 5 * time.Second, 200 * time.Millisecond

	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var refusal error // of the last try that gave a result

	for {
		latest, err := k.tryClaim(ctx)
		switch {
		case err == nil && latest == nil:
			return nil
		case err == nil:
			refusal = latest
		case refusal == nil:
			k.Log.WarnContext(ctx,
				"cannot check whether the store belongs to another deployment; the sweeps check again", "error", err)

			return nil
		}
		// Check again: another node of this deployment may be about to create or renew the fence.
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return refusal
		}
	}
}

// tryClaim claims the store if it has no owner. refusal is why the node may not start; nil if it may. err is set
// when tryClaim cannot find out.
func (k *Keeper) tryClaim(ctx context.Context) (refusal, err error) {
	f, err := readFence(ctx, k.Store)
	if err != nil {
		return nil, err
	}

	id, err := k.identity(ctx)
	if err != nil {
		return nil, err
	}

	life := fenceLife * k.Interval
	usesOtherStore := !k.Alone && id.Store != k.StoreName

	switch {
	case f.ownedBy(id):
		return nil, nil
	case f.number > 0 && k.Now().Sub(f.renewed) < life:
		return k.foreignFenceError(f, id), nil
	case f.number > 0:
		k.Log.WarnContext(ctx, "this deployment takes over the store of another one unless that renews it",
			"error", k.foreignFenceError(f, id))

		return nil, nil
	case usesOtherStore && k.Now().Sub(time.UnixMilli(id.At)) < life:
		return fmt.Errorf(
			"nodes on the same Redis (%s) keep their objects in %s, this one in %s: use one store for all "+
				"nodes, and another Redis, or another database of it, for another deployment; to move to another store, stop all "+
				"nodes and copy the objects with those below %s, or wait %s",
			k.RedisName,
			id.Store,
			k.StoreName,
			storage.Fence,
			life,
		), nil
	}

	f = fence{Deployment: id.Name, Redis: k.RedisName, Token: id.Token, number: 1}
	switch err := f.put(ctx, k.Store); {
	case errors.Is(err, storage.ErrExists): // another node or deployment was faster
		return err, nil
	case err != nil && !errors.Is(err, storage.ErrFull):
		return nil, err
	}

	return nil, k.Redis.HSet(ctx, FenceKey, "store", k.StoreName, "at", k.Now().UnixMilli()).Err()
}

// foreignFenceError returns the error for the fence of another deployment.
func (k *Keeper) foreignFenceError(f fence, id identity) error {
	age, life := k.Now().Sub(f.renewed).Round(time.Second), fenceLife*k.Interval

	return fmt.Errorf("%s belongs to deployment %s with Redis %s, which renewed it %s ago; "+
		"this node is of deployment %s with Redis %s "+
		"(a copied or restored Redis is another deployment, also with the same name): "+
		"give each deployment a store of its own; "+
		"if the other one has ended, wait until the store was not renewed for %s, or delete the object %s",
		k.StoreName, f.Deployment, f.Redis, age, id.Name, k.RedisName, life, f.key())
}

// renewFence renews the fence, and reports whether the store belongs to this deployment. If
// not, nothing may be deleted: the store has objects that this Redis does not know.
func (s *sweep) renewFence(ctx context.Context) (bool, error) {
	f, err := readFence(ctx, s.Store)
	if err != nil {
		return false, err
	}

	id, err := s.identity(ctx)
	if err != nil {
		return false, err
	}

	own := f.ownedBy(id)
	switch {
	case own && f.Token == id.Next: // the last renewal did not reach Redis
		return true, s.advanceToken(ctx, id)
	case own && s.Now().Sub(time.UnixMilli(id.At)) < s.Interval/2:
		return true, nil
	case f.number > 0 && !own && !s.abandoned(f):
		s.Log.ErrorContext(ctx, "another deployment owns the store; this one deletes nothing",
			"error", s.foreignFenceError(f, id))

		return false, nil
	}

	next := fence{Deployment: id.Name, Redis: s.RedisName, Token: id.Next, number: f.number + 1}
	switch err := next.put(ctx, s.Store); {
	case errors.Is(err, storage.ErrFull) && (own || f.number == 0):
		return true, nil // let the sweep free space
	case errors.Is(err, storage.ErrExists):
		return false, nil // another deployment was faster; the next sweep logs its name
	case err != nil:
		return false, err
	}

	if err := s.advanceToken(ctx, id); err != nil {
		return false, err
	}

	return s.deleteOldFences(ctx, next)
}

// deleteOldFences deletes the fences before f. It returns false when there is a newer fence. That happens when
// a process that was paused puts a number that was already used and deleted.
func (s *sweep) deleteOldFences(ctx context.Context, f fence) (bool, error) {
	newest := true

	for info, err := range s.Store.List(ctx, storage.Fence) {
		if err != nil && info.Key == "" {
			return false, err
		}

		switch number := fenceNumber(info.Key); {
		case number > f.number:
			newest = false
		case number > 0 && number < f.number:
			if err := s.Store.Delete(ctx, info.Key); err != nil {
				if err := s.skipObject(ctx, info.Key, err); err != nil {
					return false, err
				}
			}
		}
	}

	return newest, nil
}

// abandoned reports whether this process has seen the same fence of another deployment for so
// long that its owner has ended.
func (k *Keeper) abandoned(f fence) bool {
	if k.foreignToken != f.Token {
		k.foreignToken, k.foreignSince = f.Token, k.Now()
	}

	return k.Now().Sub(k.foreignSince) >= fenceLife*k.Interval
}
