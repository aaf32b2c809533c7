package storage

import (
	"context"
	"errors"
	"fmt"
)

// backedUp lists the prefixes in a backup: objects that cannot be rebuilt.
var backedUp = []string{Artifacts, Sources}

// Copied is the result of CopyTo.
type Copied struct {
	// Objects and Bytes count the new objects.
	Objects int
	Bytes   int64
	// Skipped has an error with the key of each object that could not be copied.
	Skipped []error
}

// CopyTo copies artifacts and sources that one store lacks from another, with their attributes. It leaves out the
// render cache, and objects that are deleted while it runs. It adds an object that cannot be copied to
// Copied.Skipped. Errors: ErrFull, an outage of a store. The result counts what was copied before an error.
func CopyTo(ctx context.Context, to, from Store) (Copied, error) {
	var c Copied

	for _, prefix := range backedUp {
		for info, err := range from.List(ctx, prefix) {
			if err == nil {
				err = c.copyOne(ctx, to, from, info.Key)
			}

			if err == nil {
				continue
			}

			listingFailed := info.Key == "" // see Store.List
			if listingFailed || errors.Is(err, ErrFull) {
				return c, err
			}

			if outage := Outage(ctx, from, to); outage != nil {
				return c, fmt.Errorf("%q: %w: %w", info.Key, err, outage)
			}
			c.Skipped = append(c.Skipped, fmt.Errorf("%q: %w", info.Key, err))
		}
	}

	return c, nil
}

// copyOne copies an object and counts it. It does nothing if to has the object, or if from no longer has it.
func (c *Copied) copyOne(ctx context.Context, to, from Store, key string) error {
	if _, err := to.Stat(ctx, key); !errors.Is(err, ErrNotFound) {
		return err
	}

	r, info, err := from.Get(ctx, key, Range{})
	if errors.Is(err, ErrNotFound) {
		return nil
	}

	if err != nil {
		return err
	}

	defer r.Close()

	_, err = to.Put(ctx, key, r, info.Size, info.Attrs)
	if errors.Is(err, ErrExists) {
		return nil
	}

	if err != nil {
		return err
	}
	c.Objects++
	c.Bytes += info.Size

	return nil
}

// Outage returns an error when one of the stores does not work, and nil when all do. Call it after a failed call,
// to tell an outage from a fault of one object. A full store counts as working, because objects can be read and
// deleted. Errors: that of Health, the cause of ctx.
func Outage(ctx context.Context, stores ...Store) error {
	for _, s := range stores {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}

		if err := s.Health(ctx); err != nil && !errors.Is(err, ErrFull) {
			return err
		}
	}

	return nil
}

// Prune deletes from a backup the artifacts and sources that the live store no longer has, and returns their
// number. It deletes nothing when an object of the live store is damaged or a part of it cannot be listed. A
// missing key would prove nothing then. An empty live store is an error unless the backup is empty: the live
// store has lost its objects or is the wrong one. Errors: also those of both stores.
func Prune(ctx context.Context, backup, live Store) (deleted int, err error) {
	liveKeys := map[string]bool{}

	for _, prefix := range backedUp {
		for info, err := range live.List(ctx, prefix) {
			switch {
			case err == nil:
				liveKeys[info.Key] = true
			case info.Key == "":
				return 0, err
			default:
				return 0, nil // without an error: CopyTo reports this object
			}
		}
	}

	for _, prefix := range backedUp {
		for info, err := range backup.List(ctx, prefix) {
			switch {
			case err != nil && info.Key == "":
				return deleted, err
			case err != nil || liveKeys[info.Key]:
				continue
			case len(liveKeys) == 0:
				return 0, errors.New("the store is empty and the backup is not; " +
					"if this is the right store, back it up into another directory")
			}

			if err := backup.Delete(ctx, info.Key); err != nil {
				return deleted, err
			}
			deleted++
		}
	}

	return deleted, nil
}
