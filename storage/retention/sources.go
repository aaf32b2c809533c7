package retention

import (
	"context"
	"errors"

	"presswork/storage"
)

// DeleteSources deletes all sources of a job. It skips objects of other programs; sweeps log them. After an error
// it continues, and returns all errors together.
func (k *Keeper) DeleteSources(ctx context.Context, jobID string) error {
	var errs []error

	for _, prefix := range []string{storage.Sources, storage.Passing} {
		for info, err := range k.Store.List(ctx, prefix+jobID+"/") {
			switch {
			case info.Key == "":
				errs = append(errs, err)
			case err == nil && storage.CheckKey(info.Key) == nil:
				errs = append(errs, k.Delete(ctx, info.Key))
			}
		}
	}

	return errors.Join(errs...)
}
