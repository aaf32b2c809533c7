package chromium

import "strings"

// foreignUID is the default user of the browser that shows foreign pages: not
// that of the one that prints our own.
const foreignUID = 60911

// forForeignPages changes the arguments for the browser that shows other
// people's pages. Its way out is a proxy of each page's own (guard.Session),
// named by the page's context; without one, the default leads nowhere as ever.
func forForeignPages(flags []string) []string {
	for i, f := range flags {
		switch name, value, _ := strings.Cut(f, "="); name {
		case "--host-resolver-rules":
			// The proxies' address; names are theirs to resolve.
			flags[i] += " , EXCLUDE 127.0.0.1"
		case "--disable-features":
			flags[i] = name + "=" + value + ",WebRtcHideLocalIpsWithMdns,Reporting,NetworkErrorLogging,Prerender2"
		}
	}

	return append(flags,
		// A cookie goes to its origin, not to every port and scheme of its host.
		"--enable-features=EnablePortBoundCookies,EnableSchemeBoundCookies",
		"--block-new-web-contents",
		"--autoplay-policy=user-gesture-required",
		// Images beyond the window's edge are on the paper.
		"--blink-settings=lazyLoadEnabled=false",
		"--js-flags=--max-old-space-size=1024",
	)
}

// messageLimit is the longest message of the browser, in bytes.
func (o Options) messageLimit() int64 {
	if o.foreign {
		// A foreign page may cause any event; its PDF comes in pieces.
		return 64 << 20
	}
	// A PDF arrives as base64 inside JSON.
	return o.MaxPDFBytes/3*4 + 4096
}

// foreignHogFactor times MaxMemory is what the whole browser may take before it is
// killed with the pages it shows: many processes, or what pages have it store.
const foreignHogFactor = 2

// rendererLimit is what one renderer may take, in bytes.
func (o Options) rendererLimit() int64 {
	if o.foreign {
		return o.MaxMemory
	}

	return hogFactor * o.MaxMemory
}
