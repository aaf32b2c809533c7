package e2e_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/go-rod/rod/lib/proto"

	"presswork/internal/test/browsertest"
	"presswork/internal/test/e2e"
)

// BenchmarkStudioInteractive measures the time from navigation until the studio's editor takes text and the page
// is idle, with an empty cache. It runs at the machine's speed and at a quarter of it.
func BenchmarkStudioInteractive(b *testing.B) {
	_, c := e2e.Serve(b, nil)
	p := browsertest.NewVisitor(b).Open(c.Base+"/", 1280, 800, false)
	p.Allow = []string{"Blocked script execution"} // the frame of the preview blocks the script below
	p.See(".cm-content")
	p.Page.MustEvalOnNewDocument(`new MutationObserver((_, o) => {
		if (!document.querySelector(".cm-content[contenteditable=true]")) return;
		o.disconnect();
		requestIdleCallback(() => window.interactive = performance.now());
	}).observe(document, {subtree: true, childList: true})`)

	if err := (proto.NetworkSetCacheDisabled{CacheDisabled: true}).Call(p.Page); err != nil {
		b.Fatal(err)
	}

	loadTimes := func(slowdown float64) []float64 {
		if err := (proto.EmulationSetCPUThrottlingRate{Rate: slowdown}).Call(p.Page); err != nil {
			b.Fatal(err)
		}
		var took []float64

		for range 10 {
			p.Page.MustNavigate(c.Base + "/")
			p.Until("the studio can be used", `() => window.interactive > 0`)

			ms, err := strconv.ParseFloat(p.Eval(`() => String(window.interactive)`), 64)
			if err != nil {
				b.Fatal(err)
			}
			took = append(took, ms)
		}
		slices.Sort(took)

		return took
	}
	for b.Loop() {
		fast, slow := loadTimes(1), loadTimes(4)
		report(
			b,
			"Studio, from the navigation until it can be used, nothing cached",
			fmt.Sprintf("p50 %.0f ms, worst %.0f ms; with a quarter of the CPU %.0f and %.0f ms", fast[5], fast[9],
				slow[5], slow[9]),
			"< 1 s",
		)
	}
}
