package openai

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/input"
)

// object reads the fields of a JSON object from a caller. The first error is kept in err, and later ones are dropped,
// so that callers check it once at the end. A field that is null is absent. Unknown fields are ignored.
type object struct {
	fields map[string]json.RawMessage
	path   string // such as "messages[2]."
	err    *error
}

// newObject returns an object for value. All objects of a body share err.
func newObject(value []byte, path string, err *error) object {
	o := object{path: path, err: err}
	if json.Unmarshal(value, &o.fields) != nil || o.fields == nil {
		o.failType(strings.TrimSuffix(path, "."), "an object")
	} else if name := input.Repeated(value, len(o.fields)); name != "" {
		e := inference.Errorf(
			http.StatusBadRequest,
			fault.InvalidJSON,
			"'%s' : the field occurs more than once",
			bounded(path+name, 200),
		)
		o.fail(e.WithParam(bounded(path+name, 200)))
	}

	return o
}

func (o object) failed() bool { return *o.err != nil }

// fail records e, unless an error was recorded before.
func (o object) fail(e *inference.Error) {
	if !o.failed() {
		*o.err = e
	}
}

// failf records the first error. The message follows the name of the field.
func (o object) failf(name, format string, args ...any) {
	e := inference.Invalidf(bounded(o.path+name, 200), format, args...)
	e.Message = "'" + e.Param + "' : " + e.Message
	o.fail(e)
}

// failType records that a value has the wrong type. An empty param means the body itself.
func (o object) failType(param, want string) {
	message := "the body must be " + want
	if param != "" {
		message = "'" + bounded(param, 200) + "' : value must be " + want
	}
	o.fail(inference.Errorf(http.StatusBadRequest, fault.InvalidType, "%s", message).WithParam(bounded(param, 200)))
}

// raw returns the value of a field, or nil if it is absent or null.
func (o object) raw(name string) json.RawMessage {
	if v := o.fields[name]; !isNull(v) {
		return v
	}

	return nil
}

func (o object) has(name string) bool { return o.raw(name) != nil }

// str returns a string field, "" if it is absent.
func (o object) str(name string) string {
	v := o.raw(name)
	if v == nil {
		return ""
	}

	var s string
	if v[0] != '"' || json.Unmarshal(v, &s) != nil {
		o.failType(o.path+name, "a string")
	}

	return s
}

// boolean returns a field that is true or false, nil if it is absent.
func (o object) boolean(name string) *bool {
	switch string(o.raw(name)) {
	case "":
		return nil
	case "true":
		return new(true)
	case "false":
		return new(false)
	}
	o.failType(o.path+name, "true or false")

	return nil
}

func (o object) isTrue(name string) bool {
	b := o.boolean(name)
	return b != nil && *b
}

// float returns a number between low and high, nil if the field is absent.
func (o object) float(name string, low, high float64) *float64 {
	v := o.raw(name)
	if v == nil {
		return nil
	}

	f, err := strconv.ParseFloat(string(v), 64)
	switch {
	case err != nil || math.IsInf(f, 0):
		o.failType(o.path+name, "a number")
	case f < low || f > high:
		o.failf(name, "must be between %v and %v", low, high)
	}

	return &f
}

// integer returns a whole number between low and high, nil if the field is absent.
func (o object) integer(name string, low, high int64) *int64 {
	v := o.raw(name)
	if v == nil {
		return nil
	}
	n, err := strconv.ParseInt(string(v), 10, 64)

	outOfRange := errors.Is(err, strconv.ErrRange)
	if err != nil && !outOfRange {
		f, ferr := strconv.ParseFloat(string(v), 64)
		if ferr != nil || f != math.Trunc(f) {
			o.failType(o.path+name, "a whole number")
			return nil
		}
		n, outOfRange = int64(f), math.Abs(f) > 1<<53
	}

	switch {
	case !outOfRange && n < low && (high == math.MaxInt64 || high == math.MaxInt32):
		o.failf(name, "must be at least %d", low)
	case outOfRange || n < low || n > high:
		o.failf(name, "must be between %d and %d", low, high)
	}

	return &n
}

// enum reads a string that must be one of the allowed values.
func (o object) enum(name string, allowed ...string) string {
	s := o.str(name)
	if s == "" && !o.has(name) || slices.Contains(allowed, s) {
		return s
	}
	o.failf(
		name,
		"value %q must be one of [%s]%s",
		bounded(s, 60),
		strings.Join(allowed, ", "),
		input.DidYouMean(s, allowed),
	)

	return s
}

func (o object) object(name string) object {
	return newObject(o.fields[name], o.path+name+".", o.err)
}

// list calls yield for each item of an array field until the first error.
func (o object) list(name string, yield func(item json.RawMessage, path string)) {
	v := o.raw(name)
	if v == nil {
		return
	}

	if v[0] != '[' {
		o.failType(o.path+name, "a list")
		return
	}

	var list []json.RawMessage
	if json.Unmarshal(v, &list) != nil {
		o.failType(o.path+name, "a list")
	}

	for i, item := range list {
		if o.failed() {
			return
		}
		yield(item, o.path+name+"["+strconv.Itoa(i)+"]")
	}
}

// unquoted decodes a JSON string.
func unquoted(value []byte) (s string) {
	_ = json.Unmarshal(value, &s) // anything else is ""
	return s
}
