package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork"
	"presswork/api"
	"presswork/internal/analysis/recommend"
	"presswork/internal/fault"
	"presswork/storage"
	"presswork/tasks"
)

func TestASubmissionIsAccepted(t *testing.T) {
	t.Parallel()
	h := serve(t)
	res := h.post(
		`{"content":"# Hi","theme":"nord","options":{"landscape":true},"filename":"my/report","priority":"bulk"}`,
	)
	res.want(t, http.StatusAccepted, "")
	var a struct {
		JobID     string `json:"job_id"`
		Status    string `json:"status"`
		StatusURL string `json:"status_url"`
		WSURL     string `json:"ws_url"`
		EventsURL string `json:"events_url"`
	}
	res.decode(t, &a)

	if !tasks.ValidID(a.JobID) || a.Status != "queued" || a.StatusURL != "/api/conversion/"+a.JobID ||
		res.Header.Get("Location") != a.StatusURL {
		t.Errorf("got %+v, Location %q; want a queued job and its address", a, res.Header.Get("Location"))
	}

	if !strings.HasPrefix(a.WSURL, "/api/conversion/ws/"+a.JobID+"?token=") ||
		!strings.HasPrefix(a.EventsURL, a.StatusURL+"/events?token=") {
		t.Errorf("got the addresses %q and %q, want both with a token", a.WSURL, a.EventsURL)
	}

	sub := h.queue.last()
	if sub.Theme != "nord" || sub.Task.Queue != tasks.Bulk || sub.Filename != "report.pdf" ||
		sub.Kind != presswork.KindConversion {
		t.Errorf("submitted %+v, want the theme, the queue and the file name of the request", sub)
	}
	on := true

	want := tasks.Convert{
		Content:  "# Hi",
		Theme:    "nord",
		Options:  presswork.Options{Landscape: &on},
		Filename: "report.pdf",
	}
	if diff := cmp.Diff(want, payload(t, sub)); diff != "" {
		t.Errorf("payload (-want +got):\n%s", diff)
	}
}

func TestLengthAndThemeSelectTheQueue(t *testing.T) {
	t.Parallel()
	h := serve(t)
	withModel := serve(t, func(o *api.Options) {
		o.Recommender = recommend.New(recommend.Options{Model: &recommend.Model{Name: "m"}})
	})

	short, long := "# Hi", strings.Repeat("A line of a long document.\n\n", 20_000)
	for name, c := range map[string]struct {
		h              *harness
		content, theme string
		kind           string
		queue          tasks.Queue
	}{
		"short":                {h, short, "nord", tasks.ConvertPDF.Name, tasks.Render},
		"long":                 {h, long, "nord", tasks.ConvertPDF.Name, tasks.Bulk},
		"auto without a model": {h, short, "auto", tasks.ConvertPDF.Name, tasks.Render},
		"auto with a model":    {withModel, short, "auto", tasks.ChooseTheme.Name, tasks.Text},
		"named, with a model":  {withModel, short, "nord", tasks.ConvertPDF.Name, tasks.Render},
	} {
		t.Run(name, func(t *testing.T) {
			body, _ := json.Marshal(map[string]string{"content": c.content, "theme": c.theme})
			c.h.post(string(body)).want(t, http.StatusAccepted, "")

			if got := c.h.queue.last().Task; got.Kind != c.kind || got.Queue != c.queue {
				t.Errorf("got %s on %s, want %s on %s", got.Kind, got.Queue, c.kind, c.queue)
			}
		})
	}
}

func TestFrontMatterChoosesTheThemeUnlessTheRequestDoes(t *testing.T) {
	t.Parallel()

	h := serve(t)
	for body, want := range map[string]string{
		`{"content":"# Hi"}`:                                     "light",
		`{"content":"---\ntheme: nord\n---\n# Hi"}`:              "nord",
		`{"content":"---\ntheme: gaia\n---\n# Hi"}`:              "light",
		`{"content":"---\ntheme: nord\n---\n#Hi","theme":"dim"}`: "dim",
	} {
		t.Run(body, func(t *testing.T) {
			h.post(body).want(t, http.StatusAccepted, "")

			if got := h.queue.last().Theme; got != want {
				t.Errorf("%s: theme %q, want %q", body, got, want)
			}
		})
	}
}

