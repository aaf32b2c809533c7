package guard

import "net/netip"

// Check calls check for an address without a host name.
func (p *Policy) Check(ap netip.AddrPort) error { return p.check("", ap) }
