package exchange

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"presswork/internal/fault"
	"presswork/internal/input"
)

// maxKeyLength is the longest Idempotency-Key, in bytes.
const maxKeyLength = 255

// EachQuery calls yield for every parameter of the query, in order, up to the first error. A repeated parameter is an
// error, because either value may be the intended one.
func EachQuery(c *fiber.Ctx, yield func(name string, value []byte) error) (err error) {
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

// OnlyQuery rejects parameters that are not in allowed. Ignoring a misspelt filter would return a list with too
// many entries. Errors: UnknownField, InvalidType for a repeated parameter.
func OnlyQuery(c *fiber.Ctx, allowed ...string) error {
	return EachQuery(c, func(name string, _ []byte) error {
		if !slices.Contains(allowed, name) {
			return input.UnknownField(name, allowed)
		}

		return nil
	})
}

// QueryBool returns a parameter that is true or false; false when it is missing or empty. Errors: InvalidOption.
func QueryBool(c *fiber.Ctx, name string) (bool, error) {
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

// OneOf returns a parameter that must be one of the allowed words. Errors: InvalidOption.
func OneOf[T ~string](param, text string, allowed []T) (T, error) {
	if slices.Contains(allowed, T(text)) {
		return T(text), nil
	}

	words := make([]string, len(allowed))
	for i, a := range allowed {
		words[i] = string(a)
	}

	return "", fault.Errorf(fault.InvalidOption, "%s is %s%s; allowed: %s",
		param, input.Quote(text), input.DidYouMean(text, words), strings.Join(words, ", ")).WithParam(param)
}

// IdempotencyKey returns the Idempotency-Key header, "" for none. Errors: InvalidOption.
func IdempotencyKey(c *fiber.Ctx) (string, error) {
	key := c.Get("Idempotency-Key")

	bad := strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' })
	if len(key) > maxKeyLength || bad {
		return "", fault.Errorf(fault.InvalidOption, "Idempotency-Key must be 1 to %d printable ASCII characters",
			maxKeyLength).WithParam("Idempotency-Key")
	}

	return key, nil
}
