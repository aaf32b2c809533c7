package schema

import (
	"errors"
	"regexp"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A few lines of $ref and anyOf may take a validator 2^60 steps, so steps are counted.
const (
	// A text may take baseSteps steps, and one more for each of its bytes.
	baseSteps = 20_000
	// valuesPerStep values of an enum count as one step, because the validator compares each of them several times. The
	// same is true of bytesPerStep bytes under a pattern.
	valuesPerStep = 100
	bytesPerStep  = 4
)

// errTooManySteps ends a validation that takes more steps than the text may take.
var errTooManySteps = errors.New("the schema takes too many steps to check")

// apply validates a value in at most the given number of steps.
func (s *Schema) apply(value any, steps int) (err error) {
	*s.steps = steps

	defer func() {
		if r := recover(); r != nil {
			if r != any(errTooManySteps) {
				panic(r)
			}
			err = errTooManySteps
		}
	}()

	return s.compiled.Validate(value)
}

// countSteps returns a vocabulary that counts the steps of every schema and subschema.
func countSteps(steps *int) *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL: "urn:presswork:steps",
		Compile: func(_ *jsonschema.CompilerContext, object map[string]any) (jsonschema.SchemaExt, error) {
			if object["dependentSchemas"] != nil || object["dependencies"] != nil {
				return nil, errDependent
			}
			enum, _ := object["enum"].([]any)

			return counter{steps, 1 + len(enum)/valuesPerStep}, nil
		},
	}
}

// counter counts the cost of one subschema.
type counter struct {
	steps *int
	cost  int
}

// Validate implements jsonschema.SchemaExt.
func (c counter) Validate(*jsonschema.ValidatorContext, any) { useSteps(c.steps, c.cost) }

// countedRegexp is a pattern that counts the text it searches.
type countedRegexp struct {
	pattern string
	re      *regexp.Regexp // nil matches everything
	steps   *int
}

// String and MatchString implement jsonschema.Regexp.
func (r countedRegexp) String() string { return r.pattern }

func (r countedRegexp) MatchString(s string) bool {
	useSteps(r.steps, 1+len(s)/bytesPerStep)
	return r.re == nil || r.re.MatchString(s)
}

// useSteps subtracts n from the remaining steps. It panics with errTooManySteps if there are fewer: the validator has
// no other way to stop, and apply recovers.
func useSteps(steps *int, n int) {
	if *steps -= n; *steps < 0 {
		panic(errTooManySteps)
	}
}