func TestMarkdownBodiesAreUsedUnchanged(t *testing.T) {
	t.Parallel()
	h := serve(t)
	q := url.Values{
		"theme":    {"nord"},
		"filename": {"README.md"},
		"options":  {`{"landscape":true}`},
		"priority": {"interactive"},
	}
	res := h.do(http.MethodPost, "/api/conversion?"+q.Encode(), strings.NewReader("# Größe\n"),
		"Content-Type: text/markdown; charset=UTF-8")
	res.want(t, http.StatusAccepted, "")

	got := payload(t, h.queue.last())
	if got.Content != "# Größe\n" || got.Theme != "nord" || got.Filename != "README.pdf" ||
		got.Options.Landscape == nil {
		t.Errorf("the payload is %+v, want content, theme, file name and options of the request", got)
	}
	post := func(path, contentType string) reply {
		return h.do(http.MethodPost, path, strings.NewReader("# x"), "Content-Type: "+contentType)
	}
	post("/api/conversion?thme=nord", "text/markdown").want(t, http.StatusBadRequest, fault.UnknownField)
	post("/api/conversion?options=3", "text/markdown").want(t, http.StatusBadRequest, fault.InvalidType)
	post("/api/conversion?theme=nord&theme=dark", "text/markdown").want(t, http.StatusBadRequest, fault.InvalidType)
	broken := post("/api/conversion?options={", "text/markdown")
	broken.want(t, http.StatusBadRequest, fault.InvalidJSON)

	if !strings.Contains(string(broken.body), `"options is not valid JSON: it ends too early`) ||
		!strings.Contains(string(broken.body), `"param":"options"`) {
		t.Errorf("broken options: got %s, want the reason and the parameter", broken.body)
	}
	post("/api/conversion?theme=%ff", "text/markdown").want(t, http.StatusBadRequest, fault.InvalidType)
	post(
		"/api/conversion",
		"text/markdown; charset=latin1",
	).want(t, http.StatusUnsupportedMediaType, fault.UnsupportedMediaType)
	post(
		"/api/conversion",
		"application/x-www-form-urlencoded",
	).want(t, http.StatusUnsupportedMediaType, fault.UnsupportedMediaType)
	post("/api/conversion", "").want(t, http.StatusUnsupportedMediaType, fault.UnsupportedMediaType)
}

func TestJSONAndFormsRejectFieldsInTheQuery(t *testing.T) {
	t.Parallel()
	h := serve(t)

	form := "--b\r\nContent-Disposition: form-data; name=\"content\"\r\n\r\n# Hi\r\n--b--\r\n"
	for contentType, body := range map[string]string{"application/json": `{"content":"# Hi"}`, "multipart/form-data; boundary=b": form} {
		for _, path := range []string{"/api/conversion", "/api/preview", "/api/analysis"} {
			t.Run(contentType+path, func(t *testing.T) {
				res := h.do(http.MethodPost, path+"?theme=nord", strings.NewReader(body), "Content-Type: "+contentType)
				res.want(t, http.StatusBadRequest, fault.InvalidRequest)

				if !strings.Contains(string(res.body), `"param":"theme"`) {
					t.Errorf("%s as %s: got %s, want the parameter theme", path, contentType, res.body)
				}
			})
		}
		h.do(http.MethodPost, "/api/conversion?trace=1", strings.NewReader(body), "Content-Type: "+contentType).
			want(t, http.StatusBadRequest, fault.UnknownField)
	}
}

func TestJSONMayBeginWithAByteOrderMark(t *testing.T) {
	t.Parallel()
	h := serve(t)
	h.post("\ufeff"+`{"content":"# Hi"}`).want(t, http.StatusAccepted, "")
}

