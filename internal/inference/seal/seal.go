// Package seal encrypts the reasoning of a model for the clients that send it back. A [Sealer] binds a text to its
// owner: another owner cannot use it, and a changed text does not open. All nodes derive the same keys from one secret,
// so a text that one node has sealed opens at every other.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
)

// Sealer encrypts the reasoning of a model. The client can send it back, but not read or change it. It is safe for
// concurrent use.
type Sealer struct {
	aead cipher.AEAD
	// nonceKey is the key of the HMAC that makes the nonce of a text.
	nonceKey []byte
}

// errForeign is returned for a text that was not sealed for this owner, or was changed.
var errForeign = errors.New("seal: the text was not sealed for this owner")

// New returns a Sealer with keys from a secret that all nodes share. An error is that of package hkdf or aes.
func New(secret []byte) (*Sealer, error) {
	keys, err := hkdf.Key(sha256.New, secret, nil, "presswork reasoning 1", 64)
	if err != nil {
		return nil, err
	}

	block, err := aes.NewCipher(keys[:32])
	if err != nil {
		return nil, err
	}

	aead, err := cipher.NewGCM(block)

	return &Sealer{aead: aead, nonceKey: keys[32:]}, err
}

// encoding rejects non-zero padding bits: otherwise several texts would decode to one.
var encoding = base64.RawURLEncoding.Strict()

// Seal encrypts a text for its owner. The same text and owner give the same result.
func (s *Sealer) Seal(owner, text string) string {
	nonce := s.nonce(owner, text)

	return encoding.EncodeToString(s.aead.Seal(nonce, nonce, []byte(text), []byte(owner)))
}

// Open returns the text that Seal has encrypted for the owner. It fails for a text of another owner or secret, and for
// one that was changed.
func (s *Sealer) Open(owner, sealed string) (string, error) {
	b, err := encoding.DecodeString(sealed)
	if err != nil || len(b) < s.aead.NonceSize() {
		return "", errForeign
	}
	n := s.aead.NonceSize()

	text, err := s.aead.Open(nil, b[:n], b[n:], []byte(owner))
	if err != nil {
		return "", errForeign
	}

	return string(text), nil
}

// nonce returns the nonce of a text. It depends on the text, so that two nodes seal it alike. Two texts of an owner
// share a nonce with negligible probability.
func (s *Sealer) nonce(owner, text string) []byte {
	mac := hmac.New(sha256.New, s.nonceKey)
	mac.Write([]byte(owner))
	mac.Write([]byte{0})
	mac.Write([]byte(text))

	return mac.Sum(nil)[:s.aead.NonceSize()]
}
