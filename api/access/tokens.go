package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"
)

// Scope is what a token opens.
type Scope string

const (
	// JobScope opens GET requests for one job. Answers to them have new tokens.
	JobScope Scope = "job"
	// ShareScope opens only the download of the artifact of one job, so it ends when the token does.
	ShareScope Scope = "share"
)

// Signer makes and checks the tokens in URLs. A token is the second at which it expires, in 8 bytes, and an
// HMAC-SHA-256, in base64url. The HMAC is over that second, the id of one job and a scope. Nothing is stored, so a
// token cannot be revoked before it expires.
type Signer struct{ secret []byte }

// NewSigner returns a signer with the secret that all nodes of a deployment share.
func NewSigner(secret []byte) Signer { return Signer{secret: secret} }

// tokenEncoding rejects non-zero padding bits: otherwise several texts would decode to one token.
var tokenEncoding = base64.RawURLEncoding.Strict()

// Sign returns a token for a job that is valid until the second of expires.
func (s Signer) Sign(scope Scope, jobID string, expires time.Time) string {
	return s.seal(scope, jobID, uint64(expires.Unix()))
}

// seal returns the token of a job that expires at a second of Unix time.
func (s Signer) seal(scope Scope, jobID string, end uint64) string {
	var b [8 + sha256.Size]byte
	binary.BigEndian.PutUint64(b[:8], end)
	mac := hmac.New(sha256.New, s.secret)
	mac.Write([]byte("presswork " + scope + " token 1\x00"))
	mac.Write(b[:8])
	mac.Write([]byte(jobID))
	mac.Sum(b[:8])

	return tokenEncoding.EncodeToString(b[:])
}

// Valid reports whether the token opens the scope of this job now. It compares in constant time, so that the
// duration does not reveal a part of the signature.
func (s Signer) Valid(scope Scope, token, jobID string) bool {
	b, err := tokenEncoding.DecodeString(token)
	if err != nil || len(b) != 8+sha256.Size {
		return false
	}
	end := binary.BigEndian.Uint64(b[:8])

	return hmac.Equal([]byte(token), []byte(s.seal(scope, jobID, end))) && uint64(time.Now().Unix()) < end
}
