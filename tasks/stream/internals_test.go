package stream

import "time"

// What the tests of package stream_test see of the inside.
var (
	CallKey    = callKey
	FramesKey  = framesKey
	RingKey    = ringKey
	WaitersKey = waitersKey
)

// SetOutage sets how long calls live through an outage of Redis.
func (c *Client) SetOutage(d time.Duration) { c.outage = d }

// SetOutage sets how long runs live through an outage of Redis.
func (s *Server) SetOutage(d time.Duration) { s.writer.outage = d }
