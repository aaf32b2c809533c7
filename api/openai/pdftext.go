package openai

import (
	"context"
	"net/http"
	"runtime"
	"sync"
	"time"

	"presswork/api/messages"
	"presswork/internal/inference"
)

// pdfTimeout bounds the wait for a turn, and then the time in which the text of a PDF is read.
const pdfTimeout = 5 * time.Second

// pdfReader reads the text of PDFs in this process. It reads one PDF of an owner at a time, so that no owner delays the
// others. All PDFs together use at most half of the cores.
type pdfReader struct {
	// slots has one entry for each PDF that may be read at a time.
	slots chan struct{}
	// mu guards busy.
	mu   sync.Mutex
	busy map[string]chan struct{} // by owner; closed when the PDF is read
}

// newPDFReader returns a reader of PDFs that reads none.
func newPDFReader() *pdfReader {
	return &pdfReader{slots: make(chan struct{}, max(1, runtime.NumCPU()/2)), busy: map[string]chan struct{}{}}
}

// text returns the text of a PDF. Errors: those of messages.PDFText, and an *inference.Error if the turn of the owner
// does not come.
func (p *pdfReader) text(owner string, pdf []byte) (string, error) {
	waiting, stop := context.WithTimeoutCause(context.Background(), pdfTimeout, errPDFsWait())
	defer stop()

	release, err := p.acquire(waiting, owner)
	if err != nil {
		return "", err
	}
	defer release()

	ctx, cancel := context.WithTimeout(context.Background(), pdfTimeout)
	defer cancel()

	return messages.PDFText(ctx, pdf)
}

// errPDFsWait returns the error for a PDF whose turn does not come.
func errPDFsWait() *inference.Error {
	return inference.Errorf(http.StatusTooManyRequests, inference.RateLimitExceeded,
		"too many PDF documents are being read; send one request with documents at a time")
}

// acquire waits for the turn of the owner and for a slot. It returns the cause of ctx if that takes too long.
func (p *pdfReader) acquire(ctx context.Context, owner string) (release func(), err error) {
	mine := make(chan struct{})

	for {
		p.mu.Lock()
		other, busy := p.busy[owner]

		if !busy {
			p.busy[owner] = mine
		}
		p.mu.Unlock()

		if !busy {
			break
		}

		select {
		case <-other:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	leave := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.busy, owner)
		close(mine)
	}

	select {
	case p.slots <- struct{}{}:
		return func() { <-p.slots; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}
