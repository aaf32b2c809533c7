package studio_test

import (
	"strconv"
	"testing"
)

// checkFirstVisitSize adds up the bytes that a browser without a cache receives until the sample is on the page.
func checkFirstVisitSize(t *testing.T, h *shared) {
	const least, most = 100_000, 450_000
	_, p, _ := h.open(t)
	waitForPreview(p, "quiet craft")
	p.Until("the fonts are there",
		`() => [...`+page+`.fonts].some(f => f.status === "loaded") && `+page+`.fonts.status === "loaded"`)

	const sum = `() => String([window, document.querySelector("iframe.sheet").contentWindow].reduce((n, w) => n +
		[...w.performance.getEntriesByType("navigation"), ...w.performance.getEntriesByType("resource")].
			reduce((n, e) => n + e.transferSize, 0), 0))`
	if total, err := strconv.Atoi(p.Eval(sum)); err != nil || total > most || total < least {
		t.Errorf("a first visit receives %d bytes (%v), want %d to %d", total, err, least, most)
	}
}

// checkSpacesInScaledPage compares the width of a text at several scales with its width at full size.
func checkSpacesInScaledPage(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	pasteText(p, "text/plain", "# A\n\n| Good for |\n| --- |\n| reports and booklets that are read in bed |\n")
	waitForPreview(p, "Good for")
	p.Until("the fonts are there", `() => `+page+`.fonts.status === "loaded"`)
	p.Until("the text is as wide as its scale says", `() => {
		const root = `+page+`.documentElement, text = `+page+`.createRange();
		const width = zoom => {
			root.style.setProperty("--zoom", zoom);
			text.selectNodeContents(root.querySelector("td"));
			return text.getBoundingClientRect().width / zoom;
		};
		const whole = width(1);
		return [0.5, 0.55, 0.6, 0.67, 0.71].every(zoom => Math.abs(width(zoom) / whole - 1) < 0.01);
	}`)
}
