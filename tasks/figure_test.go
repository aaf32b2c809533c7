package tasks

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestACachedValueIsReadOncePerMaxAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := cachedValue[int]{maxAge: time.Second}
		asked := 0
		next := func(old int) (int, error) { asked++; return old + 1, nil }
		want := func(value, times int) {
			t.Helper()

			if got, err := f.get(next); err != nil || got != value || asked != times {
				t.Fatalf("got %d, %v after %d reads; want %d after %d", got, err, asked, value, times)
			}
		}
		want(1, 1)
		time.Sleep(time.Second)
		want(1, 1)
		time.Sleep(time.Nanosecond)
		// While one caller reads and then fails, the others use the known value.
		slow := make(chan error)

		go func() {
			_, err := f.get(func(int) (int, error) {
				time.Sleep(time.Second / 2)
				return 0, errors.New("away")
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
