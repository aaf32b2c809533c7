package minio

import (
	"fmt"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
)

// maxSkew is a little less than the 15 minutes by which S3 lets a request's time differ from its own.
const maxSkew = 14 * time.Minute

// clocked is a transport that recognises a request that S3 refused because of this machine's clock. S3 reports that
// in the body of its response, which a response to HEAD does not have, and without the difference.
type clocked struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (c clocked) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.RoundTripper.RoundTrip(r)
	if err != nil || answer.StatusCode != http.StatusForbidden {
		return answer, err
	}

	there, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return answer, nil // the response has no time
	}

	behind, direction := time.Until(there), "behind"
	if behind < 0 {
		direction = "ahead of"
	}

	if behind.Abs() >= maxSkew {
		// minio-go takes code and message from these.
		answer.Header.Set("X-Minio-Error-Code", minio.RequestTimeTooSkewed)
		answer.Header.Set("X-Minio-Error-Desc", fmt.Sprintf("this machine's clock is %s %s the object store's, "+
			"which refuses requests for that; set the clock with chrony "+
			"or NTP", behind.Abs().Round(time.Second), direction))
	}

	return answer, nil
}
