// Package usage reports how many tokens and seconds of audio keys have used, and what that costs.
package usage

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork/api/access"
	"presswork/api/exchange"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/meter"
	"presswork/internal/input"
)

// Options configure a Report.
type Options struct {
	// Meter has the ledger. Nil: nothing was used; Get needs it.
	Meter *meter.Meter
	// Callers returns the holders of keys. Mandatory.
	Callers func() []access.Caller
	// Models returns the current models with their prices. Nil: there are none.
	Models func() *inference.Catalogue
	// Now returns the time of the ledger. Mandatory.
	Now func() time.Time
}

// Report answers the requests for usage.
type Report struct{ Options }

// New returns a Report.
func New(o Options) *Report { return &Report{o} }

// usageRow is a row of GET /v1/usage. Columns that are summed over are absent.
type usageRow struct {
	Key   *string `json:"key,omitempty"`
	Model *string `json:"model,omitempty"`
	Day   *string `json:"day,omitempty"`
	// Requests includes those that failed or were cancelled.
	Requests         int64 `json:"requests"`
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	ReasoningTokens  int64 `json:"reasoning_tokens"`
	// EstimatedTokens is the part of prompt and completion tokens that no upstream has counted.
	EstimatedTokens int64 `json:"estimated_tokens"`
	AudioSeconds    int64 `json:"audio_seconds"`
	Cancelled       int64 `json:"cancelled"`
}

// usageDays is how many days a usage report covers by default.
const usageDays = 30

// Get answers GET /v1/usage. Callers who are not admins see their own usage only. Errors: InvalidOption,
// QueueUnavailable.
func (r *Report) Get(c *fiber.Ctx) error {
	if err := exchange.OnlyQuery(c, "from", "to", "group_by"); err != nil {
		return err
	}

	q, err := usageQuery(c, r.Now().UTC())
	if err != nil {
		return err
	}

	if who := exchange.Of(c.Context()).Caller; !who.Admin {
		q.Key = &who.Name
	}

	ctx, cancel := exchange.CallContext()
	defer cancel()

	rows, err := r.Meter.Query(ctx, q)
	if err != nil {
		return fault.Errorf(fault.QueueUnavailable, "could not read the usage ledger").WithCause(err)
	}

	data := make([]usageRow, len(rows))
	for i, u := range rows {
		data[i] = usageRowOf(u, q.By)
	}
	exchange.WriteJSON(c.Context(), http.StatusOK, map[string]any{"object": "list", "data": data})

	return nil
}

// usageRowOf returns the row for u. groups names the columns that identify the row: key, model, day.
func usageRowOf(u meter.Usage, groups []string) usageRow {
	row := usageRow{
		Requests: u.Requests, PromptTokens: u.PromptTokens, CompletionTokens: u.CompletionTokens,
		ReasoningTokens: u.ReasoningTokens, EstimatedTokens: u.EstimatedTokens,
		AudioSeconds: u.AudioSeconds, Cancelled: u.Cancelled,
	}

	for _, by := range groups {
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

// queryDay returns the day in a query parameter, or fallback when it is missing. Errors: InvalidOption.
func queryDay(c *fiber.Ctx, name string, fallback time.Time) (time.Time, error) {
	text := c.Query(name)
	if text == "" {
		return fallback, nil
	}

	day, err := time.Parse(meter.Day, text)
	if err != nil {
		return day, fault.Errorf(fault.InvalidOption, "%s is %s; allowed: a day such as %s",
			name, input.Quote(text), fallback.Format(meter.Day)).WithParam(name)
	}

	return day, nil
}

// usageQuery returns the query that from, to and group_by describe. The default is the last usageDays days until
// now. Errors: InvalidOption.
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
				return q, fault.Errorf(fault.InvalidOption, "group_by is %s%s; allowed: %s, or several with commas",
					input.Quote(name), input.DidYouMean(name, allowed), strings.Join(allowed, ", ")).
					WithParam("group_by")
			}
		}
	}

	return q, nil
}

// keyView is a key as operators see it, without the secret.
type keyView struct {
	Name  string `json:"name"`
	Admin bool   `json:"admin"`
	// Models and Tiers are empty if the key has no rule. A limit of 0 is not set.
	Models      []string `json:"models"`
	Tiers       []string `json:"tiers"`
	RPM         int      `json:"rpm"`
	RPD         int      `json:"rpd"`
	TPM         int      `json:"tpm"`
	TPD         int      `json:"tpd"`
	Concurrency int      `json:"concurrency"`
}

// keyViews returns what a client may see of the keys. Lists are never null in JSON.
func keyViews(callers []access.Caller) []keyView {
	views := make([]keyView, len(callers))
	for i, k := range callers {
		views[i] = keyView{
			Name:        k.Name,
			Admin:       k.Admin,
			Models:      append([]string{}, k.Models...),
			Tiers:       append([]string{}, k.Tiers...),
			RPM:         k.Limits.RPM,
			RPD:         k.Limits.RPD,
			TPM:         k.Limits.TPM,
			TPD:         k.Limits.TPD,
			Concurrency: k.Limits.Concurrency,
		}
	}

	return views
}

// spendRow is the usage of a model by a key on one day. Cost is in the currency of models.yaml, absent when the
// model has no price.
type spendRow struct {
	usageRow
	Cost *float64 `json:"cost,omitempty"`
}

// Keys answers GET /admin/api/keys with all keys and their usage per day and model. Errors: InvalidOption,
// QueueUnavailable.
func (r *Report) Keys(c *fiber.Ctx) error {
	if err := exchange.OnlyQuery(c, "from", "to"); err != nil {
		return err
	}

	q, err := usageQuery(c, r.Now().UTC())
	if err != nil {
		return err
	}
	q.By = []string{"day", "model", "key"}

	view := struct {
		Keys  []keyView  `json:"keys"`
		From  string     `json:"from"`
		To    string     `json:"to"`
		Usage []spendRow `json:"usage"`
	}{keyViews(r.Callers()), q.From.Format(meter.Day), q.To.Format(meter.Day), []spendRow{}}
	if r.Meter != nil {
		ctx, cancel := exchange.CallContext()
		defer cancel()

		rows, err := r.Meter.Query(ctx, q)
		if err != nil {
			return fault.Errorf(fault.QueueUnavailable, "could not read the usage ledger").WithCause(err)
		}
		prices := r.prices()

		for _, u := range rows {
			row := spendRow{usageRow: usageRowOf(u, q.By)}
			if price, known := prices[u.Model]; known {
				cost := float64(u.PromptTokens)*price.InputPerM + float64(u.CompletionTokens)*price.OutputPerM
				row.Cost = new(cost / 1e6) // prices are for a million tokens
			}
			view.Usage = append(view.Usage, row)
		}
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	exchange.WriteJSON(c.Context(), http.StatusOK, view)

	return nil
}

// prices returns the prices of the models that have one, by model id.
func (r *Report) prices() map[string]inference.Price {
	prices := map[string]inference.Price{}
	if r.Models == nil {
		return prices
	}

	for _, m := range r.Models().Models() {
		if m.Price != (inference.Price{}) {
			prices[m.ID] = m.Price
		}
	}

	return prices
}
