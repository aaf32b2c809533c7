package guard

import "net/netip"

// Check shows tests what is said of an address that nothing resolved to.
func (p *Policy) Check(ap netip.AddrPort) error { return p.check("", ap) }
