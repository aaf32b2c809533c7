package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"presswork/internal/inference/schema"
)

func TestHostileSchemasFailWithinTheirLimits(t *testing.T) {
	t.Parallel()
	// A validator that follows all references of these forty levels takes 2^40 steps.
	var defs []string
	for i := range 40 {
		defs = append(defs, fmt.Sprintf(`"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1))
	}
	bomb := `{"$ref":"#/$defs/d0","$defs":{` + strings.Join(defs, ",") + `,"d40":{"type":"string"}}}`
	patterns := `{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","patternProperties":{"x":{"$ref":"#/$defs/a"},"^x":{"$ref":"#/$defs/a"},"x$":{"$ref":"#/$defs/a"}}}}}`

	deep := strings.Repeat(`{"x":`, 30) + "1" + strings.Repeat("}", 30)
	for name, test := range map[string]struct {
		schema, text string
		says         string // in the error; "" for any error, "none" for no error
	}{
		"references":  {bomb, `7`, "too many steps"},
		"patterns":    {patterns, deep, "too many steps"},
		"negated":     {strings.Replace(patterns, `{"$ref":"#/$defs/a",`, `{"not":{"$ref":"#/$defs/a"},`, 1), deep, "too many steps"},
		"remote":      {`{"$ref":"https://example.com/s.json"}`, `1`, "another document"},
		"file":        {`{"$ref":"file:///etc/passwd"}`, `1`, "another document"},
		"meta":        {`{"$schema":"https://example.com/meta"}`, `1`, "another document"},
		"dependent":   {`{"dependentSchemas":{"a":{}}}`, `1`, "not supported"},
		"number":      {`{"minimum":1}`, `1e999999999`, "300 digits"},
		"tiny":        {`{"minimum":1}`, `1e-999999999`, "300 digits"},
		"zero":        {`{"minimum":1}`, `0e999999999`, "300 digits"},
		"in schema":   {`{"multipleOf":1e-99999999}`, `1`, "300 digits"},
		"cycle":       {`{"$ref":"#"}`, `1`, ""},
		"size":        {`{"description":"` + strings.Repeat("x", 300<<10) + `"}`, `1`, "bytes"},
		"deep":        {strings.Repeat(`{"properties":{"a":`, 4000) + "{}" + strings.Repeat("}}", 4000), `1`, "100 levels"},
		"enums":       {`{"items":{"enum":[` + strings.Repeat(`"a",`, 40_000) + `"b"]}}`, `["b"` + strings.Repeat(`,"b"`, 30_000) + `]`, "too many steps"},
		"long enum":   {`{"items":{"enum":[` + strings.Repeat(`"a",`, 1000) + `"b"]}}`, `["b"` + strings.Repeat(`,"b"`, 2000) + `]`, "none"},
		"searches":    {`{"allOf":[` + strings.Repeat(`{"pattern":"x.*y.*z"},`, 1000) + `{}]}`, `"xyz` + strings.Repeat("a", 1<<20) + `"`, "too many steps"},
		"a search":    {`{"pattern":"x.*y.*z"}`, `"xyz` + strings.Repeat("a", 1<<20) + `"`, "none"},
		"look-ahead":  {`{"pattern":"^(?!a)b"}`, `"zzz"`, "none"},
		"a property":  {`{"properties":{"dependentSchemas":{"type":"integer"}}}`, `{"dependentSchemas":1}`, "none"},
		"wrong value": {`{"properties":{"a":{"properties":{"b":{"type":"integer"}}}}}`, `{"a":{"b":"x"}}`, "at '/a/b': got string, want integer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s, err := schema.Compile([]byte(test.schema))
			if err == nil {
				err = s.Validate(test.text)
			}

			if test.says == "none" {
				if err != nil {
					t.Errorf("got %v, want no error", err)
				}

				return
			}

			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want an error with %q", err, test.says)
			}
		})
	}
}

func TestRecursionWithoutProgressIsRejected(t *testing.T) {
	t.Parallel()

	for text, valid := range map[string]bool{
		`{"type":"object","properties":{"next":{"$ref":"#"}},"required":["value"]}`:         true,
		`{"anyOf":[{"type":"null"},{"type":"object","additionalProperties":{"$ref":"#"}}]}`: true,
		`{"$ref":"#"}`: false,
		`{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"$ref":"#/$defs/a"}}}`: false,
	} {
		t.Run(text, func(t *testing.T) {
			if err := schema.Check([]byte(text)); (err == nil) != valid {
				t.Errorf("Check(%s) = %v, want valid: %v", text, err, valid)
			}
		})
	}
}
