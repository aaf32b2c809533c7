package worker

import (
	"errors"
	"testing"
	"testing/synctest"
)

func TestAReportAndTheWorkRunInParallel(t *testing.T) {
	t.Parallel()

	lost, failed := errors.New("lost"), errors.New("failed")
	for name, c := range map[string]struct{ report, work, want error }{
		"both succeed": {nil, nil, nil},
		"work fails":   {nil, failed, failed},
		"report fails": {lost, nil, lost},
		"both fail":    {lost, failed, lost},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // the bubble fails the test if both wait forever
				begun, worked := make(chan struct{}), make(chan struct{})

				got := inParallel(func() error {
					close(begun)
					<-worked

					return c.report
				}, func() error {
					<-begun
					close(worked)

					return c.work
				})
				if !errors.Is(got, c.want) {
					t.Errorf("inParallel returned %v, want %v", got, c.want)
				}
			})
		})
	}
}
