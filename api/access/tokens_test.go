package access

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTokenIsValidForItsJobUntilItExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		signer := NewSigner([]byte("0123456789abcdef"))
		token := signer.Sign("job", time.Minute)

		if !signer.Valid(token, "job") {
			t.Error("a fresh token is rejected")
		}

		for name, accepted := range map[string]bool{
			"another job":      signer.Valid(token, "other"),
			"another secret":   NewSigner([]byte("fedcba9876543210")).Valid(token, "job"),
			"a shorter token":  signer.Valid(token[:len(token)-1], "job"),
			"a later expiry":   signer.Valid("_"+token[1:], "job"),
			"an invalid token": signer.Valid("!", "job"),
		} {
			if accepted {
				t.Errorf("%s is accepted", name)
			}
		}

		time.Sleep(time.Minute)

		if signer.Valid(token, "job") {
			t.Error("an expired token is accepted")
		}
	})
}
