package anthropic

import "presswork/internal/inference"

// Encode returns the body that an upstream receives for a request.
func Encode(u inference.Upstream, m *inference.Model, r *inference.Request) ([]byte, error) {
	return encode(u, m, r)
}
