// Package jsonbody reads and writes the JSON bodies of clients. It is shared by the formats of the inference API.
//
// An [Object] reads the fields of a body and keeps the first error, so that a parser is a list of fields. [Limits]
// checks schemas and images, [ToolServer] reads an MCP server, and the Append functions write answers.
package jsonbody

import (
	"cmp"
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

// Object reads the fields of a JSON object from a caller. The first error is kept in Err, and later ones are dropped,
// so that callers check it once at the end. A field that is null is absent. Unknown fields are ignored.
type Object struct {
	// Fields are the members of the object.
	Fields map[string]json.RawMessage
	// Path is the prefix of the fields in errors, such as "messages[2].".
	Path string
	// Err is the first error of the body.
	Err *error
}

// New returns an object for value. All objects of a body share err. path is as in Object.Path. A field that occurs
// twice is an error: other programs may read the other value.
func New(value []byte, path string, err *error) Object {
	o := Object{Path: path, Err: err}
	if json.Unmarshal(value, &o.Fields) != nil || o.Fields == nil {
		o.FailType(strings.TrimSuffix(path, "."), "an object")
	} else if name := input.Repeated(value, len(o.Fields)); name != "" {
		e := inference.Errorf(http.StatusBadRequest, fault.InvalidJSON,
			"'%s' : the field occurs more than once", Bounded(path+name, 200))
		o.Fail(e.WithParam(Bounded(path+name, 200)))
	}

	return o
}

// Parse returns the reader of a body. For a text that is not JSON the error names the byte.
func Parse(body []byte, err *error) Object {
	o := New(body, "", err)
	if *err != nil {
		*err = cmp.Or(syntaxError(body), *err)
	}

	return o
}

// syntaxError returns an error that names the byte at which a body is not JSON; nil for valid JSON.
func syntaxError(body []byte) error {
	var value json.RawMessage

	err := json.Unmarshal(body, &value)
	if err == nil {
		return nil
	}

	if e, ok := errors.AsType[*json.SyntaxError](err); ok && len(body) > 0 {
		return inference.Errorf(http.StatusBadRequest, fault.InvalidJSON,
			"the body is not valid JSON (at byte %d): %s", e.Offset, e.Error())
	}

	return inference.Errorf(http.StatusBadRequest, fault.InvalidJSON,
		"the body is not valid JSON: it ends too early or is empty")
}

// Failed reports whether an error was recorded.
func (o Object) Failed() bool { return *o.Err != nil }

// Fail records e, unless an error was recorded before.
func (o Object) Fail(e *inference.Error) {
	if !o.Failed() {
		*o.Err = e
	}
}

// Failf records the first error. The message follows the name of the field.
func (o Object) Failf(name, format string, args ...any) {
	e := inference.Invalidf(Bounded(o.Path+name, 200), format, args...)
	e.Message = "'" + e.Param + "' : " + e.Message
	o.Fail(e)
}

// FailType records that a value has the wrong type. An empty param means the body itself.
func (o Object) FailType(param, want string) {
	message := "the body must be " + want
	if param != "" {
		message = "'" + Bounded(param, 200) + "' : value must be " + want
	}
	o.Fail(inference.Errorf(http.StatusBadRequest, fault.InvalidType, "%s", message).WithParam(Bounded(param, 200)))
}

// Raw returns the value of a field, or nil if it is absent or null.
func (o Object) Raw(name string) json.RawMessage {
	if v := o.Fields[name]; string(v) != "null" {
		return v
	}

	return nil
}

// Has reports whether a field is present and not null.
func (o Object) Has(name string) bool { return o.Raw(name) != nil }

// Str returns a string field, "" if it is absent.
func (o Object) Str(name string) string {
	v := o.Raw(name)
	if v == nil {
		return ""
	}

	var s string
	if v[0] != '"' || json.Unmarshal(v, &s) != nil {
		o.FailType(o.Path+name, "a string")
	}

	return s
}

// Required reads a string that must not be empty.
func (o Object) Required(name string) string {
	s := o.Str(name)
	if s == "" {
		o.Failf(name, "property '%s' is missing", name)
	}

	return s
}

// Boolean returns a field that is true or false, nil if it is absent.
func (o Object) Boolean(name string) *bool {
	switch string(o.Raw(name)) {
	case "":
		return nil
	case "true":
		return new(true)
	case "false":
		return new(false)
	}
	o.FailType(o.Path+name, "true or false")

	return nil
}

// IsTrue reports whether a field is true.
func (o Object) IsTrue(name string) bool {
	b := o.Boolean(name)
	return b != nil && *b
}

// Float returns a number between low and high, nil if the field is absent.
func (o Object) Float(name string, low, high float64) *float64 {
	v := o.Raw(name)
	if v == nil {
		return nil
	}

	f, err := strconv.ParseFloat(string(v), 64)
	switch {
	case err != nil || math.IsInf(f, 0):
		o.FailType(o.Path+name, "a number")
	case f < low || f > high:
		o.Failf(name, "%s is not allowed; it must be between %v and %v", Bounded(string(v), 40), low, high)
	}

	return &f
}

// Integer returns a whole number between low and high, nil if the field is absent. A whole number may be written as
// 5.0 or 1e3, as some clients do.
func (o Object) Integer(name string, low, high int64) *int64 {
	v := o.Raw(name)
	if v == nil {
		return nil
	}
	n, err := strconv.ParseInt(string(v), 10, 64)

	outOfRange := errors.Is(err, strconv.ErrRange)
	if err != nil && !outOfRange {
		f, ferr := strconv.ParseFloat(string(v), 64)
		if ferr != nil || f != math.Trunc(f) {
			o.FailType(o.Path+name, "a whole number")
			return nil
		}
		n, outOfRange = int64(f), math.Abs(f) > 1<<53 // a float64 is exact up to there
	}

	switch {
	// The largest integer of a type is no limit that a caller could use.
	case !outOfRange && n < low && (high == math.MaxInt64 || high == math.MaxInt32):
		o.Failf(name, "%s is not allowed; it must be at least %d", Bounded(string(v), 40), low)
	case outOfRange || n < low || n > high:
		o.Failf(name, "%s is not allowed; it must be between %d and %d", Bounded(string(v), 40), low, high)
	}

	return &n
}

// Enum reads a string that must be one of the allowed values.
func (o Object) Enum(name string, allowed ...string) string {
	s := o.Str(name)
	if s == "" && !o.Has(name) || slices.Contains(allowed, s) {
		return s
	}
	o.Failf(name,
		"value %q must be one of [%s]%s", Bounded(s, 60), strings.Join(allowed, ", "), input.DidYouMean(s, allowed))

	return s
}

// Object returns the reader of a field that is an object. If the field is absent or has another type, it records an
// error.
func (o Object) Object(name string) Object {
	return New(o.Fields[name], o.Path+name+".", o.Err)
}

// List calls yield for each item of an array field until the first error.
func (o Object) List(name string, yield func(item json.RawMessage, path string)) {
	v := o.Raw(name)
	if v == nil {
		return
	}

	if v[0] != '[' {
		o.FailType(o.Path+name, "a list")
		return
	}

	var list []json.RawMessage
	if json.Unmarshal(v, &list) != nil {
		o.FailType(o.Path+name, "a list")
	}

	for i, item := range list {
		if o.Failed() {
			return
		}
		yield(item, o.Path+name+"["+strconv.Itoa(i)+"]")
	}
}

// Text decodes a JSON string; "" for other values.
func Text(value []byte) (s string) {
	_ = json.Unmarshal(value, &s) // anything else is ""
	return s
}

// Bounded returns the first n bytes of s, with an ellipsis if there are more.
func Bounded(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}

	return s
}

// Except returns the members of the object without those named and without nulls, as a JSON object; nil if there are
// none.
func (o Object) Except(names ...string) json.RawMessage {
	return o.members(func(name string) bool { return !slices.Contains(names, name) })
}

// Only returns those of the named members that are present, as Except does.
func (o Object) Only(names ...string) json.RawMessage {
	return o.members(func(name string) bool { return slices.Contains(names, name) })
}

// members returns the members that keep selects, without nulls, as a JSON object; nil if there are none.
func (o Object) members(keep func(name string) bool) json.RawMessage {
	kept := map[string]json.RawMessage{}

	for name, value := range o.Fields {
		if keep(name) && string(value) != "null" {
			kept[name] = value
		}
	}

	if len(kept) == 0 {
		return nil
	}
	b, _ := json.Marshal(kept) // the values are valid JSON

	return b
}
