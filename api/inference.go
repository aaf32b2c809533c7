package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork/api/access"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/meter"
	"presswork/internal/inference/openai"
	"presswork/internal/input"
	"presswork/tasks/stream"
)

// Inference wires the routes under /v1.
type Inference struct {
	// Calls queues completions and reads their answers.
	Calls Calls
	// Models gives the models as they are now.
	Models func() *inference.Catalogue
	// Vendor names the member x_<vendor> of answers.
	Vendor string
	// Lax lets options pass that exclude each other.
	Lax bool
	// Patience is how long a stream's status is held back for a first word, so
	// that an error has a status of its own, and how long a stream is silent
	// before it is kept alive by a comment. Default 10 s.
	Patience time.Duration
	// QueueTimeout is how long a request waits for a worker to begin it. Default: as long
	// as its client does.
	QueueTimeout time.Duration
}

// Calls is the queue's part in inference: *tasks.Client.
type Calls interface {
	// Call queues a call and returns its answer, which the caller closes. One whose
	// id is there already is joined. Errors: IdempotencyConflict, QueueUnavailable.
	Call(ctx context.Context, call stream.Call) (*stream.Answer, error)
	// Waiting returns how many calls wait for a worker. Errors: QueueUnavailable.
	Waiting(ctx context.Context) (int64, error)
}

// mayUse reports whether a caller may use a model.
func mayUse(who access.Caller, m *inference.Model) bool {
	return who.MayUse(append([]string{m.ID}, m.Aliases...)...)
}

// model finds a model that the caller may use; another's does not exist, and
// its name is not suggested.
func (s *Server) model(who access.Caller, name string) (*inference.Model, error) {
	m, err := s.Inference.Models().Find(name)
	if len(who.Models) > 0 && (err != nil || !mayUse(who, m)) {
		err = inference.Errorf(http.StatusNotFound, inference.ModelNotFound,
			"The model `%.120s` does not exist or you do not have access to it.", name).WithParam("model")
	}

	return m, err
}

func (s *Server) listModels(c *fiber.Ctx) error {
	who := metadataOf(c.Context()).who
	models := slices.DeleteFunc(s.Inference.Models().Models(), func(m *inference.Model) bool { return !mayUse(who, m) })

	return s.sendJSON(c, openai.AppendModels(nil, models))
}

// getModel takes ids with slashes, encoded or not.
func (s *Server) getModel(c *fiber.Ctx) error {
	id, err := url.PathUnescape(c.Params("*"))
	if err != nil {
		return fault.Errorf(fault.InvalidRequest, "%s is not a percent-encoded model id", input.Quote(c.Params("*")))
	}

	m, err := s.model(metadataOf(c.Context()).who, id)
	if err != nil {
		return err
	}

	return s.sendJSON(c, openai.AppendModel(nil, m))
}

func (s *Server) sendJSON(c *fiber.Ctx, body []byte) error {
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(body)
}

// usageRow is a line of GET /v1/usage; what was summed over is left out.
type usageRow struct {
	Key              *string `json:"key,omitempty"`
	Model            *string `json:"model,omitempty"`
	Day              *string `json:"day,omitempty"`
	Requests         int64   `json:"requests"`
	PromptTokens     int64   `json:"prompt_tokens"`
	CompletionTokens int64   `json:"completion_tokens"`
	ReasoningTokens  int64   `json:"reasoning_tokens"`
	EstimatedTokens  int64   `json:"estimated_tokens"`
	AudioSeconds     int64   `json:"audio_seconds"`
	Cancelled        int64   `json:"cancelled"`
}

// usageDays is how many days of usage are reported where the caller names no day.
const usageDays = 30

func (s *Server) usage(c *fiber.Ctx) error {
	if err := onlyQuery(c, "from", "to", "group_by"); err != nil {
		return err
	}

	q, err := usageQuery(c, s.now().UTC())
	if err != nil {
		return err
	}

	if who := metadataOf(c.Context()).who; !who.Admin {
		q.Key = &who.Name
	}

	ctx, cancel := s.deadline()
	defer cancel()

	rows, err := s.Meter.Query(ctx, q)
	if err != nil {
		return fault.Errorf(fault.QueueUnavailable, "the ledger of usage could not be read").WithCause(err)
	}

	data := make([]usageRow, len(rows))
	for i, u := range rows {
		data[i] = usageRowOf(u, q.By)
	}
	writeJSON(c.Context(), http.StatusOK, map[string]any{"object": "list", "data": data})

	return nil
}

