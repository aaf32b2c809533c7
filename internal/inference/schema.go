package inference

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Bounds of a caller's schema.
const (
	maxSchemaBytes = 256 << 10
	// maxSchemaDepth is in levels of JSON: what compiling takes grows with the
	// cube of it.
	maxSchemaDepth = 100
	// A text may take baseSteps steps, and one more for each of its bytes.
	baseSteps = 20_000
	// valuesPerStep values of an enum make a step, and bytesPerStep bytes under a
	// pattern: each of them is looked at several times.
	valuesPerStep = 100
	bytesPerStep  = 4
)

var (
	errNotJSON    = errors.New("they are not valid JSON")
	errNotObject  = errors.New("they are not a JSON object")
	errTooManySub = errors.New("the schema takes too many steps to check")
	errRemote     = errors.New("a $ref to another document is not allowed; put it under $defs")
	errDeep       = fmt.Errorf("the schema is nested more than %d levels deep", maxSchemaDepth)
	errNumber     = errors.New("it has a number of more than 300 digits")
	errEndless    = errors.New("a $ref leads to itself, so that nothing can match it")
	errDependent  = errors.New("dependentSchemas and dependencies are not supported")
)

// CheckSchema reports what is wrong with a caller's JSON Schema: it must be an
// object of at most 256 KB and 100 levels that refers to nothing outside itself, nor
// without end to itself.
func CheckSchema(raw json.RawMessage) error {
	s, err := compileSchema(raw)
	if err != nil {
		return err
	}
	*s.steps = baseSteps

	defer func() {
		if r := recover(); r != nil && r != any(errTooManySub) { // an answer may take fewer steps
			panic(r)
		}
	}()

	if v, ok := errors.AsType[*jsonschema.ValidationError](s.compiled.Validate(map[string]any{})); ok && endless(v) {
		return errEndless
	}

	return nil
}

// endless reports whether a validation met a $ref that leads to itself, which no answer can
// meet.
func endless(v *jsonschema.ValidationError) bool {
	_, cycle := v.ErrorKind.(*kind.RefCycle)
	return cycle || slices.ContainsFunc(v.Causes, endless)
}

// schema is a compiled JSON Schema. It is for one goroutine: it counts down the
// steps of a validation, because a few lines of $ref and anyOf may take 2^60.
type schema struct {
	compiled *jsonschema.Schema
	steps    *int // left
}

func compileSchema(raw json.RawMessage) (*schema, error) {
	if len(raw) > maxSchemaBytes {
		return nil, fmt.Errorf("the schema has more than %d bytes", maxSchemaBytes)
	}

	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, errors.New("the schema is not valid JSON")
	}

	if _, ok := doc.(map[string]any); !ok {
		return nil, errors.New("the schema must be an object")
	}

	if !sane(doc) {
		return nil, errNumber
	}

	if depth(doc) > maxSchemaDepth {
		return nil, errDeep
	}
	steps := new(baseSteps)
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) {
		// A pattern only JavaScript knows (a look-ahead) is left unchecked.
		re, _ := regexp.Compile(pattern)
		return countedRegexp{pattern, re, steps}, nil
	})
	c.RegisterVocabulary(
		&jsonschema.Vocabulary{
			URL: "urn:presswork:steps",
			Compile: func(_ *jsonschema.CompilerContext, object map[string]any) (jsonschema.SchemaExt, error) {
				if object["dependentSchemas"] != nil || object["dependencies"] != nil {
					return nil, errDependent
				}
				enum, _ := object["enum"].([]any)

				return counter{steps, 1 + len(enum)/valuesPerStep}, nil
			},
		},
	)
	c.AssertVocabs()

	const here = "urn:request:schema"
	if err := c.AddResource(here, doc); err != nil {
		return nil, schemaError(err)
	}

	compiled, err := c.Compile(here)
	if err != nil {
		return nil, schemaError(err)
	}

	return &schema{compiled, steps}, nil
}

// schemaError is a line on what is wrong with a schema.
func schemaError(err error) error {
	for _, known := range []error{errRemote, errDependent} {
		if errors.Is(err, known) || strings.Contains(err.Error(), known.Error()) {
			return known
		}
	}

	if e, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if v, ok := errors.AsType[*jsonschema.ValidationError](e.Err); ok {
			return fmt.Errorf("it is not a JSON Schema: %s", leaf(v))
		}
	}
	line, _, _ := strings.Cut(err.Error(), "\n")

	return fmt.Errorf("it is not a JSON Schema: %s", clip(strings.ReplaceAll(line, "urn:request:schema", ""), 200))
}

// validate checks a JSON text; object demands that it is an object.
func (s *schema) validate(text string, object bool) (err error) {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return errNotJSON
	}

	if _, ok := value.(map[string]any); object && !ok {
		return errNotObject
	}

	if !sane(value) {
		return errNumber
	}
	*s.steps = baseSteps + len(text)

	defer func() {
		if r := recover(); r != nil {
			if r != any(errTooManySub) {
				panic(r)
			}
			err = errTooManySub
		}
	}()

	err = s.compiled.Validate(value)
	if v, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return errors.New(leaf(v))
	}

	return err
}

// leaf is the first cause of a validation error, with its place.
func leaf(v *jsonschema.ValidationError) string {
	for len(v.Causes) > 0 {
		v = v.Causes[0]
	}

	return fmt.Sprintf(
		"at '/%s': %s",
		strings.Join(v.InstanceLocation, "/"),
		v.ErrorKind.LocalizedString(message.NewPrinter(language.English)),
	)
}

// sane reports whether every number is of a size that exact arithmetic can
// bear: 1e999999999 has ten characters and half a gigabyte.
func sane(value any) bool {
	switch v := value.(type) {
	case json.Number:
		_, power, has := strings.Cut(strings.ToLower(string(v)), "e")
		n, err := strconv.Atoi(power)

		return len(v) <= 300 && (!has || err == nil && -300 <= n && n <= 300)
	case []any:
		for _, item := range v {
			if !sane(item) {
				return false
			}
		}
	case map[string]any:
		for _, item := range v {
			if !sane(item) {
				return false
			}
		}
	}

	return true
}

// depth is how many arrays and objects lie in each other.
func depth(value any) int {
	deepest := 0

	switch v := value.(type) {
	case []any:
		for _, item := range v {
			deepest = max(deepest, depth(item))
		}
	case map[string]any:
		for _, item := range v {
			deepest = max(deepest, depth(item))
		}
	default:
		return 0
	}

	return deepest + 1
}

type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errRemote }

type counter struct {
	steps *int
	cost  int
}

func (c counter) Validate(*jsonschema.ValidatorContext, any) { take(c.steps, c.cost) }

type countedRegexp struct {
	pattern string
	re      *regexp.Regexp // nil matches everything
	steps   *int
}

func (r countedRegexp) String() string { return r.pattern }

func (r countedRegexp) MatchString(s string) bool {
	take(r.steps, 1+len(s)/bytesPerStep)
	return r.re == nil || r.re.MatchString(s)
}

func take(steps *int, n int) {
	if *steps -= n; *steps < 0 {
		panic(errTooManySub)
	}
}
