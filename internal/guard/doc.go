// Package guard decides which addresses Presswork may connect to on behalf of a
// caller: webhooks and remote images today, whole pages by a proxy later.
//
// The rule is one: the public internet on ports 80 and 443, and what the
// operator exempted. It is applied to what is dialled, not to what is written:
// DialContext resolves a name once, checks every answer and connects to a
// checked address, so that a name that answers differently the next time
// (DNS rebinding) gains nothing. CheckURL tells a caller early about addresses
// that are refused as written; it is a courtesy, the dial is the guard.
package guard
