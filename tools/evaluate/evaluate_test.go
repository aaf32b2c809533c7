package evaluate

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/analysis"
	"presswork/tools/train"
)

func TestRunWithoutACorpusFails(t *testing.T) {
	t.Parallel()
	var out strings.Builder

	dir := filepath.Join(t.TempDir(), "nowhere")
	if _, err := Run(&out, dir); err == nil || !strings.Contains(err.Error(), dir) || out.Len() > 0 {
		t.Errorf("error %v after %q", err, out.String())
	}
}

// predicted returns a prediction of the first of three types with this probability.
func predicted(p float64, right bool) prediction {
	truth := 0
	if !right {
		truth = 1
	}

	return prediction{truth: truth, probabilities: []float64{p, (1 - p) * 0.6, (1 - p) * 0.4}}
}

func TestCalibrationError(t *testing.T) {
	t.Parallel()

	honest := []prediction{predicted(0.75, true), predicted(0.75, true), predicted(0.75, true), predicted(0.75, false)}
	if e := calibrationError(honest); math.Abs(e) > 1e-9 {
		t.Errorf("calibrated predictions: %f", e)
	}

	if e := calibrationError([]prediction{predicted(0.95, false), predicted(0.95, false)}); math.Abs(e-0.95) > 1e-9 {
		t.Errorf("overconfident predictions: %f", e)
	}
}

func TestCalibrationLowersOverconfidenceOnly(t *testing.T) {
	t.Parallel()

	same := func(prediction) float64 { return 1 }

	boast := calibrate(
		[]prediction{predicted(0.98, true), predicted(0.98, false), predicted(0.98, true), predicted(0.98, false)},
		same,
	)
	if p := apply(boast, []float64{0.98, 0.012, 0.008}); p[0] > 0.7 || math.Abs(p[0]+p[1]+p[2]-1) > 1e-9 {
		t.Errorf("overconfident: %+v, %f", boast, p)
	}

	modest := calibrate([]prediction{predicted(0.5, true), predicted(0.5, true), predicted(0.5, true)}, same)
	if p := apply(modest, []float64{0.5, 0.3, 0.2}); p[0] > 0.5 {
		t.Errorf("underconfident: %+v, %f", modest, p)
	}

	if p := apply(analysis.Calibration{Temperature: 1, Slack: leastSlack}, []float64{1, 0, 0}); p[0] > 0.98 {
		t.Errorf("a probability above the limit: %f", p)
	}
}

func TestIntervalsHoldTheMeasure(t *testing.T) {
	t.Parallel()
	var p []prediction

	for i := range 60 {
		one := predicted(0.9, i%4 != 0)
		one.document.Group = string(rune('a' + i%19))
		p = append(p, one)
	}

	got, low, high := interval(p, amongOne), 0.0, 0.0
	if _, err := fmt.Sscanf(got, " (%f–%f)", &low, &high); err != nil || low >= 0.75 || high <= 0.75 || low < 0.4 ||
		high > 0.98 {
		t.Errorf("%q around 0.75: %v", got, err)
	}
}

func TestMeasuresOfPredictions(t *testing.T) {
	t.Parallel()

	p := []prediction{predicted(0.9, true), predicted(0.9, true), predicted(0.9, false), predicted(0.6, true)}
	if precision, coverage := confident(p, 0.8); math.Abs(precision-2.0/3) > 1e-9 || coverage != 0.75 {
		t.Errorf("precision %f, coverage %f", precision, coverage)
	}

	if got := amongFirst(p, 1); got != 0.75 {
		t.Errorf("first right: %f", got)
	}

	if got := amongFirst(p, 2); got != 1 {
		t.Errorf("among two: %f", got)
	}
	// Type 0: 3 of 4 predictions are right and all 3 documents found, so F1 is 6/7. Type 1 is never predicted.
	if got := macroF1(p, prediction.best); math.Abs(got-3.0/7) > 1e-9 {
		t.Errorf("macro F1 %f", got)
	}
}

func TestBitsCompareWithARival(t *testing.T) {
	t.Parallel()
	p := predicted(0.8, true)
	p.rival = []float64{0.4, 0.3, 0.3}
	worse := predicted(0.2, true)
	worse.rival = []float64{0.4, 0.3, 0.3}

	if got := bits([]prediction{p, p}); math.Abs(got-1) > 1e-9 {
		t.Errorf("twice as probable is %f bits", got)
	}

	if got := bits([]prediction{p, worse}); math.Abs(got) > 1e-9 {
		t.Errorf("twice and half are %f bits", got)
	}
}

// TestTrainingLearns shows that a trained model finds the types of its samples, and that a held-out model predicts
// no document that it was trained on.
func TestTrainingLearns(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("trains five models")
	}

	documents, err := ownDocuments(filepath.Join("..", "train", "samples"))
	if err != nil {
		t.Fatal(err)
	}

	types := map[string]bool{}
	for _, d := range documents {
		types[d.Type] = true
	}

	if len(types) != len(analysis.DocumentTypes()) {
		t.Errorf("samples of %d types, there are %d", len(types), len(analysis.DocumentTypes()))
	}

	if got := macroF1(heldOut(documents, train.FitTypes), prediction.best); got < 0.75 {
		t.Errorf("macro F1 of held-out samples %f", got)
	}
}
