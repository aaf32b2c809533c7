package worker

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
)

func TestAReportAndTheWorkRunInParallel(t *testing.T) {
	t.Parallel()

	lost, failed := errors.New("lost"), errors.New("failed")
	for i, c := range []struct{ report, work, want error }{{nil, nil, nil}, {nil, failed, failed}, {lost, nil, lost}, {lost, failed, lost}} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
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
					t.Errorf("report %v and work %v make %v, want %v", c.report, c.work, got, c.want)
				}
			})
		})
	}
}
