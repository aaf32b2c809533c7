package storage

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// CopyTo puts into to every object of from that it lacks, with its attributes, but
// not the render cache. What is deleted meanwhile is passed over. It returns how many
// objects were copied and their bytes.
func CopyTo(ctx context.Context, to, from Store) (objects int, bytes int64, err error) {
	for info, err := range from.List(ctx, "") {
		if err != nil {
			return objects, bytes, err
		}
		if strings.HasPrefix(info.Key, Renders) {
			continue
		}
		switch _, err := to.Stat(ctx, info.Key); {
		case err == nil:
			continue
		case !errors.Is(err, ErrNotFound):
			return objects, bytes, err
		}
		switch size, err := copyOne(ctx, to, from, info.Key); {
		case errors.Is(err, ErrNotFound) || errors.Is(err, ErrExists):
		case err != nil:
			return objects, bytes, fmt.Errorf("%s: %w", info.Key, err)
		default:
			objects++
			bytes += size
		}
	}
	return objects, bytes, nil
}

func copyOne(ctx context.Context, to, from Store, key string) (int64, error) {
	r, info, err := from.Get(ctx, key, Range{})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	_, err = to.Put(ctx, key, r, info.Size, info.Attrs)
	return info.Size, err
}
