package guard

import (
	"errors"

	"presswork/internal/fault"
)

// Reason is the sort of a refusal, as metrics count it.
type Reason string

// The reasons.
const (
	// NotPublic is an address outside the public internet that nobody exempted.
	NotPublic Reason = "not_public"
	// Never is an address that no exemption opens: link-local, metadata, multicast.
	Never Reason = "never"
	// Port is a port other than 80 and 443.
	Port Reason = "port"
	// Host is a host the operator's lists refuse.
	Host Reason = "host"
	// Own is a service of Presswork itself.
	Own Reason = "own"
)

// Reasons lists them all.
func Reasons() []Reason { return []Reason{NotPublic, Never, Port, Host, Own} }

// Error makes a Reason the cause of a refusal.
func (r Reason) Error() string { return "refused: " + string(r) }

// ReasonOf is why err refuses an address, "" when it does not.
func ReasonOf(err error) Reason {
	r, _ := errors.AsType[Reason](err)
	return r
}

func refuse(reason Reason, host, why string) error {
	return fault.Errorf(fault.AddressNotAllowed, "%s is not allowed: %s", clip(host), why).WithCause(reason)
}
