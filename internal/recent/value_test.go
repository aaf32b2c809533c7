package recent_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"presswork/internal/recent"
)

func TestACachedValueIsReadOncePerMaxAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cached := recent.NewValue[int](time.Second)
		reads := 0
		read := func(old int) (int, error) { reads++; return old + 1, nil }
		// want reads the value and checks it, and how often it was read from the source.
		want := func(value, times int) {
			t.Helper()

			if got, err := cached.Get(read); err != nil || got != value || reads != times {
				t.Fatalf("got %d, %v after %d reads; want %d after %d", got, err, reads, value, times)
			}
		}
		want(1, 1)
		time.Sleep(time.Second)
		want(1, 1)
		time.Sleep(time.Nanosecond)
		// While one caller reads and then fails, the others get the old value.
		slow := make(chan error)

		go func() {
			_, err := cached.Get(func(int) (int, error) {
				time.Sleep(time.Second / 2)
				return 0, errors.New("unavailable")
			})
			slow <- err
		}()
		synctest.Wait()
		want(1, 1)

		if err := <-slow; err == nil {
			t.Error("the caller whose read failed got no error")
		}
		want(1, 1)
		time.Sleep(time.Second)
		want(2, 2)
	})
}
