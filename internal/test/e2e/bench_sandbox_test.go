package e2e_test

import (
	"fmt"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"presswork/internal/inference/sandbox"
)

// BenchmarkCodeInterpreter measures the overhead of the sandbox for code that prints its own time. The rounds alternate
// between an interpreter that is already running, a new one, and one without the sandbox.
func BenchmarkCodeInterpreter(b *testing.B) {
	const (
		rounds = 40
		code   = "import time\nt = time.perf_counter()\nx = sum(i * i for i in range(20000))\n" +
			"print(time.perf_counter() - t)"
	)

	box, err := sandbox.Open(b.Context(), sandbox.Options{})
	if err != nil {
		b.Fatal(err)
	}
	newPool := func() *sandbox.Pool {
		p, err := sandbox.NewPool(sandbox.PoolOptions{Box: box})
		if err != nil {
			b.Fatal(err)
		}

		return p
	}

	cold, warm := newPool(), newPool()
	if err := warm.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer warm.Stop(b.Context())
	// timed returns how long f takes, and that time without the time that the code prints.
	timed := func(f func() (string, error)) (whole, added time.Duration) {
		start := time.Now()
		output, err := f()
		whole = time.Since(start)

		if err != nil {
			b.Fatal(err)
		}

		own, err := strconv.ParseFloat(output, 64)
		if err != nil {
			b.Fatalf("the code printed %q (%v), want seconds", output, err)
		}

		return whole, whole - time.Duration(own*float64(time.Second))
	}

	for b.Loop() {
		var first, further, started, plain []time.Duration

		for range rounds {
			s, err := warm.Session(b.Context(), nil)
			if err != nil {
				b.Fatal(err)
			}
			call := func() (string, error) {
				r, err := s.Run(b.Context(), code)
				return r.Output, err
			}
			_, added := timed(call)
			first = append(first, added)
			_, added = timed(call)
			further = append(further, added)

			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			// Two rounds, so that the warm pool has time to start another interpreter.
			for range 2 {
				if s, err = cold.Session(b.Context(), nil); err != nil {
					b.Fatal(err)
				}
				whole, _ := timed(call)
				started = append(started, whole)

				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				whole, _ = timed(func() (string, error) {
					out, err := exec.CommandContext(b.Context(), "/usr/bin/python3", "-I", "-c", code).Output()
					return string(out[:max(0, len(out)-1)]), err
				})
				plain = append(plain, whole)
			}
		}
		const unit = 100 * time.Microsecond
		report(b, "first call of a session of code_interpreter, more than the code's own time",
			percentiles(first, unit), "p50 < 30 ms")
		report(b, "further calls of the session", percentiles(further, unit), "p50 < 30 ms")
		sandboxed, bare := quantile(started, 0.5), quantile(plain, 0.5)
		report(b, "first call where no interpreter waits, against a plain `python3 -c`",
			fmt.Sprintf("%.2f × (p50 %s against %s)",
				float64(sandboxed)/float64(bare), sandboxed.Round(unit), bare.Round(unit)), "stated")
	}
}
