package api

import (
	"bufio"
	"context"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork/internal/inference"
	"presswork/internal/inference/openai"
	"presswork/tasks"
	"presswork/tasks/stream"
)

// maxSpeechBody is the largest request for speech, in bytes.
const maxSpeechBody = 1 << 20

// speak answers POST /v1/audio/speech: a call like a completion, whose frames are
// sound.
func (s *Server) speak(c *fiber.Ctx) error {
	call, err := s.readSpeech(c)
	if err != nil {
		return err
	}

	ctx, answer, finish, err := s.begin(c, call)
	if err != nil {
		return err
	}
	frames := &frameReader{answer: answer}

	first, err := call.firstSound(ctx, frames)
	if err != nil {
		finish()
		return err
	}

	for _, f := range first {
		if f.Sound != nil && f.Sound.ContentType != "" {
			c.Set(fiber.HeaderContentType, f.Sound.ContentType)
			setQueueMillis(c, time.Duration(f.QueueTime*float64(time.Second)))
		}
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set("X-Accel-Buffering", "no")
	conn := c.Context().Conn()
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer finish()

		if err := relaySound(ctx, w, frames, first); err != nil {
			// A whole answer would look like the whole sound.
			cut(conn)
		}
	})

	return nil
}

// cut closes a connection whose answer cannot be completed.
func cut(conn net.Conn) { _ = conn.Close() }

// firstSound waits for what decides the status.
func (cmpl *completion) firstSound(ctx context.Context, frames *frameReader) ([]inference.Frame, error) {
	ctx, cancel := cmpl.patience(ctx)
	defer cancel()

	first, err := frames.next(ctx)
	if len(first) > 0 {
		return first, nil // its error comes again
	}

	return nil, err
}

// relaySound writes the sound as it comes.
func relaySound(ctx context.Context, w *bufio.Writer, frames *frameReader, now []inference.Frame) error {
	for {
		for _, f := range now {
			if f.Sound == nil {
				continue
			}

			if _, err := w.Write(f.Sound.Data); err != nil {
				return err
			}
		}

		if err := w.Flush(); err != nil || frames.ended && frames.failure == nil {
			return err
		}

		var err error
		if now, err = frames.next(ctx); err != nil {
			return err
		}
	}
}

func (s *Server) readSpeech(c *fiber.Ctx) (*completion, error) {
	began := time.Now()

	body, err := s.jsonBody(c, maxSpeechBody, "a request for speech")
	if err != nil {
		return nil, err
	}

	speech, err := openai.ParseSpeech(body)
	if err != nil {
		return nil, err
	}
	meta := metadataOf(c.Context())

	m, err := s.model(meta.who, speech.Model)
	if err != nil {
		return nil, err
	}

	if m, err = s.Inference.Models().AdmitAudio(m.ID, inference.CanSpeak); err != nil {
		return nil, err
	}
	speech.Model = m.ID

	call := &completion{
		speech: speech, model: m,
		call: stream.Call{
			ID:          tasks.NewID(),
			Owner:       meta.who.Name,
			Tier:        stream.OnDemand,
			RequestID:   meta.id,
			TraceParent: meta.trace,
			MaxWait:     s.Inference.QueueTimeout,
		},
	}
	if seconds := clientTimeout(c); seconds > 0 {
		call.deadline = began.Add(seconds)
	}

	return call, nil
}
