package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/api"
	"presswork/internal/analysis/recommend"
	"presswork/internal/fault"
	"presswork/internal/test/redistest"
	"presswork/storage"
	"presswork/storage/retention"
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
		t.Errorf("answer %+v, Location %q", a, res.Header.Get("Location"))
	}

	if !strings.HasPrefix(a.WSURL, "/api/conversion/ws/"+a.JobID+"?token=") ||
		!strings.HasPrefix(a.EventsURL, a.StatusURL+"/events?token=") {
		t.Errorf("addresses %q %q", a.WSURL, a.EventsURL)
	}

	sub := h.queue.last()
	if sub.Theme != "nord" || sub.Task.Queue != tasks.Bulk || sub.Filename != "report.pdf" ||
		sub.Kind != presswork.KindConversion {
		t.Errorf("submission %+v", sub)
	}
	on := true

	want := tasks.Convert{
		Content:  "# Hi",
		Theme:    "nord",
		Options:  presswork.Options{Landscape: &on},
		Filename: "report.pdf",
	}
	if diff := cmp.Diff(want, payload(t, sub)); diff != "" {
		t.Error(diff)
	}
}

func TestADocumentGoesToTheQueueOfItsKind(t *testing.T) {
	t.Parallel()
	h := serve(t)
	reading := serve(t, func(o *api.Options) {
		o.Recommender = recommend.New(recommend.Options{Model: &recommend.Model{Name: "m"}})
	})

	short, long := "# Hi", strings.Repeat("A line of a long document.\n\n", 20_000)
	for name, c := range map[string]struct {
		h              *house
		content, theme string
		kind           string
		queue          tasks.Queue
	}{
		"short":                {h, short, "nord", tasks.ConvertPDF.Name, tasks.Render},
		"long":                 {h, long, "nord", tasks.ConvertPDF.Name, tasks.Bulk},
		"auto without a model": {h, short, "auto", tasks.ConvertPDF.Name, tasks.Render},
		"auto with a model":    {reading, short, "auto", tasks.ChooseTheme.Name, tasks.Text},
		"named, with a model":  {reading, short, "nord", tasks.ConvertPDF.Name, tasks.Render},
	} {
		t.Run(name, func(t *testing.T) {
			body, _ := json.Marshal(map[string]string{"content": c.content, "theme": c.theme})
			c.h.post(string(body)).want(t, http.StatusAccepted, "")

			if got := c.h.queue.last().Task; got.Kind != c.kind || got.Queue != c.queue {
				t.Errorf("%s: %s on %s, want %s on %s", name, got.Kind, got.Queue, c.kind, c.queue)
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

func TestMarkdownBodiesAreTakenAsTheyAre(t *testing.T) {
	t.Parallel()
	h := serve(t)
	q := url.Values{
		"theme":    {"nord"},
		"filename": {"README.md"},
		"options":  {`{"landscape":true}`},
		"priority": {"interactive"},
	}
	res := h.do(
		http.MethodPost,
		"/api/conversion?"+q.Encode(),
		strings.NewReader("# Größe\n"),
		"Content-Type: text/markdown; charset=UTF-8",
	)
	res.want(t, http.StatusAccepted, "")

	got := payload(t, h.queue.last())
	if got.Content != "# Größe\n" || got.Theme != "nord" || got.Filename != "README.pdf" ||
		got.Options.Landscape == nil {
		t.Errorf("payload %+v", got)
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
		t.Errorf("broken options: %s", broken.body)
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

func TestFieldsAreInTheBodyOrInTheQuery(t *testing.T) {
	t.Parallel()
	h := serve(t)

	form := "--b\r\nContent-Disposition: form-data; name=\"content\"\r\n\r\n# Hi\r\n--b--\r\n"
	for contentType, body := range map[string]string{"application/json": `{"content":"# Hi"}`, "multipart/form-data; boundary=b": form} {
		for _, path := range []string{"/api/conversion", "/api/preview", "/api/analysis"} {
			t.Run(path, func(t *testing.T) {
				res := h.do(http.MethodPost, path+"?theme=nord", strings.NewReader(body), "Content-Type: "+contentType)
				if res.want(
					t,
					http.StatusBadRequest,
					fault.InvalidRequest,
				); !strings.Contains(
					string(res.body),
					`"param":"theme"`,
				) {
					t.Errorf("%s as %s: %s", path, contentType, res.body)
				}
			})
		}
		h.do(http.MethodPost, "/api/conversion?trace=1", strings.NewReader(body), "Content-Type: "+contentType).
			want(t, http.StatusAccepted, "")
	}
}

func TestABodyOfJSONMayBeginWithAByteOrderMark(t *testing.T) {
	t.Parallel()
	h := serve(t)
	h.post("\ufeff"+`{"content":"# Hi"}`).want(t, http.StatusAccepted, "")
}

func TestBadSubmissionsAreNamed(t *testing.T) {
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

func TestABodyBeyondEveryLimitIsRefusedWithAnAnswer(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.MaxContentBytes = 1 << 20 })
	big := strings.Repeat("x", 11<<20)
	h.do(http.MethodPost, "/api/conversion", strings.NewReader(big), "Content-Type: text/markdown").
		want(t, 413, fault.ContentTooLarge)
	// Chunked: the length is not known beforehand.
	h.do(http.MethodPost, "/api/conversion", io.MultiReader(strings.NewReader(big)), "Content-Type: text/markdown").
		want(t, 413, fault.ContentTooLarge)
	h.post(`{"content":"`+big+`"}`).want(t, 413, fault.ContentTooLarge)
	// Nothing of a large body is taken from somebody without a key.
	h.post(`{"content":"`+big+`"}`, "-X-API-Key").want(t, 401, fault.InvalidAPIKey)
	h.submit()
}

func TestLongContentLiesInTheStore(t *testing.T) {
	t.Parallel()
	h := serve(t)
	text := strings.Repeat("word ", tasks.InlineLimit/5+1)
	h.post(`{"content":"`+text+`"}`).want(t, http.StatusAccepted, "")
	sub := h.queue.last()

	p := payload(t, sub)
	if p.Content != "" || p.ContentKey != storage.SourceKey(sub.ID, sub.ID) {
		t.Fatalf("payload has %d bytes of content and key %q", len(p.Content), p.ContentKey)
	}

	if got := h.stored(p.ContentKey); string(got) != text {
		t.Errorf("the store has %d bytes, want %d", len(got), len(text))
	}
}

func (h *house) stored(key string) []byte {
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

// storedKeys lists the keys of all objects but the deployment's fence.
func (h *house) storedKeys() (keys []string) {
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

// part is one part of a form; a raw disposition may hold anything.
type part struct{ disposition, data string }

func field(name, data string) part { return part{fmt.Sprintf(`form-data; name=%q`, name), data} }
func file(field, name, data string) part {
	return part{fmt.Sprintf(`form-data; name="%s"; filename="%s"`, field, name), data}
}

func (h *house) form(parts ...part) reply {
	h.t.Helper()
	var b bytes.Buffer

	w := multipart.NewWriter(&b)
	for _, p := range parts {
		out, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {p.disposition}})
		if err != nil {
			h.t.Fatal(err)
		}
		io.WriteString(out, p.data)
	}
	w.Close()

	return h.do(http.MethodPost, "/api/conversion", &b, "Content-Type: "+w.FormDataContentType())
}

func TestAFormBringsAssets(t *testing.T) {
	t.Parallel()
	h := serve(t)
	large := strings.Repeat("0123456789", 100_000)
	h.form(
		file("content", "docs/README.md", "# Hi ![](img/a.png)"),
		field("theme", "nord"), field("options", `{"page_size":"A4"}`),
		file("assets", "img/a.png", "PNG"), file("assets[img/größe.svg]", "x", large), file("assets", "./b.png", ""),
	).want(t, http.StatusAccepted, "")

	p := payload(t, h.queue.last())
	if p.Content != "# Hi ![](img/a.png)" || p.Theme != "nord" || p.Options.PageSize != "A4" ||
		p.Filename != "README.pdf" {
		t.Errorf("payload %+v", p)
	}
	got := map[string]string{}

	for _, a := range p.Assets {
		data := h.stored(a.Key)
		if int64(len(data)) != a.Size || len(a.SHA256) != 64 {
			t.Errorf("asset %+v has %d bytes", a, len(data))
		}
		got[a.Name] = string(data)
	}

	if diff := cmp.Diff(map[string]string{"img/a.png": "PNG", "img/größe.svg": large, "b.png": ""}, got); diff != "" {
		t.Errorf("assets (-want +got) %.300s", diff)
	}
}

func TestHostileFormsAreRefused(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.MaxUploadBytes = 1000; o.MaxContentBytes = 1000 })
	content := field("content", "# Hi")

	many := []part{content}
	for i := range 201 {
		many = append(many, file("assets", fmt.Sprintf("%d.png", i), ""))
	}

	for name, tc := range map[string]struct {
		parts  []part
		status int
		code   fault.Code
	}{
		"parent":          {[]part{content, file("assets", "../../etc/cron.d/x", "")}, 400, fault.InvalidOption},
		"inner parent":    {[]part{content, file("assets", "a/../../b", "")}, 400, fault.InvalidOption},
		"absolute":        {[]part{content, file("assets", "/etc/passwd", "")}, 400, fault.InvalidOption},
		"drive":           {[]part{content, file("assets[C:/x]", "x", "")}, 400, fault.InvalidOption},
		"backslash":       {[]part{content, file(`assets[..\x]`, "x", "")}, 400, fault.InvalidOption},
		"control":         {[]part{content, file("assets[a\tb]", "x", "")}, 400, fault.InvalidOption},
		"NUL":             {[]part{content, {"form-data; name=\"assets\"; filename*=UTF-8''a%00b", ""}}, 400, fault.InvalidOption},
		"not UTF-8":       {[]part{content, file("assets", "\xff.png", "")}, 400, fault.InvalidOption},
		"dot":             {[]part{content, file("assets[.]", "x", "")}, 400, fault.InvalidOption},
		"empty folder":    {[]part{content, file("assets", "a//b", "")}, 400, fault.InvalidOption},
		"no name":         {[]part{content, field("assets", "x")}, 400, fault.InvalidOption},
		"long name":       {[]part{content, file("assets", strings.Repeat("x", 513), "")}, 400, fault.InvalidOption},
		"twice":           {[]part{content, file("assets", "a", ""), file("assets", "./a", "")}, 400, fault.InvalidOption},
		"too many":        {many, 413, fault.ContentTooLarge},
		"too large":       {[]part{content, file("assets", "a", strings.Repeat("x", 600)), file("assets", "b", strings.Repeat("x", 600))}, 413, fault.ContentTooLarge},
		"large content":   {[]part{field("content", strings.Repeat("x", 1001))}, 413, fault.ContentTooLarge},
		"unknown field":   {[]part{content, field("optons", "{}")}, 400, fault.UnknownField},
		"content twice":   {[]part{content, content}, 400, fault.InvalidType},
		"options":         {[]part{content, field("options", "A4")}, 400, fault.InvalidJSON},
		"no content":      {[]part{field("theme", "nord")}, 400, fault.ContentEmpty},
		"bad content":     {[]part{field("content", "\xff")}, 400, fault.ContentNotUTF8},
		"bad disposition": {[]part{{"form-data; name=", ""}}, 400, fault.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h.form(tc.parts...).want(t, tc.status, tc.code)
		})
	}
	t.Run("broken", func(t *testing.T) {
		t.Parallel()
		h.do(http.MethodPost, "/api/conversion", strings.NewReader("--x\r\nContent-Disposition: form-data; name=content\r\n\r\n# Hi"), "Content-Type: multipart/form-data; boundary=x").
			want(t, 400, fault.InvalidRequest)
		h.do(http.MethodPost, "/api/conversion", strings.NewReader(""), "Content-Type: multipart/form-data").
			want(t, 400, fault.InvalidRequest)
	})
}

func TestWhatAJobKeepsIsNotTheNextRequests(t *testing.T) {
	t.Parallel()
	h := serve(t)
	// One connection, whose buffers the server uses again.
	h.post(`{"content":"x"}`, "Idempotency-Key: aaaa", "X-Request-Id: first").want(t, http.StatusAccepted, "")
	first := h.queue.last()
	h.post(`{"content":"x"}`, "Idempotency-Key: bbbb", "X-Request-Id: other").want(t, http.StatusAccepted, "")

	if first.IdempotencyKey != "aaaa" || first.RequestID != "first" {
		t.Errorf("the first submission now has %q, %q", first.IdempotencyKey, first.RequestID)
	}
}

func TestARefusedSubmissionLeavesNothingInTheStore(t *testing.T) {
	t.Parallel()
	h := serve(t)
	h.queue.refuse = fault.Errorf(fault.QueueFull, "too many jobs wait")
	res := h.form(field("content", strings.Repeat("x", 20_000)), file("assets", "a.png", "PNG"))
	res.want(t, http.StatusTooManyRequests, fault.QueueFull)

	if got := res.Header.Get("Retry-After"); got != "5" {
		t.Errorf("retry-after is %q where nobody knows", got)
	}

	h.queue.refuse = fault.Errorf(fault.QueueFull, "too many jobs wait").WithAfter(41 * time.Second)
	if got := h.post(`{"content":"x"}`).Header.Get("Retry-After"); got != "41" {
		t.Errorf("retry-after is %q instead of 41", got)
	}

	if keys := h.storedKeys(); len(keys) != 0 {
		t.Errorf("the store has %q", keys)
	}
	// Nobody knows whether this one was accepted: its sources must stay.
	h.queue.refuse = fault.Errorf(fault.QueueUnavailable, "the queue did not answer")
	h.post(`{"content":"`+strings.Repeat("x", 20_000)+`"}`).
		want(t, http.StatusServiceUnavailable, fault.QueueUnavailable)

	if keys := h.storedKeys(); len(keys) != 1 {
		t.Errorf("the store has %q", keys)
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
			res := h.post(fmt.Sprintf(`{"content":"x","filename":%q}`, name))
			if strings.ContainsAny(name, "\u202e") {
				res = h.post(`{"content":"x","filename":"\u202egpj.exe"}`)
			}
			res.want(t, http.StatusAccepted, "")

			if got := h.queue.last().Filename; got != want {
				t.Errorf("%q became %q, want %q", name, got, want)
			}
		})
	}
}

func TestRequestAndTraceIDsTravel(t *testing.T) {
	t.Parallel()
	h := serve(t)
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

	res := h.post(`{"content":"x"}`, "X-Request-Id: mine-1", "Traceparent: "+trace)
	if got := res.Header.Get("X-Request-Id"); got != "mine-1" {
		t.Errorf("x-request-id %q", got)
	}

	if s := h.queue.last(); s.RequestID != "mine-1" || s.TraceParent != trace {
		t.Errorf("submission has %q, %q", s.RequestID, s.TraceParent)
	}
	res = h.post(`{"content":"x"}`, "X-Request-Id: a b", "Traceparent: 00-zz")

	id := res.Header.Get("X-Request-Id")
	if len(id) != 30 || !strings.HasPrefix(id, "req_") || id != strings.ToLower(id) {
		t.Errorf("x-request-id %q", id)
	}

	if s := h.queue.last(); len(s.TraceParent) != len(trace) ||
		slices.Contains(strings.Split(s.TraceParent, "-"), "zz") {
		t.Errorf("traceparent %q", s.TraceParent)
	}
}

func TestAFullStoreTakesNoSubmissions(t *testing.T) {
	t.Parallel()

	o, err := redis.ParseURL(redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(o)
	t.Cleanup(func() { client.Close() })
	h := serve(t, func(o *api.Options) {
		o.Keeper = retention.New(retention.Options{Store: o.Store, Redis: client, MaxBytes: 10})
		if err := o.Keeper.Record(t.Context(), storage.ArtifactKey(tasks.NewID()), 11); err != nil {
			t.Fatal(err)
		}
	})
	res := h.post(`{"content":"x"}`)
	res.want(t, http.StatusServiceUnavailable, fault.StoreFull)

	if res.Header.Get("Retry-After") == "" || h.queue.count() != 0 {
		t.Errorf("retry-after %q, %d jobs", res.Header.Get("Retry-After"), h.queue.count())
	}

	if metrics := string(
		h.get("/metrics").body,
	); !strings.Contains(metrics, "presswork_store_bytes 11\n") ||
		!strings.Contains(metrics, "presswork_store_max_bytes 10\n") {
		t.Errorf("the level of the store is not in\n%s", metrics)
	}
}
