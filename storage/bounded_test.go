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

func TestAStoreReadsNoMoreThanItMust(t *testing.T) {
	t.Parallel()

	for size, want := range map[int64]string{-1: "abcdef", 0: "a", 3: "abcd", 6: "abcdef", 9: "abcdef"} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			if b, err := io.ReadAll(
				storage.Bounded(t.Context(), strings.NewReader("abcdef"), size),
			); err != nil ||
				string(b) != want {
				t.Errorf("size %d: %q (%v), want %q", size, b, err, want)
			}
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("over")
	cancel(over)

	if b, err := io.ReadAll(storage.Bounded(ctx, strings.NewReader("abc"), 3)); len(b) > 0 || !errors.Is(err, over) {
		t.Errorf("got %q, %v", b, err)
	}
}
