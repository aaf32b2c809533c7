package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork/api/openai"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/meter"
	"presswork/internal/input"
)

// Inference wires the routes under /v1.
type Inference struct {
	// Calls queues completions and reads their answers.
	Calls openai.Calls
	// Models returns the current models.
	Models func() *inference.Catalogue
	// Vendor names the member x_<vendor> of answers.
	Vendor string
	// Lax ignores parameters that exclude each other, instead of refusing the request.
	Lax bool
	// Patience is how long the status of a stream waits for the first chunk, so that an error before it has a status.
	// It is also the time between two comments while a stream is silent. Default 10 s.
	Patience time.Duration
	// QueueTimeout is how long a request waits for a worker. Default: as long as its client waits.
	QueueTimeout time.Duration
}

// newV1 returns the service behind the routes under /v1; nil without Inference.
func newV1(o *Inference) *openai.Service {
	if o == nil {
		return nil
	}

	return openai.New(openai.Options{
		Calls:        o.Calls,
		Models:       o.Models,
		Vendor:       o.Vendor,
		Lax:          o.Lax,
		Patience:     o.Patience,
		QueueTimeout: o.QueueTimeout,
		PublicError:  inferenceError,
	})
}

// listModels answers GET /v1/models.
func (s *Server) listModels(c *fiber.Ctx) error {
	return s.sendJSON(c, s.v1.AppendModels(nil, metadataOf(c.Context()).who))
}

// getModel answers GET /v1/models/{id}. The id may have slashes, encoded or not.
func (s *Server) getModel(c *fiber.Ctx) error {
	id, err := url.PathUnescape(c.Params("*"))
	if err != nil {
		return fault.Errorf(fault.InvalidRequest, "%s is not a percent-encoded model id", input.Quote(c.Params("*")))
	}

	m, err := s.v1.Model(metadataOf(c.Context()).who, id)
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
