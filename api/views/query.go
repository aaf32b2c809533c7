package views

import (
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"presswork"
	"presswork/api/exchange"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/tasks"
)

// The default and the largest number of jobs of a page.
const defaultLimit, maxLimit = 20, 100

// statuses and kinds are the values of the filters.
var (
	statuses = []presswork.Status{
		presswork.Queued, presswork.Processing, presswork.Completed, presswork.Failed, presswork.Cancelled,
	}
	kinds = []presswork.Kind{
		presswork.KindConversion, presswork.KindExport, presswork.KindTranscription, presswork.KindPDF,
	}
)

// ListFilters returns the query parameters for a list of jobs.
func ListFilters() []string {
	return []string{"limit", "cursor", "status", "kind"}
}

// QueryOf returns the query that the parameters in ListFilters describe. Errors: InvalidOption.
func QueryOf(c *fiber.Ctx) (tasks.Query, error) {
	q := tasks.Query{Limit: defaultLimit, Cursor: c.Query("cursor")}
	if text := c.Query("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxLimit {
			return q, fault.Errorf(fault.InvalidOption, "limit is %s; allowed: 1 to %d", input.Quote(text), maxLimit).
				WithParam("limit")
		}
		q.Limit = n
	}

	for text := range strings.SplitSeq(c.Query("status"), ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}

		status, err := exchange.OneOf("status", text, statuses)
		if err != nil {
			return q, err
		}
		q.Statuses = append(q.Statuses, status)
	}

	if text := c.Query("kind"); text != "" {
		kind, err := exchange.OneOf("kind", text, kinds)
		if err != nil {
			return q, err
		}
		q.Kind = kind
	}

	return q, nil
}
