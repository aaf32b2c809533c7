// Package access decides who may call the API. It checks the operator's keys, the tokens in URLs, and the origin
// of a request.
//
//   - Keyring finds the Caller of an API key, with its rights and limits. It reloads the file of keys when it changes.
//   - Signer makes tokens that open one job without a key, for addresses that browsers open.
//   - Origins decides which web pages may call. It also protects a server without keys from pages of other sites.
//   - Proxies finds the client behind trusted proxies.
package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"presswork/api/conn"
	"presswork/internal/inference/meter"
	"presswork/internal/keyfile"
)

// reloadInterval is the time between two reads of the key file. settleInterval is the shorter time until a changed
// file is read again.
const (
	reloadInterval = 2 * time.Second
	settleInterval = 200 * time.Millisecond
)

// Caller is the sender of a request.
type Caller struct {
	// Name is the owner of the caller's jobs; "" when the server needs no key.
	Name string
	// Admin callers may use the pages and routes of operators.
	Admin bool
	// Limits are the key's own. RPM counts every request that makes work, and 0 means the server's limit; the other
	// limits count completions.
	Limits meter.Limits
	// Models are names and globs of the models that the key may use; empty means all.
	Models []string
	// Tiers are the service tiers that the key may ask for, in addition to the default tier.
	Tiers []string
	// Job is the only job that the bearer of a token may read; "" for callers with a key.
	Job string
}

// Everyone returns the caller of a server that needs no key: an admin who may use everything.
func Everyone() Caller { return Caller{Admin: true, Tiers: keyfile.Tiers()} }

// MayUse reports whether the caller may use the model that has these names.
func (c Caller) MayUse(names ...string) bool {
	if len(c.Models) == 0 {
		return true
	}

	return slices.ContainsFunc(c.Models, func(pattern string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			ok, _ := path.Match(pattern, name) // keyfile.Parse has checked the patterns
			return ok || pattern == "*"
		})
	})
}

// key is the digest of an API key and its owner.
type key struct {
	// sum is the SHA-256 of the key: the key itself is not kept.
	sum [sha256.Size]byte
	Caller
}

// KeyringOptions configure a Keyring.
type KeyringOptions struct {
	// Shared are API keys; the owner of each is an admin. Default: none.
	Shared []string
	// File is a file of named keys, see package keyfile. Default: none.
	File string
	// FileOptional allows File to be absent at first. After File has existed once, requests need a key.
	FileOptional bool
	// Getenv resolves the ${NAME} of File. Mandatory with File.
	Getenv func(string) string
	// Log gets reloads, failed reloads, and a warning when other users may read File. Mandatory.
	Log *slog.Logger
}

// Keyring finds the owner of an API key. Its methods are safe for concurrent use, except that Watch runs once.
type Keyring struct {
	KeyringOptions
	// shared are the keys of KeyringOptions.Shared, which do not change.
	shared []key
	// present is set once File has existed.
	present atomic.Bool
	// named holds the keys of File, which are replaced together.
	named atomic.Pointer[[]key]
	// loaded is the digest of the file that named was parsed from. seen is the digest at the last read; the two
	// differ while the file is changing.
	loaded, seen [sha256.Size]byte
}

// NewKeyring reads the keys. It fails when File is not valid, or is absent and not optional. It logs a warning when
// other users of the machine may read File.
func NewKeyring(o KeyringOptions) (*Keyring, error) {
	r := &Keyring{KeyringOptions: o}
	r.named.Store(new([]key))

	for _, k := range o.Shared {
		sum := sha256.Sum256([]byte(k))
		// Each shared key has its own jobs. No name in a file has a colon.
		name := "key:" + hex.EncodeToString(sum[:6])
		r.shared = append(r.shared, key{sum: sum, Caller: Caller{Name: name, Admin: true, Tiers: keyfile.Tiers()}})
	}

	if r.File == "" {
		return r, nil
	}

	_, err := r.reload()
	if info, serr := os.Stat(r.File); serr == nil && info.Mode().Perm()&0o077 != 0 {
		r.Log.Warn("other users of this machine may read the key file",
			"file", r.File, "mode", info.Mode().Perm().String(), "fix", "chmod 600 "+r.File)
	}

	return r, err
}

