package chromium_test

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"sync"
	"syscall"
	"testing"
	"time"

	"presswork/internal/chromium"
	"presswork/internal/chromium/printable"
	"presswork/internal/test/browsertest"
	"presswork/internal/test/public"
)

func TestScreenshotShowsTheFirstSheetAsItIsPrinted(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t, chromium.Options{Tabs: 1})
	p := page(
		"<style>@media print{html{background:#102030}}body{margin:0;width:100%}div{height:3in;background:#fff}</style><div></div><p style='height:40in'>",
	)

	p.Sheet = printable.Sheet{Width: 5, Height: 4}
	for density, want := range map[float64]int{1: 480, 2: 960} {
		picture, err := b.Screenshot(t.Context(), p, chromium.ScreenshotOptions{Density: density})
		if err != nil {
			t.Fatal(err)
		}

		img, err := png.Decode(bytes.NewReader(picture))
		if err != nil {
			t.Fatal(err)
		}

		if got := img.Bounds().Size(); got.X != want || got.Y != want*4/5 {
			t.Errorf("density %g: size %v, want %d × %d", density, got, want, want*4/5)
		}

		edge := img.Bounds().Max

		got, want := color.RGBAModel.Convert(img.At(edge.X-1, edge.Y-1)), (color.RGBA{0x10, 0x20, 0x30, 0xff})
		if got != want {
			t.Errorf("density %g: last pixel %v, want %v", density, got, want)
		}

		if got := color.GrayModel.Convert(img.At(edge.X-1, 0)).(color.Gray); got.Y != 0xff {
			t.Errorf("density %g: pixel at the right edge %v, want the white of the content", density, got)
		}
	}

	for _, format := range []string{"jpeg", "webp"} {
		picture, err := b.Screenshot(t.Context(), p, chromium.ScreenshotOptions{Format: format})

		head := map[string]string{"jpeg": "\xff\xd8\xff", "webp": "RIFF"}[format]
		if err != nil || !bytes.HasPrefix(picture, []byte(head)) {
			t.Errorf("%s: got %.8q, %v; want a picture in this format", format, picture, err)
		}
	}
	// The screenshot must not change the next print in the same tab.
	if got := info(t, mustPrint(t, b, page("<p>x")), "Page size"); got != "595.92 x 841.92 pts (A4)" {
		t.Errorf("page size of the next print %s, want A4", got)
	}
}

// A stopped GPU process draws no frame.
func TestScreenshotWithoutAFrameIsRepeatedInANewBrowser(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	b := browsertest.Start(t, chromium.Options{Tabs: 1, Dir: dir, PrintTimeout: 20 * time.Second})
	mustPrint(t, b, page("<p>x"))

	for _, pid := range pids(t, dir, "gpu-process") {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}

	if _, err := b.Screenshot(t.Context(), page("<p>x"), chromium.ScreenshotOptions{}); err != nil {
		t.Fatal(err)
	}

	if s := b.Stats(); s.Launches != 2 {
		t.Errorf("%d launches, want 2", s.Launches)
	}
}

// The browser draws frames for one tab at a time, while other tabs print.
func TestScreenshotsAndPrintsRunTogether(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t, chromium.Options{Tabs: 3})

	var all sync.WaitGroup
	for n := range 3 {
		all.Go(func() {
			for i := range 6 {
				p := page(fmt.Sprintf("<style>@media print{html{background:#%02x2030}}</style><p>%d %d", 40*i, n, i))
				if _, err := b.Screenshot(t.Context(), p, chromium.ScreenshotOptions{Density: 2}); err != nil {
					t.Errorf("screenshot %d of goroutine %d: error %v, want nil", i, n, err)
				}

				if _, err := b.Print(t.Context(), p); err != nil {
					t.Errorf("print %d of goroutine %d: error %v, want nil", i, n, err)
				}
			}
		})
	}
	all.Wait()

	if s := b.Stats(); s.Crashes != 0 || s.TabsLost != 0 {
		t.Errorf("stats %+v, want no crash and no lost tab", s)
	}
}
