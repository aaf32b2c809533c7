// Package webhooks receives webhooks on a developer's machine and prints them.
package webhooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// maxBody is the largest delivery that is read, in bytes. Deliveries of Presswork have a few kilobytes.
const maxBody = 1 << 20

// Printer is a handler that prints each delivery. It answers 204, or 401 if the signature is wrong.
type Printer struct {
	out io.Writer
	// verifiers are one for each secret, none if signatures are not checked.
	verifiers []*standardwebhooks.Webhook
	printing  sync.Mutex
}

// NewPrinter returns a Printer. secrets is the value of WEBHOOK_SECRET; "" accepts every signature. Errors: a secret is
// invalid.
func NewPrinter(out io.Writer, secrets string) (*Printer, error) {
	p := &Printer{out: out}

	for secret := range strings.SplitSeq(secrets, ",") {
		if secret = strings.TrimSpace(secret); secret == "" {
			continue
		}

		verifier, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return nil, fmt.Errorf("the webhook secret is invalid: %w", err)
		}
		p.verifiers = append(p.verifiers, verifier)
	}

	return p, nil
}

// ServeHTTP prints one delivery. It answers 401 for a wrong signature.
func (p *Printer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	signature, status := p.check(body, r.Header)
	p.print(body, signature)
	w.WriteHeader(status)
}

// check returns what is known of the signature, and the status of the answer.
func (p *Printer) check(body []byte, h http.Header) (signature string, status int) {
	if len(p.verifiers) == 0 {
		return "signature not checked: set WEBHOOK_SECRET", http.StatusNoContent
	}

	var err error
	for _, v := range p.verifiers {
		if err = v.Verify(body, h); err == nil {
			return "signature valid", http.StatusNoContent
		}
	}

	return "signature invalid: " + err.Error(), http.StatusUnauthorized
}

// print writes a delivery with its time, type and signature. Bodies that are not JSON are quoted.
func (p *Printer) print(body []byte, signature string) {
	var delivery struct {
		Type string `json:"type"`
	}
	var text bytes.Buffer

	// A body that is no JSON is printed as it is.
	_ = json.Unmarshal(body, &delivery)
	if json.Indent(&text, body, "", "  ") != nil {
		text.Reset()
		fmt.Fprintf(&text, "%q", body)
	}
	p.printing.Lock()
	defer p.printing.Unlock()
	// A closed output ends the program, not the delivery.
	_, _ = io.WriteString(p.out, strings.Map(printable, fmt.Sprintf("%s %s (%s)\n%s\n\n",
		time.Now().Format(time.TimeOnly), delivery.Type, signature, text.Bytes())))
}

// printable replaces control characters other than line breaks: a forged delivery could command the terminal.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' {
		return unicode.ReplacementChar
	}

	return r
}
