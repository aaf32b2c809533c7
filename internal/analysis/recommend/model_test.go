package recommend_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"presswork/internal/analysis/recommend"
	"presswork/internal/cache"
	"presswork/internal/fault"
	"presswork/internal/inference"
)

const invitation = "# Come to our party\n\nDear neighbours, on Saturday we turn forty, both of us, and we want to dance until the lamps go out. " +
	"There will be lanterns in the garden, a band that knows three songs, far too much cake and a fire to sit around when it gets late. " +
	"Bring nothing but yourselves, and something warm. Children are welcome until they fall asleep, and then they are welcome on the sofa. " +
	"Please tell us by Thursday whether you come, so that the cake can be baked in the right size. We are looking forward to you!"

const festiveAnswer = `Here you are: {"document_type":"newsletter","emotional_tone":"festive","sentiment":{"label":"positive","score":0.8},` +
	`"formality":{"label":"informal","score":0.2},"keywords":["garden party","birth\u001bday"],"language":"en"}`

func TestModelAnswerReplacesTheLocalAnalysis(t *testing.T) {
	t.Parallel()
	calls := 0
	model := &recommend.Model{Name: "m", Ask: func(_ context.Context, r *inference.Request) (string, error) {
		calls++

		if !strings.Contains(r.Messages[1].Text(), "turn forty") || r.Format.Type != inference.JSONSchema {
			t.Errorf("request %+v, want the text and a JSON schema", r)
		}

		return festiveAnswer, nil
	}}

	a := recommend.New(
		recommend.Options{Model: model, Cache: func() cache.Cache { return cache.NewMemory(cache.Options{}) }},
	)
	for range 2 {
		advice, err := a.Recommend(t.Context(), "", []byte(invitation), catalogue(t), recommend.Preference{})
		if err != nil {
			t.Fatal(err)
		}

		if advice.DocumentType != "newsletter" || advice.EmotionalTone != "festive" ||
			advice.Sentiment.Score != 0.8 || advice.Keywords[0].Term != "garden party" ||
			advice.Keywords[1].Term != "birth day" || advice.Language != "en" || advice.ReadingMinutes != 1 {
			t.Errorf("got %+v, want the values of the model's answer", advice.Analysis)
		}
	}

	if calls != 1 {
		t.Errorf("the model was called %d times, want once", calls)
	}
}

func TestLocalAnalysisIsUsedWhenTheModelFails(t *testing.T) {
	t.Parallel()

	local, err := recommend.New(recommend.Options{}).
		Recommend(t.Context(), "", []byte(invitation), catalogue(t), recommend.Preference{})
	if err != nil {
		t.Fatal(err)
	}

	for name, ask := range map[string]func(context.Context) (string, error){
		"failing":  func(context.Context) (string, error) { return "", errors.New("out of order") },
		"hanging":  func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() },
		"chatting": func(context.Context) (string, error) { return "It is a lovely invitation.", nil },
		"inventive": func(context.Context) (string, error) {
			return strings.Replace(festiveAnswer, "newsletter", "party", 1), nil
		},
		"boundless":  func(context.Context) (string, error) { return strings.Replace(festiveAnswer, "0.8", "8", 1), nil },
		"incomplete": func(context.Context) (string, error) { return `{"document_type":"newsletter"}`, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer

			a := recommend.New(recommend.Options{
				Log:   slog.New(slog.NewTextHandler(&log, nil)),
				Cache: func() cache.Cache { return cache.NewMemory(cache.Options{}) },
				Model: &recommend.Model{
					Name:    "m",
					Timeout: 50 * time.Millisecond,
					Ask:     func(ctx context.Context, _ *inference.Request) (string, error) { return ask(ctx) },
				},
			})
			for range 2 {
				got, err := a.Recommend(t.Context(), "", []byte(invitation), catalogue(t), recommend.Preference{})
				if err != nil {
					t.Fatal(err)
				}

				if got.DocumentType != local.DocumentType ||
					got.Recommendation.Primary != local.Recommendation.Primary {
					t.Errorf("got %+v, want %+v", got.Analysis, local.Analysis)
				}

				reasons := strings.Join(got.Recommendation.Reasons, "; ")
				if !strings.Contains(reasons, "the model gave no usable answer") {
					t.Errorf("reasons %q, want one that the model gave no usable answer", reasons)
				}
			}

			if strings.Count(log.String(), "analysed without the model") != 2 {
				t.Errorf("log:\n%s\nwant two notes that the model was not used", log.String())
			}
		})
	}
}

func TestModelGetsALimitedPartOfTheText(t *testing.T) {
	t.Parallel()
	size := 0
	model := &recommend.Model{Name: "m", Ask: func(_ context.Context, r *inference.Request) (string, error) {
		size = len(r.Messages[1].Text())
		return "", fault.Errorf(fault.Internal, "enough")
	}}

	text := strings.Repeat("A sentence of a very long document. ", 100_000)

	_, err := recommend.New(recommend.Options{Model: model}).
		Recommend(t.Context(), "", []byte(text), catalogue(t), recommend.Preference{})
	if err != nil {
		t.Fatal(err)
	}

	if size == 0 || size > 10<<10 {
		t.Errorf("the model got %d bytes, want 1 to 10 KiB", size)
	}
}
