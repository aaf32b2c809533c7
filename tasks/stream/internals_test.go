package stream

import "time"

// Internals for the tests of package stream_test.
var (
	CallKey    = callKey
	FramesKey  = framesKey
	WaitersKey = waitersKey
)

// SetOutage sets how long calls live through an outage of Redis.
func (c *Client) SetOutage(d time.Duration) { c.outage = d }

// SetOutage sets how long runs live through an outage of Redis.
func (s *Server) SetOutage(d time.Duration) { s.writer.outage = d }

// SetRest sets what is done in the place of a pause after a busy round trip.
func (s *Server) SetRest(f func(time.Duration)) { s.writer.rest = f }
