package conn

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestDrainWaitsForAnswers(t *testing.T) {
	t.Parallel()

	errStop := errors.New("stopping")

	for name, tc := range map[string]struct {
		lasts time.Duration // 0 for an answer that does not end by itself
		ended bool          // Drain cancels the answer
		took  time.Duration // by Drain
	}{
		"an answer within patience": {lasts: 2 * time.Second, took: 2 * time.Second},
		"an answer that never ends": {ended: true, took: 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				open := map[string]int{}
				s := NewStreams(func(kind string, change int) { open[kind] += change })

				ctx, leave, err := s.Join("wait")
				if err != nil || open["wait"] != 1 {
					t.Fatalf("Join returned %v, open: %v; want one stream", err, open)
				}

				ended := false

				go func() {
					defer leave()

					if tc.lasts > 0 {
						time.Sleep(tc.lasts)
						return
					}
					<-ctx.Done()
					ended = errors.Is(context.Cause(ctx), errStop)
				}()
				began := time.Now()

				if err := s.Drain(t.Context(), 5*time.Second, errStop); err != nil {
					t.Error(err)
				}

				took := time.Since(began)
				if took != tc.took || ended != tc.ended || open["wait"] != 0 || !s.Stopping() {
					t.Errorf("Drain took %s and cancelled: %v, open: %v; want %s, %v and none", took, ended,
						open, tc.took, tc.ended)
				}

				if _, _, err := s.Join("wait"); !errors.Is(err, errStop) {
					t.Errorf("Join after Drain returned %v, want %v", err, errStop)
				}
			})
		})
	}
}

func TestDrainReturnsTheCauseOfItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewStreams(func(string, int) {})

		_, leave, err := s.Join("websocket")
		if err != nil {
			t.Fatal(err)
		}
		defer leave()

		errLate := errors.New("late")

		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errLate)
		defer cancel()

		if err := s.Drain(ctx, 0, errors.New("stopping")); !errors.Is(err, errLate) {
			t.Errorf("Drain returned %v, want %v", err, errLate)
		}
	})
}
