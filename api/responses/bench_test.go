package responses_test

import (
	"testing"
	"time"

	"presswork/internal/inference"
	"presswork/internal/inference/openai/wire"
)

// BenchmarkToken measures the event of one token, next to that of a chat.
func BenchmarkToken(b *testing.B) {
	_, f, err := parse(b, `{"model":"m","input":"Hi"}`)
	if err != nil {
		b.Fatal(err)
	}
	head := wire.Head{ID: "chatcmpl-1", RequestID: "req_1", Created: time.Unix(1, 0), Model: "m", Vendor: "presswork"}

	for name, w := range map[string]interface {
		Append(dst []byte, c *inference.Chunk) []byte
	}{"response": f.Events("call"), "chat": wire.NewWriter(head)} {
		b.Run(name, func(b *testing.B) {
			chunk := &inference.Chunk{Content: " token"}
			var out []byte

			b.ReportAllocs()

			for b.Loop() {
				out = w.Append(out[:0], chunk)
			}
		})
	}
}
