// Package schema checks the JSON Schemas of callers, and texts against them. Callers are not trusted, so every check
// has a bound on size, depth and steps. [Check] rejects a schema before its request is queued, or before a tool of an
// MCP server is offered. [Compile] and [Schema.Validate] then check the arguments of calls and answers in JSON.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"presswork/internal/input"
)

// The bounds of a schema.
const (
	maxBytes = 256 << 10 // bytes of its JSON
	// maxDepth is in levels of JSON. The time to compile a schema grows with its cube.
	maxDepth = 100
)

// The reasons why Validate and ValidateObject reject a text before they apply the schema. Their messages continue
// "The arguments are wrong:".
var (
	ErrNotJSON   = errors.New("they are not valid JSON")
	ErrNotObject = errors.New("they are not a JSON object")
)

var (
	errRemote     = errors.New("a $ref to another document is not allowed; put it under $defs")
	errDeep       = fmt.Errorf("the schema is nested more than %d levels deep", maxDepth)
	errNumber     = errors.New("it has a number of more than 300 digits")
	errEndless    = errors.New("a $ref leads to itself, so that nothing can match it")
	errDependent  = errors.New("dependentSchemas and dependencies are not supported")
	errUnreadable = errors.New("the schema is not valid JSON")
	errNoObject   = errors.New("the schema must be an object")
)

// Check returns an error that says why a caller's JSON Schema is not accepted. A schema must be an object of at most
// 256 KB and 100 levels. A $ref must not lead to another document, or to itself without an end.
func Check(raw json.RawMessage) error {
	s, err := Compile(raw)
	if err != nil {
		return err
	}

	// Too many steps are no error here, because an answer may take fewer than the empty object.
	err = s.apply(map[string]any{}, baseSteps)
	if v, ok := errors.AsType[*jsonschema.ValidationError](err); ok && endless(v) {
		return errEndless
	}

	return nil
}

// endless reports whether a validation failed at a $ref that leads to itself. No text can satisfy such a schema.
func endless(v *jsonschema.ValidationError) bool {
	_, cycle := v.ErrorKind.(*kind.RefCycle)
	return cycle || slices.ContainsFunc(v.Causes, endless)
}

// Schema is a compiled JSON Schema. It is not safe for concurrent use, because it counts the steps of each validation.
type Schema struct {
	compiled *jsonschema.Schema
	steps    *int // left for this validation
}

// Compile reads a JSON Schema. Its errors are those of Check, except for a $ref that leads to itself.
func Compile(raw json.RawMessage) (*Schema, error) {
	doc, err := parse(raw)
	if err != nil {
		return nil, err
	}
	steps := new(baseSteps)
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) {
		// Go cannot compile a look-ahead, which JavaScript has: such a pattern matches everything.
		re, _ := regexp.Compile(pattern)
		return countedRegexp{pattern, re, steps}, nil
	})
	c.RegisterVocabulary(countSteps(steps))
	c.AssertVocabs()

	const schemaURL = "urn:request:schema"
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, describe(err)
	}

	compiled, err := c.Compile(schemaURL)
	if err != nil {
		return nil, describe(err)
	}

	return &Schema{compiled, steps}, nil
}

// parse reads the JSON of a schema and checks it against the bounds.
func parse(raw json.RawMessage) (any, error) {
	if len(raw) > maxBytes {
		return nil, fmt.Errorf("the schema has more than %d bytes", maxBytes)
	}

	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, errUnreadable
	}

	if _, ok := doc.(map[string]any); !ok {
		return nil, errNoObject
	}

	if !numbersBounded(doc) {
		return nil, errNumber
	}

	if depth(doc) > maxDepth {
		return nil, errDeep
	}

	return doc, nil
}

// describe returns one line that says what is wrong with a schema.
func describe(err error) error {
	for _, known := range []error{errRemote, errDependent} {
		if errors.Is(err, known) || strings.Contains(err.Error(), known.Error()) {
			return known
		}
	}

	if e, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if v, ok := errors.AsType[*jsonschema.ValidationError](e.Err); ok {
			return fmt.Errorf("it is not a JSON Schema: %s", firstCause(v))
		}
	}
	line, _, _ := strings.Cut(err.Error(), "\n")

	return fmt.Errorf("it is not a JSON Schema: %s",
		input.Cut(strings.ReplaceAll(line, "urn:request:schema", ""), 200))
}

// Validate returns an error that says why a text does not satisfy the schema. The error is ErrNotJSON for a text that
// is not JSON.
func (s *Schema) Validate(text string) error {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return ErrNotJSON
	}

	return s.validate(value, len(text))
}

// ValidateObject is like Validate, but the text must be a JSON object: else the error is ErrNotObject.
func (s *Schema) ValidateObject(text string) error {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return ErrNotJSON
	}

	if _, ok := value.(map[string]any); !ok {
		return ErrNotObject
	}

	return s.validate(value, len(text))
}

// validate checks a decoded value. size is the length of its JSON in bytes; the work that a check may take grows with
// it.
func (s *Schema) validate(value any, size int) error {
	if !numbersBounded(value) {
		return errNumber
	}

	err := s.apply(value, baseSteps+size)
	if v, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return errors.New(firstCause(v))
	}

	return err
}

// firstCause describes the first cause of a validation error and where it is in the text.
func firstCause(v *jsonschema.ValidationError) string {
	for len(v.Causes) > 0 {
		v = v.Causes[0]
	}

	return fmt.Sprintf(
		"at '/%s': %s",
		strings.Join(v.InstanceLocation, "/"),
		v.ErrorKind.LocalizedString(message.NewPrinter(language.English)),
	)
}

// noLoader rejects every document outside the schema.
type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(string) (any, error) { return nil, errRemote }
