package storage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"presswork/storage"
)

func TestBoundedReadsAtMostOneByteBeyondTheSize(t *testing.T) {
	t.Parallel()

	for size, want := range map[int64]string{-1: "abcdef", 0: "a", 3: "abcd", 6: "abcdef", 9: "abcdef"} {
		t.Run(fmt.Sprintf("size %d", size), func(t *testing.T) {
			b, err := io.ReadAll(storage.Bounded(t.Context(), strings.NewReader("abcdef"), size))
			if err != nil || string(b) != want {
				t.Errorf("got %q (%v), want %q", b, err, want)
			}
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the context has ended")
	cancel(cause)

	if b, err := io.ReadAll(storage.Bounded(ctx, strings.NewReader("abc"), 3)); len(b) > 0 || !errors.Is(err, cause) {
		t.Errorf("with an ended context: got %q, %v; want nothing and %v", b, err, cause)
	}
}
