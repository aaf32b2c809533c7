package storage

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"log/slog"
)

// Verified returns a reader of a whole object that compares its bytes with the digest in info. If they differ it
// withholds the bytes of the last Read, logs the key and returns ErrCorrupt. A damaged object
// therefore never looks complete. Without a digest it returns r. It is for implementations of Store.
func Verified(r io.Reader, info Info, log *slog.Logger) io.Reader {
	if info.SHA256 == "" {
		return r
	}

	return &verified{r: r, info: info, log: log, hash: sha256.New(), left: info.Size}
}

// verified is the reader of Verified.
type verified struct {
	r    io.Reader
	info Info
	log  *slog.Logger
	// hash has the bytes that were read so far.
	hash hash.Hash
	// left is the number of bytes that r has not yet yielded.
	left int64
}

// Read implements io.Reader.
func (v *verified) Read(p []byte) (int, error) {
	n, err := v.r.Read(p)
	if err != nil && err != io.EOF {
		return n, err
	}

	v.hash.Write(p[:n])
	v.left -= int64(n)

	// Compare at the last byte, because a reader that knows the size may not read until io.EOF.
	atEnd := v.left <= 0 || err == io.EOF
	if atEnd && hex.EncodeToString(v.hash.Sum(nil)) != v.info.SHA256 {
		v.log.Error("a stored object is damaged", "key", v.info.Key)
		return 0, fmt.Errorf("get %s: %w", v.info.Key, ErrCorrupt)
	}

	return n, err
}