// Required reports whether requests need a key. A file requires one even when it is empty or not valid, and also
// after it was removed.
func (r *Keyring) Required() bool { return len(r.shared) > 0 || r.present.Load() }

// Find returns the owner of a key; ok is false for an unknown key. It compares with every key in constant time, so
// that the duration reveals nothing about the keys.
func (r *Keyring) Find(presented string) (caller Caller, ok bool) {
	// Compare digests, which all have one length: ConstantTimeCompare returns at once for different lengths.
	sum := sha256.Sum256([]byte(presented))

	for _, keys := range [][]key{r.shared, *r.named.Load()} {
		for i := range keys {
			if subtle.ConstantTimeCompare(sum[:], keys[i].sum[:]) == 1 {
				caller, ok = keys[i].Caller, true
			}
		}
	}

	return caller, ok
}

// Callers returns the owners of all keys, each once, sorted by name.
func (r *Keyring) Callers() []Caller {
	var all []Caller

	for _, keys := range [][]key{r.shared, *r.named.Load()} {
		for _, k := range keys {
			all = append(all, k.Caller)
		}
	}
	slices.SortStableFunc(all, func(a, b Caller) int { return strings.Compare(a.Name, b.Name) })

	// An owner has two keys while one of them replaces the other.
	return slices.CompactFunc(all, func(a, b Caller) bool { return a.Name == b.Name })
}

// reload reads the file if it has changed. It keeps the old keys when the file is not valid.
func (r *Keyring) reload() (changed bool, err error) { return r.load(keyfile.Read(r.File)) }

// load replaces the keys with those in data. err is the error of reading the file; with it, or with invalid data, the
// old keys stay.
func (r *Keyring) load(data []byte, err error) (changed bool, _ error) {
	// An optional file that has never existed leaves the server open.
	if errors.Is(err, fs.ErrNotExist) && r.FileOptional && !r.present.Load() {
		return false, nil
	}

	if conn.Exhausted(err) {
		return false, err // no file descriptor or memory is left: the file may still exist
	}
	r.present.Store(true)

	if err != nil {
		return false, err
	}

	sum := sha256.Sum256(data)
	if sum == r.loaded {
		return false, nil
	}
	r.loaded = sum

	entries, err := keyfile.Parse(r.File, data, r.Getenv)
	if err != nil {
		return false, err
	}

	keys := make([]key, len(entries))
	for i, e := range entries {
		keys[i] = key{sum: e.Sum, Caller: Caller{
			Name: e.Name, Admin: e.Admin, Models: e.Models, Tiers: e.Tiers,
			Limits: meter.Limits{RPM: e.RPM, RPD: e.RPD, TPM: e.TPM, TPD: e.TPD, Concurrency: e.Concurrency},
		}}
	}
	r.named.Store(&keys)

	return true, nil
}

// poll reads the file and loads it only when two reads in a row return the same bytes. While another program writes
// the file in place, a read returns an empty file or one that ends too early.
func (r *Keyring) poll() (changed bool, err error) {
	data, err := keyfile.Read(r.File)
	if err != nil {
		r.seen = r.loaded
		return r.load(nil, err)
	}
	sum := sha256.Sum256(data)

	settled := sum == r.seen
	if r.seen = sum; !settled && sum != r.loaded {
		r.present.Store(true)
		return false, nil
	}

	return r.load(data, nil)
}

// Watch reloads the file when it changes, until ctx ends. It reads the file instead of watching it, because a
// mounted secret changes when a folder above it is swapped. After an error the old keys stay valid.
func (r *Keyring) Watch(ctx context.Context) {
	if r.File == "" {
		return
	}

	next := time.NewTimer(reloadInterval)
	defer next.Stop()

	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			switch changed, err := r.poll(); {
			case err != nil:
				r.Log.Error("could not reload the keys; the old keys stay valid", "error", err)
			case changed:
				r.Log.Info("reloaded the keys", "file", r.File, "keys", len(*r.named.Load()), "names", r.names())
			}

			if r.seen == r.loaded {
				next.Reset(reloadInterval)
			} else {
				next.Reset(settleInterval)
			}
		}
	}
}

// names returns the owners of the keys of File, each once, sorted.
func (r *Keyring) names() []string {
	var names []string
	for _, k := range *r.named.Load() {
		names = append(names, k.Name)
	}
	slices.Sort(names)

	return slices.Compact(names)
}
