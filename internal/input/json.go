// Package input reads values from users and reports exactly what is wrong with them. It reads JSON objects, files,
// page ranges and words that may be misspelt.
package input

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"presswork/internal/fault"
)

// DecodeJSON decodes the JSON object in data into the struct that dst points to. Field names are case-sensitive.
// param is the prefix of field names in errors, such as "options.". Errors: InvalidJSON, UnknownField,
// InvalidType.
func DecodeJSON(data []byte, dst any, param string) error {
	dec := json.NewDecoder(bytes.NewReader(data))

	var fields map[string]json.RawMessage
	if err := dec.Decode(&fields); err != nil {
		return syntaxError(err, param)
	}

	if dec.More() || len(bytes.TrimSpace(data[dec.InputOffset():])) > 0 {
		return invalidJSON(param, ": there is more text after the object")
	}

	if fields == nil {
		return invalidType(strings.TrimSuffix(param, "."), "an object")
	}

	// encoding/json takes the last of several values, and another program may take the first.
	if name := Repeated(data, len(fields)); name != "" {
		return fault.Errorf(fault.InvalidJSON, "%q appears more than once", Clip(param+name)).
			WithParam(Clip(param + name))
	}

	return decodeFields(fields, reflect.ValueOf(dst).Elem(), param)
}

// decodeFields decodes the fields of an object into the struct dst. param is the path of the object, for errors. null
// leaves a field unchanged.
func decodeFields(fields map[string]json.RawMessage, dst reflect.Value, param string) error {
	// The fields of an embedded struct belong to the outer one.
	index := map[string][]int{}
	var names []string

	for _, f := range reflect.VisibleFields(dst.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			index[name] = f.Index
			names = append(names, name)
		}
	}

	for _, name := range slices.Sorted(maps.Keys(fields)) {
		i, known := index[name]
		if !known {
			return fault.Errorf(fault.UnknownField, "unknown field %q%s; allowed: %s",
				Clip(param+name), DidYouMean(name, names), strings.Join(names, ", ")).WithParam(Clip(param + name))
		}

		if string(fields[name]) == "null" {
			continue
		}

		if err := decodeValue(fields[name], dst.FieldByIndex(i), param+name); err != nil {
			return err
		}
	}

	return nil
}

// decodeValue decodes one value. It decodes structs and lists of structs itself, so that errors name the path of the
// wrong field.
func decodeValue(raw json.RawMessage, dst reflect.Value, param string) error {
	_, custom := reflect.TypeAssert[json.Unmarshaler](dst.Addr())
	if !custom {
		switch t := dst.Type(); {
		case t.Kind() == reflect.Struct:
			return DecodeJSON(raw, dst.Addr().Interface(), param+".")
		case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct && !isCustom(t):
			dst.Set(reflect.New(t.Elem()))
			return DecodeJSON(raw, dst.Interface(), param+".")
		case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && !isCustom(reflect.PointerTo(t.Elem())):
			return decodeList(raw, dst, param)
		}
	}

	err := json.Unmarshal(raw, dst.Addr().Interface())
	if err == nil {
		return nil
	}

	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.WithParam(param)
	}

	return invalidType(param, want(dst.Type())).WithCause(err)
}

// isCustom reports whether a type decodes itself.
func isCustom(t reflect.Type) bool { return t.Implements(reflect.TypeFor[json.Unmarshaler]()) }

// decodeList decodes a list of structs.
func decodeList(raw json.RawMessage, dst reflect.Value, param string) error {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return invalidType(param, "a list").WithCause(err)
	}
	dst.Set(reflect.MakeSlice(dst.Type(), len(items), len(items)))

	for i, item := range items {
		if err := DecodeJSON(item, dst.Index(i).Addr().Interface(), fmt.Sprintf("%s[%d].", param, i)); err != nil {
			return err
		}
	}

	return nil
}

// described is a type that accepts several forms of JSON and describes them for errors.
type described interface{ JSONForms() string }

// want describes, for errors, the JSON that a field of type t accepts.
func want(t reflect.Type) string {
	if d, ok := reflect.TypeAssert[described](reflect.Zero(t)); ok && t.Kind() != reflect.Pointer {
		return d.JSONForms()
	}

	switch t.Kind() {
	case reflect.Pointer:
		return want(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.String {
			return "a list of strings"
		}

		return "a list"
	case reflect.Map:
		return "an object of strings"
	default:
		return "an object"
	}
}

// invalidType returns the error of a value of a wrong type. want completes "must be …".
func invalidType(param, want string) *fault.Error {
	if param == "" {
		return fault.Errorf(fault.InvalidType, "the body must be %s", want)
	}

	return fault.Errorf(fault.InvalidType, "%s must be %s", param, want).WithParam(param)
}

// syntaxError explains an error of the JSON decoder.
func syntaxError(err error, param string) error {
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return invalidType(strings.TrimSuffix(param, "."), "an object")
	}

	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return invalidJSON(param, " (at byte %d): %s", e.Offset, e.Error())
	}

	return invalidJSON(param, ": it ends too early or is empty").WithCause(err)
}

// invalidJSON returns an error for a request body. If param is set, it is about that field of a form or query.
func invalidJSON(param, format string, args ...any) *fault.Error {
	name := strings.TrimSuffix(param, ".")

	return fault.Errorf(fault.InvalidJSON, "%s is not valid JSON%s", cmp.Or(name, "the body"),
		fmt.Sprintf(format, args...)).WithParam(name)
}
