package sandbox

import "time"

// SetTimes sets how long later cells may run, and how long they may take to end after an interrupt.
func (p *Pool) SetTimes(timeout, grace time.Duration) { p.opt.Timeout, p.grace = timeout, grace }
