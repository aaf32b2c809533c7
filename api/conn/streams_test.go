package conn

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestDrainGivesAnswersTimeToEndByThemselves(t *testing.T) {
	t.Parallel()

	errStop := errors.New("stopping")

	for name, tc := range map[string]struct {
		lasts time.Duration // an answer that does not end by itself has 0
		ended bool          // by Drain
		took  time.Duration
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
					t.Fatalf("%v, open: %v", err, open)
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
					t.Errorf("took %s, ended by Drain: %v, open: %v", took, ended, open)
				}

				if _, _, err := s.Join("wait"); !errors.Is(err, errStop) {
					t.Errorf("a later answer joined: %v", err)
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
			t.Errorf("got %v", err)
		}
	})
}
