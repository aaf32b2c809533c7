package gateway

import (
	"cmp"
	"context"
	"net/http"

	"presswork/internal/inference"
)

// Transcribe gets the text of one recording from some upstream of its model: others
// are tried while the failure is an upstream's. Routing.Timeout bounds it. An upstream may be
// silent for FirstTokenTimeout and as long as the recording lasts before it answers, then
// for IdleTimeout. Errors are *Error.
func (g *Gateway) Transcribe(ctx context.Context, r *inference.Transcription) (t *inference.Transcript, err error) {
	m, err := g.opts.Catalogue().AdmitAudio(r.Model, inference.CanTranscribe)
	if err != nil {
		return nil, inference.AsError(err)
	}

	ctx, cancel := within(ctx, m)
	defer cancel()
	listens := cmp.Or(r.Duration, m.Routing.Timeout)

	err = g.attempt(ctx, m, turn{owner: r.Owner}, func(u *inference.Upstream) attempted {
		engine, err := g.audioEngine(u)
		if err != nil {
			return attempted{err: err}
		}

		ctx, silence, stop := newWatch(ctx, &m.Routing, listens)
		defer stop()

		t, err = engine.Transcribe(ctx, r, func(answer bool) {
			if answer {
				silence.begin()
			} else {
				silence.life()
			}
		})
		if err != nil {
			return attempted{err: endedBy(ctx, err)}
		}

		return attempted{}
	})
	if err != nil {
		return nil, endedBy(ctx, err)
	}

	return t, nil
}

// Speak has some upstream of the model speak a text; others are tried until the
// first piece was emitted. An upstream may be silent for FirstTokenTimeout before the first
// piece, and for IdleTimeout after it. Errors are *Error.
func (g *Gateway) Speak(ctx context.Context, r *inference.Speech, emit func(*inference.Sound) error) error {
	m, err := g.opts.Catalogue().AdmitAudio(r.Model, inference.CanSpeak)
	if err != nil {
		return inference.AsError(err)
	}

	ctx, cancel := within(ctx, m)
	defer cancel()
	var a attempted

	err = g.attempt(ctx, m, turn{owner: r.Owner}, func(u *inference.Upstream) attempted {
		engine, err := g.audioEngine(u)
		if err != nil {
			return attempted{err: err}
		}

		ctx, silence, stop := newWatch(ctx, &m.Routing, 0)
		defer stop()
		a.err = engine.Speak(ctx, r, func(s *inference.Sound) error {
			silence.begin()
			a.emitted = true
			err := emit(s)
			a.unheard = err != nil

			return err
		})

		return a
	})
	if err != nil {
		return paidFor(endedBy(ctx, err))
	}

	return nil
}

// audioEngine opens the engine of an upstream that is to hear or to speak.
func (g *Gateway) audioEngine(u *inference.Upstream) (inference.AudioEngine, error) {
	engine, err := g.engine(u)
	if err != nil {
		return nil, err
	}

	hears, ok := engine.(inference.AudioEngine)
	if !ok {
		return nil, inference.Errorf(
			http.StatusBadRequest,
			inference.UpstreamError,
			"the model's server takes no audio",
		)
	}

	return hears, nil
}
