// Package guard decides which addresses Presswork may connect to on behalf of a
// caller: for webhooks and remote images by its Client and Fetcher, for the
// browser that exports foreign pages by its Proxy.
//
// The rule is one: the public internet on ports 80 and 443, and what the
// operator exempted. It is applied to what is dialled, not to what is written:
// DialContext resolves a name once, checks every answer and connects to a
// checked address, so that a name that answers differently the next time
// (DNS rebinding) gains nothing. CheckURL refuses early the addresses
// that are refused as written; it is a courtesy, the dial is the guard. The
// proxy dials like everybody else, so a page's redirects, frames, scripts and
// sockets are judged one by one, whatever the browser thinks of them.
package guard
