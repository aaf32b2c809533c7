package gateway

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"presswork/internal/inference"
)

func TestTimeoutNamesItsLimit(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		length time.Duration
		want   string
	}{
		"a chat":      {0, "sent nothing for 2s (its first_token_timeout)"},
		"a recording": {time.Minute, "sent nothing for 1m2s (its first_token_timeout and the length of the recording)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, _, stop := newWatch(t.Context(), &inference.Routing{FirstTokenTimeout: 2 * time.Second}, c.length)
				defer stop()
				<-ctx.Done()

				if err := context.Cause(ctx); !strings.Contains(err.Error(), c.want) {
					t.Errorf("got the error %q, want %q in it", err, c.want)
				}
			})
		})
	}
}
