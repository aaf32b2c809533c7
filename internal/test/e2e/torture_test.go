package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"presswork/internal/test/e2e"
	"presswork/internal/test/nemesis"
	"presswork/internal/test/public"
)

// TestAcceptedJobsCompleteOnceUnderFaults injects faults into a fleet for 25 seconds. `make torture` sets TORTURE to a
// longer time. It also sets a replicated Redis, a full disk, wrong clocks and an older version.
func TestAcceptedJobsCompleteOnceUnderFaults(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("needs Redis, Chromium and MinIO; `make test` runs this test")
	}
	o := nemesis.Options{
		Dir: public.Dir(t), Seed: rand.Uint64() % 1e9, Duration: 25 * time.Second, Callers: 6,
		Gap: time.Second, LongestFault: 2 * time.Second, Settling: 3 * time.Minute,
	}
	setting := func(name string, set func(value string) error) {
		if value := os.Getenv(name); value != "" {
			if err := set(value); err != nil {
				t.Fatalf("%s=%q: %v", name, value, err)
			}
		}
	}
	setting("TORTURE", func(v string) (err error) {
		o.Duration, err = time.ParseDuration(v)
		o.Gap, o.LongestFault, o.SmallDisk = 3*time.Second, 20*time.Second, os.Getuid() == 0

		return err
	})
	setting("TORTURE_SEED", func(v string) (err error) { o.Seed, err = strconv.ParseUint(v, 10, 64); return err })
	setting("TORTURE_JOBS", func(v string) (err error) { o.Jobs, err = strconv.Atoi(v); return err })
	setting("TORTURE_DIR", func(v string) error { o.Dir = v; return os.MkdirAll(v, 0o755) })
	setting("TORTURE_CLOCKED", func(v string) error { o.Clocked = v; return nil })
	setting("TORTURE_FAULTS", func(v string) error { o.Faults = strings.Split(v, ","); return nil })
	setting("TORTURE_OTHERS", func(v string) error { o.Others = strings.Fields(v); return nil })
	setting("TORTURE_REDIS", func(v string) error {
		if o.Redis = nemesis.Redis(v); o.Redis != nemesis.Replicated && o.Redis != nemesis.Cluster {
			return fmt.Errorf("allowed are %s and %s", nemesis.Replicated, nemesis.Cluster)
		}
		// All nodes of the Cluster are on one disk, and would all fail when it is full.
		o.SmallDisk = o.SmallDisk && o.Redis != nemesis.Cluster

		return nil
	})

	if setting("TORTURE_PROGRAM", func(v string) error { o.Program = v; return nil }); o.Program == "" {
		o.Program = e2e.Binary(t)
	}
	t.Logf("TORTURE_SEED=%d", o.Seed)
	t.Log(nemesis.Run(t, o))
}
