package cache

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// flush adds this process's counts to the database. The caller holds s.mu.
func (s *SQLite) flush(ctx context.Context, db *sql.DB) error {
	for kind, k := range s.pending {
		_, err := db.ExecContext(ctx, `INSERT INTO lookups VALUES (?, ?, ?, ?) ON CONFLICT (kind) DO UPDATE SET
			hits = hits + excluded.hits, misses = misses + excluded.misses, expired = expired + excluded.expired`,
			string(kind), k.Hits, k.Misses, k.Expired)
		if err != nil {
			return err
		}
		delete(s.pending, kind)
	}

	return nil
}

// Stats implements Cache.
func (s *SQLite) Stats(ctx context.Context) (Stats, error) {
	var kinds map[Kind]KindStats
	err := s.do(ctx, func(db *sql.DB) (err error) {
		if err := ignoreUnwritable(s.flush(ctx, db)); err != nil {
			return err
		}
		kinds, err = s.kinds(ctx, db)

		return err
	})

	return newStats("sqlite", s.path, kinds), err
}

// kinds returns the statistics of each kind: those in the database plus those not yet written to it.
func (s *SQLite) kinds(ctx context.Context, db *sql.DB) (map[Kind]KindStats, error) {
	rows, err := db.QueryContext(ctx, `
		SELECT k.kind, (SELECT count(*) FROM entries e WHERE e.kind = k.kind),
			(SELECT ifnull(sum(length(value)), 0) FROM entries e WHERE e.kind = k.kind),
			ifnull(l.hits, 0), ifnull(l.misses, 0), ifnull(l.expired, 0)
		FROM (SELECT 'analysis' AS kind UNION SELECT 'theme') k LEFT JOIN lookups l ON l.kind = k.kind`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	kinds := sum(s.pending, nil)

	for rows.Next() {
		var kind Kind

		var k KindStats
		if err := rows.Scan(&kind, &k.Entries, &k.Bytes, &k.Hits, &k.Misses, &k.Expired); err != nil {
			return nil, err
		}
		p := kinds[kind]
		k.Hits, k.Misses, k.Expired = k.Hits+p.Hits, k.Misses+p.Misses, k.Expired+p.Expired
		kinds[kind] = k
	}

	return kinds, rows.Err()
}

// Clean implements Cache.
func (s *SQLite) Clean(ctx context.Context) (int, error) {
	removed := 0

	err := s.do(ctx, func(db *sql.DB) error {
		// do may call this function again, after it has set a damaged database aside.
		removed = 0

		now := s.o.Now().UnixNano()
		for _, k := range Kinds() {
			result, err := db.ExecContext(ctx,
				"DELETE FROM entries WHERE kind = ? AND (made > ? OR ? - made >= min(ttl, ?) OR NOT json_valid(value))",
				string(k), now, now, int64(s.o.ttl(k)))
			if err != nil {
				return err
			}

			n, err := result.RowsAffected()
			if err != nil {
				return err
			}
			removed += int(n)
		}

		return nil
	})
	if err != nil {
		return 0, err
	}
	aside, err := s.removeAside()

	return removed + aside, err
}

// removeAside removes the damaged databases that were moved away and returns the number of files.
func (s *SQLite) removeAside() (removed int, err error) {
	folder, err := os.ReadDir(filepath.Dir(s.path))
	for _, entry := range folder {
		if strings.HasPrefix(entry.Name(), sqliteName+asideMark) {
			err = errors.Join(err, os.Remove(filepath.Join(filepath.Dir(s.path), entry.Name())))
			removed++
		}
	}

	return removed, err
}

// Clear implements Cache.
func (s *SQLite) Clear(ctx context.Context) error {
	err := s.do(ctx, func(db *sql.DB) error {
		clear(s.pending)

		for _, statement := range []string{"DELETE FROM entries", "DELETE FROM lookups", "VACUUM"} {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return err
			}
		}

		return nil
	})
	if err != nil {
		return err
	}
	_, err = s.removeAside()

	return err
}

// Close implements Cache.
func (s *SQLite) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.db == nil {
		return nil
	}
	err := ignoreUnwritable(s.flush(context.Background(), s.db))
	err = errors.Join(err, s.db.Close())
	s.db = nil

	return err
}
