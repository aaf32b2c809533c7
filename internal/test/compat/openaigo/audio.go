package main

import (
	"bytes"
	"io"
	"strings"

	"github.com/openai/openai-go/v3"
)

// media has the cases of recordings, speech and embeddings.
var media = map[string]func(){
	"G47": func() {
		transcribe := func(format openai.AudioResponseFormat) *openai.AudioTranscriptionNewResponseUnion {
			p := openai.AudioTranscriptionNewParams{
				Model:          model("ears"),
				File:           wav(recording()),
				ResponseFormat: format,
			}
			if format == "verbose_json" {
				p.TimestampGranularities = []string{"word", "segment"}
			}

			return must(sdk.Audio.Transcriptions.New(ctx, p))
		}
		check(transcribe("json").Text == "one two", "json")
		a := transcribe("verbose_json")
		check(
			a.Duration == 2 && len(a.Words) == 2 && a.Words[1].Word == "two" && len(a.Segments) == 1,
			"%s",
			a.RawJSON(),
		)
		p := openai.AudioTranslationNewParams{Model: model("ears"), File: wav(recording())}
		t := must(sdk.Audio.Translations.New(ctx, p)) //nolint:staticcheck // deprecated, but programs use it
		check(t.Text == "one two", "%s", t.RawJSON())
	},
	"G48": func() {
		p := openai.AudioTranscriptionNewParams{Model: model("ears"), File: wav([]byte("#EXTM3U"))}
		_, err := sdk.Audio.Transcriptions.New(ctx, p)
		check(rejected(err).StatusCode == 400 && strings.Contains(rejected(err).Message, "by its content"), "%v", err)
	},
	"G49": func() {
		res := must(sdk.Audio.Speech.New(ctx, openai.AudioSpeechNewParams{
			Model: model("voice"), Input: "one two three",
			Voice: openai.AudioSpeechNewParamsVoiceUnion{OfString: openai.String("alloy")},
		}))
		defer res.Body.Close()
		b := must(io.ReadAll(res.Body))
		check(string(b) == "one two three" && res.Header.Get("Content-Type") == "audio/mpeg", "%s", b)
	},
	"G50": func() {
		r := must(sdk.Embeddings.New(ctx, openai.EmbeddingNewParams{
			Model: model("vector"), Dimensions: openai.Int(4),
			Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"one", "two of them"}},
		}))
		check(len(r.Data) == 2 && len(r.Data[1].Embedding) == 4 && r.Data[1].Embedding[0] == 11 &&
			r.Usage.PromptTokens == 4, "%s", r.RawJSON())
	},
}

// wav returns data as the file a.wav.
func wav(data []byte) io.Reader { return openai.File(bytes.NewReader(data), "a.wav", "audio/wav") }
