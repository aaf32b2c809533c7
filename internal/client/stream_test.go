package client

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAChatReportsHowAStreamFailed(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		api, stream, said, want string
	}{
		"responses, failed": {
			"responses", `{"type":"response.failed","response":{"error":{"message":"no memory"}}}`, "", "no memory",
		},
		"responses, an error":       {"responses", `{"type":"error","message":"no memory"}`, "", "no memory"},
		"responses, an unknown one": {"responses", `{"type":"response.new","delta":7}`, "", "before the answer was complete"},
		"responses, no JSON":        {"responses", `<html>`, "", "before the answer was complete"},
		"responses, cut": {
			"responses", `{"type":"response.output_text.delta","delta":"Hel"}`, "Hel\n", "before the answer was complete",
		},
		"messages, an error": {
			"messages", `{"type":"error","error":{"type":"api_error","message":"no memory"}}`, "", "no memory",
		},
		"messages, cut in a block": {
			"messages", `{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hel"}}`, "Hel\n",
			"before the answer was complete",
		},
		"messages, a result without a call": {
			"messages", `{"type":"content_block_stop"}`, "", "before the answer was complete",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				io.WriteString(w, ": waits\n\nevent: x\ndata: "+tc.stream+"\n\n")
			}))
			t.Cleanup(web.Close)
			var out strings.Builder

			server, err := New(web.URL, "")
			if err != nil {
				t.Fatal(err)
			}

			chat, err := server.Chat(t.Context(), ChatOptions{API: tc.api, Model: "m", Out: &out, Aside: io.Discard})
			if err != nil {
				t.Fatal(err)
			}

			err = chat.Ask(t.Context(), "Hi")
			if err == nil || !strings.Contains(err.Error(), tc.want) || out.String() != tc.said {
				t.Errorf("got %q, error %v; want %q and an error with %q", out.String(), err, tc.said, tc.want)
			}
		})
	}
}
