package guard

import (
	"net/http"
	"time"

	"presswork/internal/fault"
)

// ClientOptions are the settings of a policy's HTTP client.
type ClientOptions struct {
	// Timeout limits a request from dialling to the last byte of the answer. Default 10 s.
	Timeout time.Duration
	// MaxRedirects is how many redirects are followed. Each address is checked. Default 0: a redirect is returned as the
	// answer.
	MaxRedirects int
}

// Client returns an HTTP client that connects only where the policy allows. It ignores proxies of the environment,
// which could connect elsewhere. It keeps no cookies and sends no Referer.
func (p *Policy) Client(o ClientOptions) *http.Client {
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}

	return &http.Client{
		Timeout: o.Timeout,
		Transport: &http.Transport{
			DialContext:            p.DialContext,
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    connectTimeout,
			MaxIdleConns:           32,
			MaxIdleConnsPerHost:    2,
			MaxConnsPerHost:        8,
			IdleConnTimeout:        30 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			if o.MaxRedirects == 0 {
				return http.ErrUseLastResponse
			}

			if len(via) > o.MaxRedirects {
				return fault.Errorf(fault.InvalidURL,
					"%s redirects more than %d times", via[0].URL.Host, o.MaxRedirects)
			}

			u, err := p.CheckURL(next.URL.String())
			if err != nil {
				return err
			}
			next.URL = u
			// net/http adds it, and it would tell the next server where the request came from.
			next.Header.Del("Referer")

			return nil
		},
	}
}