func TestBadSubmissionsAreRejected(t *testing.T) {
	t.Parallel()

	h := serve(t, func(o *api.Options) { o.MaxContentBytes = 1000 })
	for name, tc := range map[string]struct {
		body   string
		status int
		code   fault.Code
		param  string
		says   string
	}{
		"not JSON":        {`{"content":`, 400, fault.InvalidJSON, "", ""},
		"empty body":      {``, 400, fault.InvalidJSON, "", ""},
		"an array":        {`[]`, 400, fault.InvalidType, "", "object"},
		"null":            {`null`, 400, fault.InvalidType, "", "object"},
		"trailing":        {`{"content":"x"} x`, 400, fault.InvalidJSON, "", ""},
		"unknown field":   {`{"content":"x","them":"nord"}`, 400, fault.UnknownField, "them", `did you mean "theme"`},
		"unknown option":  {`{"content":"x","options":{"pagesize":"A4"}}`, 400, fault.UnknownField, "options.pagesize", `"page_size"`},
		"wrong type":      {`{"content":5}`, 400, fault.InvalidType, "content", "a string"},
		"wrong option":    {`{"content":"x","options":{"page_size":"A99"}}`, 400, fault.InvalidOption, "options.page_size", ""},
		"no content":      {`{}`, 400, fault.ContentEmpty, "content", ""},
		"blank content":   {`{"content":"  \n "}`, 400, fault.ContentEmpty, "content", ""},
		"bad UTF-8":       {"{\"content\":\"\xff\xfe\"}", 400, fault.ContentNotUTF8, "", ""},
		"unknown theme":   {`{"content":"x","theme":"nrod"}`, 400, fault.ThemeNotFound, "theme", `did you mean "nord"`},
		"path theme":      {`{"content":"x","theme":"../../etc/passwd"}`, 400, fault.ThemeNotFound, "theme", ""},
		"front matter":    {`{"content":"---\ntheme: [\n---\nx"}`, 400, fault.FrontMatterInvalid, "content", ""},
		"priority":        {`{"content":"x","priority":"urgent"}`, 400, fault.InvalidOption, "priority", "interactive, bulk"},
		"webhook scheme":  {`{"content":"x","webhook_url":"ftp://example.com"}`, 400, fault.WebhookInvalid, "webhook_url", ""},
		"webhook address": {`{"content":"x","webhook_url":"http://169.254.169.254/"}`, 403, fault.AddressNotAllowed, "webhook_url", ""},
		"webhook local":   {`{"content":"x","webhook_url":"http://0x7f.1/"}`, 403, fault.AddressNotAllowed, "webhook_url", ""},
		"too large":       {`{"content":"` + strings.Repeat("x", 1001) + `"}`, 413, fault.ContentTooLarge, "content", "1000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			e := h.post(tc.body).want(t, tc.status, tc.code)
			if e["param"] != tc.param || !strings.Contains(e["message"], tc.says) {
				t.Errorf("error %v, want param %q and %q in the message", e, tc.param, tc.says)
			}
		})
	}
}

func TestHugeBodiesGetAnError(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.MaxContentBytes = 1 << 20 })
	big := strings.Repeat("x", 11<<20)
	h.do(http.MethodPost, "/api/conversion", strings.NewReader(big), "Content-Type: text/markdown").
		want(t, 413, fault.ContentTooLarge)
	// In chunks, the server does not know the length in advance.
	h.do(http.MethodPost, "/api/conversion", io.MultiReader(strings.NewReader(big)), "Content-Type: text/markdown").
		want(t, 413, fault.ContentTooLarge)
	h.post(`{"content":"`+big+`"}`).want(t, 413, fault.ContentTooLarge)
	// The server reads nothing of a large body without a valid key. "-" removes the header.
	h.post(`{"content":"`+big+`"}`, "-X-API-Key").want(t, 401, fault.InvalidAPIKey)
	// The server still works.
	h.submit()
}

func TestLongContentGoesToTheStore(t *testing.T) {
	t.Parallel()
	h := serve(t)
	text := strings.Repeat("word ", tasks.InlineLimit/5+1)
	h.post(`{"content":"`+text+`"}`).want(t, http.StatusAccepted, "")
	sub := h.queue.last()

	p := payload(t, sub)
	if p.Content != "" || p.ContentKey != storage.SourceKey(sub.ID, sub.ID) {
		t.Fatalf("the payload has %d bytes of content and the key %q, want only a key", len(p.Content), p.ContentKey)
	}

	if got := h.stored(p.ContentKey); string(got) != text {
		t.Errorf("the store has %d bytes of content, want %d", len(got), len(text))
	}
}

