package cache

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// schemaVersion is the database's user_version. A database with a newer version stays unchanged.
const schemaVersion = 1

// sqliteName is the file name of the database. A damaged database is renamed to this name with asideMark and the
// time.
const sqliteName, asideMark = "cache.db", ".damaged-"

// busyTimeout is how long an operation waits for another process.
const busyTimeout = 5 * time.Second

// schema updates the cache's size by triggers, so that a cap does not need a count of all entries.
const schema = `
CREATE TABLE entries (
	kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,
	made INTEGER NOT NULL, ttl INTEGER NOT NULL, used INTEGER NOT NULL,
	PRIMARY KEY (kind, key)
) WITHOUT ROWID;
CREATE INDEX by_use ON entries (used);
CREATE TABLE lookups (kind TEXT PRIMARY KEY, hits INTEGER, misses INTEGER, expired INTEGER) WITHOUT ROWID;
CREATE TABLE totals (entries INTEGER, bytes INTEGER);
INSERT INTO totals VALUES (0, 0);
CREATE TRIGGER added AFTER INSERT ON entries BEGIN
	UPDATE totals SET entries = entries + 1, bytes = bytes + length(new.value);
END;
CREATE TRIGGER removed AFTER DELETE ON entries BEGIN
	UPDATE totals SET entries = entries - 1, bytes = bytes - length(old.value);
END;
`

// SQLite is a cache in one database file.
type SQLite struct {
	path string
	o    Options

	mu      sync.Mutex
	db      *sql.DB // nil once closed
	pending map[Kind]KindStats
}

// OpenSQLite opens the cache in a folder and creates the folder if necessary. It moves a damaged database away.
// Errors: ErrNewer, or the reason why the folder is unusable.
func OpenSQLite(ctx context.Context, dir string, o Options) (*SQLite, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the cache folder cannot be used: %w", err)
	}
	s := &SQLite{path: filepath.Join(dir, sqliteName), o: o.withDefaults(), pending: map[Kind]KindStats{}}

	err := s.open(ctx)
	if isDamage(err) {
		err = s.replace(ctx, err)
	}

	if err != nil {
		return nil, fmt.Errorf("the cache %s cannot be used: %w", s.path, err)
	}

	return s, nil
}

// open connects and creates the schema in a new database. SQLite does not wait where two processes could block
// each other, for example while several open the database. open retries then.
func (s *SQLite) open(ctx context.Context) error {
	for deadline := time.Now().Add(busyTimeout); ; {
		err := s.connect(ctx)
		if !is(err, sqlite3.SQLITE_BUSY) || time.Now().After(deadline) {
			return err
		}

		select {
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// connect opens the database and creates its schema.
func (s *SQLite) connect(ctx context.Context) error {
	// Create the file here: SQLite would make it readable for every user. Its journals get the same mode. SQLite
	// reports other problems.
	if f, err := os.OpenFile(s.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		if err := f.Close(); err != nil {
			return err
		}
	}
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
		"journal_mode(WAL)",
		"synchronous(OFF)",       // after a power failure the cache may be damaged, and is then replaced
		"recursive_triggers(ON)", // INSERT OR REPLACE then runs the trigger for removed rows
	}}

	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: escapePath(s.path), RawQuery: q.Encode()}).String())
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(2) // s.mu lets one operation run at a time

	if err := prepare(ctx, db); err != nil {
		return errors.Join(err, db.Close())
	}
	s.db = db

	return nil
}

// escapePath escapes a path for a URI of SQLite, in which ? and # have a meaning.
func escapePath(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// prepare creates the schema, unless the database has it. Errors: ErrNewer for a schema of a later version.
func prepare(ctx context.Context, db *sql.DB) error {
	version := func(from interface {
		QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	},
	) (v int, err error) {
		err = from.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
		return v, err
	}

	v, err := version(db)
	if err != nil || v == schemaVersion {
		return err
	}

	if v > schemaVersion {
		return fmt.Errorf("%w: %d; this one is %d", ErrNewer, v, schemaVersion)
	}

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}

	defer func() { _ = tx.Rollback() }()
	// Another process may have created the schema in the meantime.
	if v, err := version(tx); err != nil || v == schemaVersion {
		return err
	}

	if _, err := tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d", schemaVersion)); err != nil {
		return err
	}

	return tx.Commit()
}

// isDamage reports whether an error means that the file is damaged or is no database.
func isDamage(err error) bool { return is(err, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) }

// is reports whether err is an SQLite error with one of these codes.
func is(err error, codes ...int) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && slices.Contains(codes, e.Code()&0xff)
}

