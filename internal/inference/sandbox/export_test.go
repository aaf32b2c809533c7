package sandbox

import "time"

// SetTimes changes for how long the cells to come may run, and end when they are
// interrupted.
func (p *Pool) SetTimes(timeout, grace time.Duration) { p.opt.Timeout, p.grace = timeout, grace }
