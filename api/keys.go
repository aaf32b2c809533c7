package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"presswork/api/conn"
	"presswork/internal/inference/meter"
	"presswork/internal/keyfile"
)

// reloadInterval is how often the file of keys is looked at, settleInterval when it is
// looked at again once it has changed.
const (
	reloadInterval = 2 * time.Second
	settleInterval = 200 * time.Millisecond
)

// caller is who a request comes from.
type caller struct {
	// name owns the jobs; "" when the server is open.
	name string
	// admin may see the metrics and the monitor.
	admin bool
	// limits are the key's own. RPM counts everything that makes work, and is 0
	// for the server's; the others count completions.
	limits meter.Limits
	// models are names and globs of those the key may use; none for all.
	models []string
	// tiers are the service tiers beside the default that the key may ask for.
	tiers []string
	// job is the one job the caller may read, for a token's bearer.
	job string
}

type key struct {
	sum [sha256.Size]byte
	caller
}

// keyring knows every key. The file's part is replaced as a whole when the
// file changes.
type keyring struct {
	shared []key
	file   string
	getenv func(string) string
	log    *slog.Logger
	// optional: the file may be absent, until it has been there once.
	optional bool
	present  atomic.Bool
	// named holds the keys of the file.
	named atomic.Pointer[[]key]
	// seen is the digest of the file as it was taken, looked that of the last look.
	seen, looked [sha256.Size]byte
}

func newKeyring(o Options) (*keyring, error) {
	r := &keyring{file: o.KeysFile, optional: o.KeysFileOptional, getenv: o.Getenv, log: o.Log}
	r.named.Store(new([]key))

	for _, k := range o.Keys {
		sum := sha256.Sum256([]byte(k))
		// Each shared key has jobs of its own. The colon keeps its name apart
		// from those of the file.
		r.shared = append(
			r.shared,
			key{
				sum:    sum,
				caller: caller{name: "key:" + hex.EncodeToString(sum[:6]), admin: true, tiers: keyfile.Tiers()},
			},
		)
	}

	if r.file == "" {
		return r, nil
	}

	_, err := r.reload()
	if info, serr := os.Stat(r.file); serr == nil && info.Mode().Perm()&0o077 != 0 {
		r.log.Warn(
			"other users of this machine may read the file of keys",
			"file",
			r.file,
			"mode",
			info.Mode().Perm().String(),
			"mend_with",
			"chmod 600 "+r.file,
		)
	}

	return r, err
}

// required reports whether a request needs a key at all. A file, even an empty
// or a wrong one, shows that it does, and its removal does not take that back.
func (r *keyring) required() bool { return len(r.shared) > 0 || r.present.Load() }

// find returns whose key it is. Every key is compared, each in constant time.
func (r *keyring) find(presented string) (who caller, ok bool) {
	sum := sha256.Sum256([]byte(presented))

	for _, keys := range [][]key{r.shared, *r.named.Load()} {
		for i := range keys {
			if subtle.ConstantTimeCompare(sum[:], keys[i].sum[:]) == 1 {
				who, ok = keys[i].caller, true
			}
		}
	}

	return who, ok
}

// reload reads the file if it changed, and keeps the old keys when it is wrong.
func (r *keyring) reload() (changed bool, err error) { return r.take(keyfile.Read(r.file)) }

// take is reload, with what reading the file came to.
func (r *keyring) take(data []byte, err error) (changed bool, _ error) {
	if errors.Is(err, fs.ErrNotExist) && r.optional && !r.present.Load() {
		return false, nil
	}

	if conn.Exhausted(err) {
		return false, err // that says nothing of whether there is a file
	}
	r.present.Store(true)

	if err != nil {
		return false, err
	}

	sum := sha256.Sum256(data)
	if sum == r.seen {
		return false, nil
	}
	r.seen = sum

	entries, err := keyfile.Parse(r.file, data, r.getenv)
	if err != nil {
		return false, err
	}

	keys := make([]key, 0, len(entries))
	for _, e := range entries {
		keys = append(
			keys,
			key{
				sum: e.Sum,
				caller: caller{name: e.Name, admin: e.Admin, models: e.Models, tiers: e.Tiers, limits: meter.Limits{
					RPM: e.RPM, RPD: e.RPD, TPM: e.TPM, TPD: e.TPD, Concurrency: e.Concurrency,
				}},
			},
		)
	}
	r.named.Store(&keys)

	return true, nil
}

// look is reload of a file that is as it was at the look before: one that is written
// in place is empty for a moment, or ends before its last keys.
func (r *keyring) look() (changed bool, err error) {
	data, err := keyfile.Read(r.file)
	if err != nil {
		r.looked = r.seen
		return r.take(nil, err)
	}
	sum := sha256.Sum256(data)

	settled := sum == r.looked
	if r.looked = sum; !settled && sum != r.seen {
		r.present.Store(true)
		return false, nil
	}

	return r.take(data, nil)
}

// watch reloads the file until ctx ends. Reading it beats watching it: a
// mounted secret changes by a swap of directories above it.
func (r *keyring) watch(ctx context.Context) {
	if r.file == "" {
		return
	}

	next := time.NewTimer(reloadInterval)
	defer next.Stop()

	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			switch changed, err := r.look(); {
			case err != nil:
				r.log.Error("the keys were not reloaded; the ones before stay in force", "error", err)
			case changed:
				r.log.Info("keys reloaded", "file", r.file, "keys", len(*r.named.Load()), "names", r.names())
			}

			if r.looked == r.seen {
				next.Reset(reloadInterval)
			} else {
				next.Reset(settleInterval)
			}
		}
	}
}

// views are the keys in force, by name, without what proves them.
func (r *keyring) views() []keyView {
	views := []keyView{}

	for _, keys := range [][]key{r.shared, *r.named.Load()} {
		for _, k := range keys {
			l := k.limits
			views = append(views, keyView{
				Name:        k.name,
				Admin:       k.admin,
				Models:      append([]string{}, k.models...),
				Tiers:       append([]string{}, k.tiers...),
				RPM:         l.RPM,
				RPD:         l.RPD,
				TPM:         l.TPM,
				TPD:         l.TPD,
				Concurrency: l.Concurrency,
			})
		}
	}
	slices.SortStableFunc(views, func(a, b keyView) int { return strings.Compare(a.Name, b.Name) })

	return slices.CompactFunc(
		views,
		func(a, b keyView) bool { return a.Name == b.Name },
	) // while one is replaced there are two
}

func (r *keyring) names() []string {
	var names []string
	for _, k := range *r.named.Load() {
		names = append(names, k.name)
	}
	slices.Sort(names)

	return slices.Compact(names)
}
