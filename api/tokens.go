package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"
)

const (
	// tokenTTL is how long a token in an answer is good.
	tokenTTL = time.Hour
	// webhookTokenTTL is how long one in a webhook is: its reader comes late.
	webhookTokenTTL = 24 * time.Hour
)

// signer makes and checks the tokens in URLs. A token is the second it ends in
// (8 bytes) and an HMAC-SHA-256 over that and one job's id, in base64url. It
// opens GET requests on that job and nothing else.
type signer struct{ secret []byte }

var tokenEncoding = base64.RawURLEncoding.Strict()

func (s signer) sign(jobID string, ttl time.Duration) string {
	return s.seal(jobID, uint64(time.Now().Add(ttl).Unix()))
}

func (s signer) seal(jobID string, end uint64) string {
	var b [8 + sha256.Size]byte
	binary.BigEndian.PutUint64(b[:8], end)
	mac := hmac.New(sha256.New, s.secret)
	mac.Write([]byte("presswork job token 1\x00"))
	mac.Write(b[:8])
	mac.Write([]byte(jobID))
	mac.Sum(b[:8])

	return tokenEncoding.EncodeToString(b[:])
}

// valid reports whether the token opens this job now.
func (s signer) valid(token, jobID string) bool {
	b, err := tokenEncoding.DecodeString(token)
	if err != nil || len(b) != 8+sha256.Size {
		return false
	}
	end := binary.BigEndian.Uint64(b[:8])

	return hmac.Equal([]byte(token), []byte(s.seal(jobID, end))) && uint64(time.Now().Unix()) < end
}