// usageRowOf shows what was kept apart and the sums.
func usageRowOf(u meter.Usage, apart []string) usageRow {
	row := usageRow{
		Requests: u.Requests, PromptTokens: u.PromptTokens, CompletionTokens: u.CompletionTokens,
		ReasoningTokens: u.ReasoningTokens, EstimatedTokens: u.EstimatedTokens,
		AudioSeconds: u.AudioSeconds, Cancelled: u.Cancelled,
	}

	for _, by := range apart {
		switch by {
		case "key":
			row.Key = new(u.Key)
		case "model":
			row.Model = new(u.Model)
		case "day":
			row.Day = new(u.Day)
		}
	}

	return row
}

// queryDay is the day that a query parameter names, usual where it is missing.
func queryDay(c *fiber.Ctx, name string, usual time.Time) (time.Time, error) {
	text := c.Query(name)
	if text == "" {
		return usual, nil
	}

	day, err := time.Parse(meter.Day, text)
	if err != nil {
		return day, fault.Errorf(
			fault.InvalidOption,
			"%s is %s; allowed: a day such as %s",
			name,
			input.Quote(text),
			usual.Format(meter.Day),
		).
			WithParam(name)
	}

	return day, nil
}

func usageQuery(c *fiber.Ctx, now time.Time) (meter.Query, error) {
	q := meter.Query{By: []string{"day", "model", "key"}}

	var err error
	if q.To, err = queryDay(c, "to", now.Truncate(24*time.Hour)); err != nil {
		return q, err
	}

	if q.From, err = queryDay(c, "from", q.To.AddDate(0, 0, 1-usageDays)); err != nil {
		return q, err
	}

	if q.From.After(q.To) || q.To.Sub(q.From) >= meter.MaxDays*24*time.Hour {
		return q, fault.Errorf(fault.InvalidOption, "from is %s and to is %s; allowed: up to %d days, the earlier first",
			q.From.Format(meter.Day), q.To.Format(meter.Day), meter.MaxDays).
			WithParam("from")
	}

	if by := c.Query("group_by"); by != "" {
		allowed := q.By

		q.By = strings.Split(by, ",")
		for i, name := range q.By {
			name = strings.TrimSpace(name)
			if q.By[i] = name; !slices.Contains(allowed, name) {
				return q, fault.Errorf(fault.InvalidOption, "group_by is %s%s; allowed: %s, or several with commas", input.Quote(name),
					input.DidYouMean(name, allowed), strings.Join(allowed, ", ")).
					WithParam("group_by")
			}
		}
	}

	return q, nil
}

// exceeded puts a refusal by the limits into the API's words. The model and the tier that
// were asked for are in where; it is "" for a request that was not read.
func exceeded(e *meter.Exceeded, where string) *inference.Error {
	kind := "requests"
	if e.Dimension.Tokens() {
		kind = "tokens"
	}

	if e.TooLarge() {
		refusal := inference.Errorf(http.StatusRequestEntityTooLarge, inference.RateLimitExceeded,
			"Request too large%s on %s: Limit %d, Requested %d, please reduce your message size and try again.",
			where, e.Dimension.Name(), e.Limit, e.Requested)
		refusal.Type = kind

		return refusal
	}

	again := ""
	if e.After > 0 {
		again = fmt.Sprintf(" Please try again in %s.", e.After.Round(time.Millisecond))
	}
	refusal := inference.Errorf(http.StatusTooManyRequests, inference.RateLimitExceeded,
		"Rate limit reached%s on %s: Limit %d, Used %d, Requested %d.%s",
		where, e.Dimension.Name(), e.Limit, e.Used, e.Requested, again)
	refusal.Type = kind
	refusal.RetryAfter = cmp.Or(e.After, time.Second)

	return refusal
}
