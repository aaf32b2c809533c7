package gateway

import (
	"cmp"
	"context"
	"net/http"

	"presswork/internal/inference"
)

// Transcribe returns the text of one recording. It tries the upstreams of the model until one succeeds.
// Routing.Timeout bounds the whole request. Before its answer, an upstream may be silent for FirstTokenTimeout and the
// length of the recording; afterwards for IdleTimeout. Errors are [*inference.Error].
func (g *Gateway) Transcribe(ctx context.Context, r *inference.Transcription) (t *inference.Transcript, err error) {
	m, err := g.opts.Catalogue().Require(r.Model, inference.CanTranscribe)
	if err != nil {
		return nil, inference.AsError(err)
	}

	ctx, cancel := withTimeout(ctx, m)
	defer cancel()
	// A recording of unknown length may keep its upstream silent until Routing.Timeout.
	length := cmp.Or(r.Duration, m.Routing.Timeout)

	err = g.tryUpstreams(ctx, m, requester{owner: r.Owner}, func(u *inference.Upstream) outcome {
		engine, err := g.audioEngine(u)
		if err != nil {
			return outcome{err: err}
		}

		ctx, watch, stop := newWatch(ctx, &m.Routing, length)
		defer stop()

		t, err = engine.Transcribe(ctx, r, func(answer bool) {
			if answer {
				watch.recordAnswer()
			} else {
				watch.extend()
			}
		})
		if err != nil {
			return outcome{err: endedBy(ctx, err)}
		}

		return outcome{}
	})
	if err != nil {
		return nil, endedBy(ctx, err)
	}

	return t, nil
}

// Speak turns a text into speech and emits it in pieces. It tries the upstreams of the model until one has emitted a
// piece. An upstream may be silent for FirstTokenTimeout before the first piece, and for IdleTimeout after it. An error
// of emit ends the speech and does not count as a failure of the upstream. Errors are *inference.Error.
func (g *Gateway) Speak(ctx context.Context, r *inference.Speech, emit func(*inference.Sound) error) error {
	m, err := g.opts.Catalogue().Require(r.Model, inference.CanSpeak)
	if err != nil {
		return inference.AsError(err)
	}

	ctx, cancel := withTimeout(ctx, m)
	defer cancel()
	var result outcome

	err = g.tryUpstreams(ctx, m, requester{owner: r.Owner}, func(u *inference.Upstream) outcome {
		engine, err := g.audioEngine(u)
		if err != nil {
			return outcome{err: err}
		}

		ctx, watch, stop := newWatch(ctx, &m.Routing, 0)
		defer stop()
		result.err = engine.Speak(ctx, r, func(s *inference.Sound) error {
			watch.recordAnswer()

			// After the first piece no other upstream is tried: it would begin the speech again.
			result.emitted = true
			err := emit(s)
			result.callerFailed = err != nil

			return err
		})

		return result
	})
	if err != nil {
		return notRetryable(endedBy(ctx, err))
	}

	return nil
}

// audioEngine returns the engine of an upstream for recordings or speech.
func (g *Gateway) audioEngine(u *inference.Upstream) (inference.AudioEngine, error) {
	engine, err := g.engine(u)
	if err != nil {
		return nil, err
	}

	audio, ok := engine.(inference.AudioEngine)
	if !ok {
		return nil, inference.Errorf(http.StatusBadRequest, inference.UpstreamError,
			"the model's upstream does not support audio")
	}

	return audio, nil
}
