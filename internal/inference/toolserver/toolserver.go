// Package toolserver connects to servers of the Model Context Protocol whose tools a model may call. It trusts neither
// the servers nor what they send.
//
// [Servers.Open] returns a session. It connects at the first call of a method, through a transport that adds the secret
// headers of the server and bounds each answer. Tools are checked before the gateway may offer them, and results become
// plain text and images.
package toolserver

import (
	"net/http"
	"net/url"
	"time"

	"presswork/internal/inference"
)

const (
	// maxTools bounds the list of a server.
	maxTools = 512
	// maxPages bounds the pages of a list.
	maxPages = 16
	// maxListBytes bounds each answer of a server until its tools are listed.
	maxListBytes = 1 << 20
	// maxSchema bounds the JSON Schema of a tool, in bytes.
	maxSchema = 64 << 10
	// maxDescription bounds the description of a tool, in bytes.
	maxDescription = 4 << 10
	// maxResultBytes bounds each later answer of a server.
	maxResultBytes = 8 << 20
)

// Options configure Servers.
type Options struct {
	// Client returns the canonical address of s and a new HTTP client that connects only where s may be. It checks
	// the address and those of redirects. Mandatory.
	Client func(s *inference.ToolServer) (*http.Client, *url.URL, error)
	// Version is the version of this program, which servers see.
	Version string
	// ListTimeout is the time in which a server must list its tools, with the connection. Default 15 s.
	ListTimeout time.Duration
	// CallTimeout is the longest time of a call, with the connection. Default 60 s.
	CallTimeout time.Duration
}

// Servers opens sessions with servers. It is safe for concurrent use.
type Servers struct{ o Options }

var _ inference.ToolServers = (*Servers)(nil)

// New returns Servers.
func New(o Options) *Servers {
	if o.ListTimeout == 0 {
		o.ListTimeout = 15 * time.Second
	}

	if o.CallTimeout == 0 {
		o.CallTimeout = time.Minute
	}

	return &Servers{o}
}

// Open returns a session with a server. It makes no connection.
func (s *Servers) Open(server *inference.ToolServer) inference.ServerSession {
	return &session{o: &s.o, server: server}
}