// stored returns the object with a key.
func (h *harness) stored(key string) []byte {
	h.t.Helper()

	r, _, err := h.store.Get(h.t.Context(), key, storage.Range{})
	if err != nil {
		h.t.Fatal(err)
	}
	defer r.Close()

	b, err := io.ReadAll(r)
	if err != nil {
		h.t.Fatal(err)
	}

	return b
}

// storedKeys returns the keys of all objects, except the deployment's fence.
func (h *harness) storedKeys() (keys []string) {
	h.t.Helper()

	for info, err := range h.store.List(h.t.Context(), "") {
		if err != nil {
			h.t.Fatal(err)
		}

		if !strings.HasPrefix(info.Key, "fence/") {
			keys = append(keys, info.Key)
		}
	}

	return keys
}

func TestAJobDoesNotShareBuffersWithTheNextRequest(t *testing.T) {
	t.Parallel()
	h := serve(t)
	// The requests share a connection, whose buffers the server reuses.
	h.post(`{"content":"x"}`, "Idempotency-Key: aaaa", "X-Request-Id: first").want(t, http.StatusAccepted, "")
	first := h.queue.last()
	h.post(`{"content":"x"}`, "Idempotency-Key: bbbb", "X-Request-Id: other").want(t, http.StatusAccepted, "")

	if first.IdempotencyKey != "aaaa" || first.RequestID != "first" {
		t.Errorf("the first submission now has the ids %q and %q, want aaaa and first", first.IdempotencyKey,
			first.RequestID)
	}
}

func TestFileNamesAreCleaned(t *testing.T) {
	t.Parallel()

	h := serve(t)
	for name, want := range map[string]string{
		"report.pdf": "report.pdf", "report": "report.pdf", "../../etc/passwd": "passwd.pdf", `C:\x\a.md`: "a.pdf",
		"a\r\nX-Evil: 1.pdf": "a__X-Evil_ 1.pdf", "über größe.PDF": "über größe.pdf", "": "", "..": "", "/": "",
		strings.Repeat("ä", 150): strings.Repeat("ä", 100) + ".pdf", `a"b;c.pdf`: "a_b;c.pdf", "\u202egpj.exe": "_gpj.exe.pdf",
	} {
		t.Run(name, func(t *testing.T) {
			h.post(fmt.Sprintf(`{"content":"x","filename":%q}`, name)).want(t, http.StatusAccepted, "")

			if got := h.queue.last().Filename; got != want {
				t.Errorf("%q became %q, want %q", name, got, want)
			}
		})
	}
}

func TestRequestAndTraceIDsReachTheQueue(t *testing.T) {
	t.Parallel()
	h := serve(t)
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

	res := h.post(`{"content":"x"}`, "X-Request-Id: mine-1", "Traceparent: "+trace)
	if got := res.Header.Get("X-Request-Id"); got != "mine-1" {
		t.Errorf("X-Request-Id is %q, want mine-1", got)
	}

	if s := h.queue.last(); s.RequestID != "mine-1" || s.TraceParent != trace {
		t.Errorf("submitted with the ids %q and %q, want those of the request", s.RequestID, s.TraceParent)
	}
	res = h.post(`{"content":"x"}`, "X-Request-Id: a b", "Traceparent: 00-zz")

	id := res.Header.Get("X-Request-Id")
	if len(id) != 30 || !strings.HasPrefix(id, "req_") || id != strings.ToLower(id) {
		t.Errorf("X-Request-Id is %q, want a new one", id)
	}

	s := h.queue.last()
	if len(s.TraceParent) != len(trace) || slices.Contains(strings.Split(s.TraceParent, "-"), "zz") {
		t.Errorf("Traceparent is %q, want a new one", s.TraceParent)
	}
}
