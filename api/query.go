package api

import (
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"presswork/internal/fault"
	"presswork/internal/input"
)

// eachQuery calls yield for every parameter of the query, in order, up to the first
// error. A parameter that is there twice is one: which of its values is meant nobody knows.
func eachQuery(c *fiber.Ctx, yield func(name string, value []byte) error) (err error) {
	seen := map[string]bool{}
	c.Context().QueryArgs().VisitAll(func(key, value []byte) {
		name := string(key)
		switch {
		case err != nil:
		case seen[name]:
			err = fault.Errorf(fault.InvalidType, "the query has %s twice", input.Quote(name)).
				WithParam(input.Clip(name))
		default:
			seen[name] = true
			err = yield(name, value)
		}
	})

	return err
}

// onlyQuery refuses parameters that a list does not have: without a filter that is misspelt
// it would hold what was not asked for.
func onlyQuery(c *fiber.Ctx, allowed ...string) error {
	return eachQuery(c, func(name string, _ []byte) error {
		if !slices.Contains(allowed, name) {
			return input.UnknownField(name, allowed)
		}

		return nil
	})
}

// queryBool is a parameter that is true or false, false where it is missing or empty.
func queryBool(c *fiber.Ctx, name string) (bool, error) {
	text := c.Query(name)
	if text == "" {
		return false, nil
	}

	value, err := strconv.ParseBool(text)
	if err != nil {
		return false, fault.Errorf(fault.InvalidOption, "%s is %s; allowed: true, false", name, input.Quote(text)).
			WithParam(name)
	}

	return value, nil
}
