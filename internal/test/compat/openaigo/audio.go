package main

import (
	"bytes"
	"io"
	"strings"

	"github.com/openai/openai-go/v3"
)

// media are the cases of recordings, speech and embeddings.
var media = map[string]func(){
	"G47": func() {
		hear := func(format openai.AudioResponseFormat) *openai.AudioTranscriptionNewResponseUnion {
			return must(sdk.Audio.Transcriptions.New(ctx, openai.AudioTranscriptionNewParams{
				Model:                  model("ears"),
				File:                   openai.File(bytes.NewReader(recording()), "a.wav", "audio/wav"),
				ResponseFormat:         format,
				TimestampGranularities: map[bool][]string{true: {"word", "segment"}}[format == "verbose_json"],
			}))
		}
		check(hear("json").Text == "one two", "json")
		a := hear("verbose_json")
		check(
			a.Duration == 2 && len(a.Words) == 2 && a.Words[1].Word == "two" && len(a.Segments) == 1,
			"%s",
			a.RawJSON(),
		)
		t := must(
			sdk.Audio.Translations.New(
				ctx,
				openai.AudioTranslationNewParams{
					Model: model("ears"),
					File:  openai.File(bytes.NewReader(recording()), "a.wav", "audio/wav"),
				},
			),
		)
		check(t.Text == "one two", "%s", t.RawJSON())
	},
	"G48": func() {
		_, err := sdk.Audio.Transcriptions.New(
			ctx,
			openai.AudioTranscriptionNewParams{
				Model: model("ears"),
				File:  openai.File(strings.NewReader("#EXTM3U"), "a.wav", "audio/wav"),
			},
		)
		check(refused(err).StatusCode == 400 && strings.Contains(refused(err).Message, "by its content"), "%v", err)
	},
	"G49": func() {
		res := must(
			sdk.Audio.Speech.New(
				ctx,
				openai.AudioSpeechNewParams{
					Model: model("voice"),
					Input: "one two three",
					Voice: openai.AudioSpeechNewParamsVoiceUnion{OfString: openai.String("alloy")},
				},
			),
		)
		defer res.Body.Close()
		b := must(io.ReadAll(res.Body))
		check(string(b) == "one two three" && res.Header.Get("Content-Type") == "audio/mpeg", "%s", b)
	},
	"G50": func() {
		r := must(
			sdk.Embeddings.New(
				ctx,
				openai.EmbeddingNewParams{
					Model:      model("vector"),
					Input:      openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"one", "two of them"}},
					Dimensions: openai.Int(4),
				},
			),
		)
		check(
			len(r.Data) == 2 && len(r.Data[1].Embedding) == 4 && r.Data[1].Embedding[0] == 11 &&
				r.Usage.PromptTokens == 4,
			"%s",
			r.RawJSON(),
		)
	},
}
