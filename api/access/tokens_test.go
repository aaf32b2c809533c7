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
		token := signer.Sign(JobScope, "job", time.Now().Add(time.Minute))

		if !signer.Valid(JobScope, token, "job") {
			t.Error("a fresh token is rejected")
		}

		for name, accepted := range map[string]bool{
			"another job":      signer.Valid(JobScope, token, "other"),
			"another scope":    signer.Valid(ShareScope, token, "job"),
			"another secret":   NewSigner([]byte("fedcba9876543210")).Valid(JobScope, token, "job"),
			"a shorter token":  signer.Valid(JobScope, token[:len(token)-1], "job"),
			"a later expiry":   signer.Valid(JobScope, "_"+token[1:], "job"),
			"an invalid token": signer.Valid(JobScope, "!", "job"),
		} {
			if accepted {
				t.Errorf("%s is accepted", name)
			}
		}

		time.Sleep(time.Minute)

		if signer.Valid(JobScope, token, "job") {
			t.Error("an expired token is accepted")
		}
	})
}
