package openai_test

import (
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/openai"
	"presswork/internal/inference/openai/wire"
)

// BenchmarkChunkSteps measures reading and writing one chunk.
func BenchmarkChunkSteps(b *testing.B) {
	chunk := []byte(
		`{"id":"chatcmpl-scripted","object":"chat.completion.chunk","created":1770770843,"model":"qwen3","system_fingerprint":"fp_scripted01","choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null}]}`,
	)
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()

		for b.Loop() {
			if openai.Decode(chunk).Content == "" {
				b.Fatal("the content is empty")
			}
		}
	})
	b.Run("decode with template", func(b *testing.B) {
		b.ReportAllocs()

		read := openai.NewDecodeLoop(chunk)
		for b.Loop() {
			if read() == "" {
				b.Fatal("the content is empty")
			}
		}
	})
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()

		w, c, buf := wire.NewWriter(head()), &inference.Chunk{Content: " token"}, []byte{}
		for b.Loop() {
			buf = w.Append(buf[:0], c)
		}
	})
}
