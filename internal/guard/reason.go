package guard

import (
	"errors"

	"presswork/internal/fault"
)

// Reason is the kind of a refusal. Metrics use it as a label.
type Reason string

// The reasons.
const (
	// NotPublic is an address outside the public internet without an exemption.
	NotPublic Reason = "not_public"
	// Never is an address that no exemption opens: link-local, metadata or multicast.
	Never Reason = "never"
	// Port is a port other than 80 and 443.
	Port Reason = "port"
	// Host is a host that the operator's lists exclude.
	Host Reason = "host"
	// Own is a service of Presswork itself.
	Own Reason = "own"
)

// Reasons returns all reasons.
func Reasons() []Reason { return []Reason{NotPublic, Never, Port, Host, Own} }

// Error makes a Reason usable as the cause of an error.
func (r Reason) Error() string { return "refused: " + string(r) }

// ReasonOf returns the reason of a refusal, or "" for any other error.
func ReasonOf(err error) Reason {
	r, _ := errors.AsType[Reason](err)
	return r
}

// refuse returns AddressNotAllowed with reason as its cause.
func refuse(reason Reason, host, why string) error {
	return fault.Errorf(fault.AddressNotAllowed, "%s is not allowed: %s", clip(host), why).WithCause(reason)
}
