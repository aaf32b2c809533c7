package raster_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"presswork/internal/chromium"
	"presswork/internal/document/raster"
	"presswork/internal/fault"
	"presswork/internal/test/browsertest"
	"presswork/internal/test/wait"
)

const (
	// width and height of each page are in points.
	width, height = 72, 36
	// area of a page in square inches.
	area = float64(width*height) / (72 * 72)
)

// patient has a time limit for busy machines.
var patient = chromium.Options{Tabs: 1, ScriptTimeout: wait.Patience}

// The document has more pages than one run of the script draws.
func TestPicturesHaveTheOrderAndSizeOfThePages(t *testing.T) {
	t.Parallel()

	const count = 27
	script := browsertest.Start(t, patient).Script

	pictures, err := raster.Pages(t.Context(), script, colouredPages(count), count, 144, area)
	if err != nil {
		t.Fatal(err)
	}

	if len(pictures) != count {
		t.Fatalf("got %d pictures of %d pages", len(pictures), count)
	}

	for i, data := range pictures {
		picture, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}

		if got, want := picture.Bounds(), image.Rect(0, 0, 2*width, 2*height); got != want {
			t.Errorf("page %d at 144 dots to the inch is %v, want %v", i+1, got, want)
		}

		red, green, blue, _ := picture.At(width, height).RGBA()
		if got := redOf(i); red>>8 != uint32(got) || green != 0 || blue != 0xffff {
			t.Errorf("page %d has the colour %d %d %d, want %d 0 255", i+1, red>>8, green>>8, blue>>8, got)
		}
	}
}

func TestOnlyTheFirstPagesAreDrawn(t *testing.T) {
	t.Parallel()
	script := browsertest.Start(t, patient).Script

	pictures, err := raster.Pages(t.Context(), script, colouredPages(3), 2, 72, area)
	if err != nil || len(pictures) != 2 {
		t.Errorf("got %d pictures, %v; want 2", len(pictures), err)
	}
}

func TestFileThatIsNotAPDFIsAnError(t *testing.T) {
	t.Parallel()
	script := browsertest.Start(t, patient).Script

	pictures, err := raster.Pages(t.Context(), script, []byte("<html>"), 1, 72, area)
	if err == nil || fault.AsError(err).Code != fault.RenderFailed || pictures != nil {
		t.Errorf("got %d pictures and %v, want only %s", len(pictures), err, fault.RenderFailed)
	}
}

func TestTooManyPagesOrPixelsAreRejected(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		count, resolution int
		area              float64
		want              string
	}{
		"pages":  {raster.MaxPages + 1, 72, area, "the document has 501 pages; at most 500 become pictures"},
		"pixels": {1, 600, 300, "more than 100 million pixels; choose a lower resolution"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			never := func(context.Context, string, ...string) ([]json.RawMessage, error) {
				t.Error("the script was run, want the error before")
				return nil, nil
			}

			_, err := raster.Pages(t.Context(), never, colouredPages(1), test.count, test.resolution, test.area)
			if e := fault.AsError(err); e.Code != fault.ContentTooComplex || !strings.Contains(e.Message, test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestFailureOfTheBrowserIsReturned(t *testing.T) {
	t.Parallel()

	lost := errors.New("the browser has ended")
	for name, test := range map[string]struct {
		answer string
		err    error
		want   string
	}{
		"error":       {"", lost, lost.Error()},
		"no picture":  {`{}`, nil, "page 1 has no picture: {}"},
		"not as JSON": {`{"png":3}`, nil, "cannot unmarshal number"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			script := func(context.Context, string, ...string) ([]json.RawMessage, error) {
				return []json.RawMessage{json.RawMessage(test.answer)}, test.err
			}

			_, err := raster.Pages(t.Context(), script, colouredPages(1), 1, 72, area)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// colouredPages returns a PDF. Page i is filled with the colour redOf(i), 0, 255.
func colouredPages(count int) []byte {
	var b, kids bytes.Buffer
	for i := range count {
		fmt.Fprintf(&kids, "%d 0 R ", 3+2*i)
	}
	fmt.Fprintf(&b, "%%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n")
	fmt.Fprintf(&b, "2 0 obj<</Type/Pages/Count %d/MediaBox[0 0 %d %d]/Kids[%s]>>endobj\n", count, width, height, &kids)

	for i := range count {
		content := fmt.Sprintf("%.6f 0 1 rg 0 0 %d %d re f", float64(redOf(i))/255, width, height)
		fmt.Fprintf(&b, "%d 0 obj<</Type/Page/Parent 2 0 R/Contents %d 0 R>>endobj\n", 3+2*i, 4+2*i)
		fmt.Fprintf(&b, "%d 0 obj<</Length %d>>stream\n%s\nendstream endobj\n", 4+2*i, len(content), content)
	}
	b.WriteString("trailer<</Root 1 0 R>>\n%%EOF")

	return b.Bytes()
}

// redOf returns the red of page i, counted from 0. It differs for up to 29 pages.
func redOf(i int) int { return 9 * i }
