package guard

import (
	"encoding/binary"
	"io"
	"net"
)

// countedRequests reads what a browser sends through a tunnel and counts its requests. Requests within TLS cannot be
// told apart, but a browser sends each in a record of its own.
type countedRequests struct {
	io.Reader
	session *Session

	header [5]byte // of a TLS record: type, version, length
	have   int     // bytes of header
	left   int     // bytes of the record's content that are still to come
	other  bool    // the tunnel does not carry TLS
}

// Read implements io.Reader. It fails when the session has sent too many requests.
func (c *countedRequests) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if !c.session.countRequests(c.records(p[:n])) {
		return 0, net.ErrClosed
	}

	return n, err
}

// records counts the records of application data that begin in p.
func (c *countedRequests) records(p []byte) (n int64) {
	const first, last, applicationData = 20, 24, 23 // content types of TLS records

	for len(p) > 0 && !c.other {
		if c.left > 0 {
			skipped := min(c.left, len(p))
			c.left -= skipped
			p = p[skipped:]
			continue
		}
		taken := copy(c.header[c.have:], p)
		c.have += taken
		p = p[taken:]

		if c.have < len(c.header) {
			break
		}
		c.have = 0

		c.left = int(binary.BigEndian.Uint16(c.header[3:]))
		switch kind := c.header[0]; {
		case kind < first || kind > last:
			c.other = true
		case kind == applicationData:
			n++
		}
	}

	return n
}