// replace moves a damaged database away and creates a new one.
func (s *SQLite) replace(ctx context.Context, why error) error {
	to := fmt.Sprintf("%s%s%d", s.path, asideMark, s.o.Now().UnixNano())
	if err := os.Rename(s.path, to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	// The journals belong to the damaged file.
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Rename(s.path+suffix, to+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	s.o.Log.Warn("set aside a damaged cache and created a new one", "cache", s.path, "to", to, "reason", why)

	return s.open(ctx)
}

// do runs an operation. If the database is damaged, do replaces it and runs the operation once more.
func (s *SQLite) do(ctx context.Context, operate func(*sql.DB) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.db == nil {
		return sql.ErrConnDone
	}

	err := operate(s.db)
	if is(err, sqlite3.SQLITE_BUSY) {
		return fmt.Errorf("another program holds the cache %s; try again when it has ended: %w", s.path, err)
	}

	if !isDamage(err) {
		return err
	}
	_ = s.db.Close() // the database is damaged, so the error is ignored

	s.db = nil
	if err := s.replace(ctx, err); err != nil {
		return err
	}

	return operate(s.db)
}

// Get implements Cache.
func (s *SQLite) Get(ctx context.Context, kind Kind, key string) (json.RawMessage, bool, error) {
	if err := checkKey(kind, key); err != nil {
		return nil, false, err
	}
	var value []byte
	outcome := miss

	err := s.do(ctx, func(db *sql.DB) error {
		var made, ttl, used int64

		err := db.QueryRowContext(ctx,
			"SELECT value, made, ttl, used FROM entries WHERE kind = ? AND key = ?", string(kind), key).
			Scan(&value, &made, &ttl, &used)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}

		if err != nil {
			return err
		}

		now := s.o.Now()
		switch {
		case !s.o.isFresh(kind, time.Unix(0, made), time.Duration(ttl), now):
			outcome = expired
			// Remove only the row just read: another process may have replaced it.
			_, err := db.ExecContext(ctx, "DELETE FROM entries WHERE kind = ? AND key = ? AND made = ?",
				string(kind), key, made)

			return ignoreUnwritable(err)
		case !json.Valid(value):
			s.o.Log.WarnContext(ctx, "removed a damaged cache entry", "kind", kind, "key", key)
			_, err := db.ExecContext(ctx, "DELETE FROM entries WHERE kind = ? AND key = ?", string(kind), key)

			return ignoreUnwritable(err)
		}
		outcome = hit

		if now.Sub(time.Unix(0, used)) > touchEvery {
			_, err := db.ExecContext(ctx, "UPDATE entries SET used = ? WHERE kind = ? AND key = ?", now.UnixNano(),
				string(kind), key)

			return ignoreUnwritable(err)
		}

		return nil
	})
	if err != nil {
		return nil, false, err
	}
	s.count(kind, outcome)

	return value, outcome == hit, nil
}

// ignoreUnwritable returns nil for the error of a database that cannot be written to: it is read-only or busy, or the
// disk is full. The cache still serves reads.
func ignoreUnwritable(err error) error {
	if is(err, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY) {
		return nil
	}

	return err
}

// count records a lookup in memory; flush writes the counters to the database.
func (s *SQLite) count(kind Kind, l lookup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.pending[kind]
	k.count(l)
	s.pending[kind] = k
}

// Put implements Cache.
func (s *SQLite) Put(ctx context.Context, kind Kind, key string, value json.RawMessage) error {
	if err := checkKey(kind, key); err != nil {
		return err
	}

	if err := checkValue(value); err != nil {
		return err
	}

	return s.do(ctx, func(db *sql.DB) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()

		now := s.o.Now().UnixNano()
		if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?)",
			string(kind), key, []byte(value), now, int64(s.o.ttl(kind)), now); err != nil {
			return err
		}

		if err := s.shrink(ctx, tx); err != nil {
			return err
		}

		return tx.Commit()
	})
}

// shrink removes the least recently used entries until the caps are met.
func (s *SQLite) shrink(ctx context.Context, tx *sql.Tx) error {
	for {
		var t totals
		if err := tx.QueryRowContext(ctx, "SELECT entries, bytes FROM totals").Scan(&t.Entries, &t.Bytes); err != nil {
			return err
		}

		if t.Entries == 0 || !s.o.exceedsCap(t.Entries, t.Bytes) {
			return nil
		}

		_, err := tx.ExecContext(ctx, `DELETE FROM entries WHERE (kind, key) IN
			(SELECT kind, key FROM entries ORDER BY used, made LIMIT max(1, ?))`, t.Entries-s.capEntries())
		if err != nil {
			return err
		}
	}
}

// capEntries returns the largest number of entries. Without a limit it is a number that is never reached.
func (s *SQLite) capEntries() int {
	if s.o.MaxEntries > 0 {
		return s.o.MaxEntries
	}

	return 1 << 62
}
