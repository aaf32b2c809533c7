package recent_test

import (
	"fmt"
	"testing"

	"presswork/internal/recent"
)

func TestLeastRecentlyUsedIsForgotten(t *testing.T) {
	t.Parallel()
	c := recent.New[int](200)
	c.Put("used", -1, 10)

	for i := range 100 {
		c.Put(fmt.Sprint(i), i, 10)

		if v, ok := c.Get("used"); !ok || v != -1 {
			t.Fatalf("after %d more: %d, %v", i, v, ok)
		}
	}
	kept := 0

	for i := range 100 {
		if v, ok := c.Get(fmt.Sprint(i)); ok {
			kept++

			if v != i {
				t.Errorf("key %d holds %d", i, v)
			}
		}
	}

	if kept == 0 || kept > 20 {
		t.Errorf("%d of 100 are kept; at most 20 fit", kept)
	}
	c.Put("giant", 1, 1000)

	if _, ok := c.Get("giant"); ok {
		t.Error("a value larger than the cache is kept")
	}
	c.Put("used", -2, 10)

	if v, _ := c.Get("used"); v != -2 {
		t.Errorf("a value put again is %d", v)
	}
}
