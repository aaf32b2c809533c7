package stream

import "time"

// Internals for the tests of package stream_test.
var (
	CallKey    = callKey
	FramesKey  = framesKey
	WaitersKey = waitersKey
)

// SetOutage sets how long an outage of Redis may last before calls fail.
func (c *Client) SetOutage(d time.Duration) { c.outage = d }

// SetOutage sets how long an outage of Redis may last before runs fail.
func (s *Server) SetOutage(d time.Duration) { s.writer.outage = d }

// SetRest replaces the pause after a busy round trip with a call of f.
func (s *Server) SetRest(f func(time.Duration)) { s.writer.pause = f }

// SetGather sets how long gathered frames wait for further ones.
func (s *Server) SetGather(d time.Duration) { s.writer.gather = d }
