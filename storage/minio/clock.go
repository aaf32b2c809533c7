package minio

import (
	"fmt"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
)

// maxSkew is a little less than 15 minutes, the largest difference of the clocks that S3 accepts.
const maxSkew = 14 * time.Minute

// skewDetector is a transport that recognises when S3 refused a request because of this machine's clock, and adds an
// error with the difference. S3 reports the reason only in the body of its response, which a response to HEAD does not
// have, and never the difference.
type skewDetector struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t skewDetector) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.RoundTripper.RoundTrip(r)
	if err != nil || answer.StatusCode != http.StatusForbidden {
		return answer, err
	}

	serverTime, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return answer, nil // the response has no time
	}

	behind, direction := time.Until(serverTime), "behind"
	if behind < 0 {
		direction = "ahead of"
	}

	if behind.Abs() >= maxSkew {
		// minio-go takes the code and the message of its error from these headers.
		answer.Header.Set("X-Minio-Error-Code", minio.RequestTimeTooSkewed)
		answer.Header.Set("X-Minio-Error-Desc", fmt.Sprintf("this machine's clock is %s %s the object store's, "+
			"which refuses requests for that; set the clock with chrony or NTP", behind.Abs().Round(time.Second), direction))
	}

	return answer, nil
}
