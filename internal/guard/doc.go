// Package guard decides which addresses Presswork may connect to on behalf of a caller. Webhooks and remote images use
// its Client and Fetcher. The browser that exports foreign pages uses its Proxy.
//
// It allows the public internet on ports 80 and 443, and the operator's exemptions. The rule applies to the address
// that is dialled: DialContext resolves a name once, checks every answer and connects to a checked address. So a name
// that resolves differently the next time (DNS rebinding) gains nothing.
//
// CheckURL rejects early the URLs that need no resolver to be rejected. The check that protects is the one in
// DialContext. The proxy also dials with DialContext. So each redirect, frame, script and socket of a page is checked,
// independently of the browser.
package guard
