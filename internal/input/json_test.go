package input_test

import (
	"encoding/json"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/input"
)

type request struct {
	Content *string           `json:"content"`
	Count   int               `json:"count"`
	Options presswork.Options `json:"options"`
	Headers map[string]string `json:"headers"`
	Names   []string          `json:"names"`
}

func TestDecodeFillsTheStruct(t *testing.T) {
	t.Parallel()
	var r request

	err := input.DecodeJSON(
		[]byte(
			`{"content":"x","count":2,"options":{"toc":true,"pdf_a":"PDF/A-2u","keywords":"a, b","margins":{"top":"1in"},"landscape":false}} `,
		),
		&r,
		"",
	)
	if err != nil {
		t.Fatal(err)
	}

	o := r.Options
	if *r.Content != "x" || r.Count != 2 || *o.TOC != 3 || *o.PDFA != "2u" || len(o.Keywords) != 2 ||
		o.Margins.Top != "1in" ||
		*o.Landscape {
		t.Errorf("decoded %+v", r)
	}
}

func TestDecodeErrorsNameTheField(t *testing.T) {
	t.Parallel()

	for body, want := range map[string]struct {
		code        fault.Code
		param, says string
	}{
		`{`:                       {fault.InvalidJSON, "", "ends too early"},
		``:                        {fault.InvalidJSON, "", "empty"},
		`{"a" 1}`:                 {fault.InvalidJSON, "", "byte"},
		`{} {}`:                   {fault.InvalidJSON, "", "more text after the object"},
		`{} x`:                    {fault.InvalidJSON, "", "more text after the object"},
		`[]`:                      {fault.InvalidType, "", "an object"},
		`null`:                    {fault.InvalidType, "", "an object"},
		`{"contnet":1}`:           {fault.UnknownField, "contnet", `did you mean "content"`},
		`{"Content":"x"}`:         {fault.UnknownField, "Content", `did you mean "content"`},
		`{"content":1}`:           {fault.InvalidType, "content", "a string"},
		`{"count":1.5}`:           {fault.InvalidType, "count", "a whole number"},
		`{"options":7}`:           {fault.InvalidType, "options", "an object"},
		`{"options":{"tocc":1}}`:  {fault.UnknownField, "options.tocc", `did you mean "toc"`},
		`{"options":{"toc":"x"}}`: {fault.InvalidType, "options.toc", "heading level"},
		`{"headers":{"X":1}}`:     {fault.InvalidType, "headers", "an object of strings"},
		`{"names":["a",1]}`:       {fault.InvalidType, "names", "a list of strings"},
		`{"count":1,"count":1}`:   {fault.InvalidJSON, "count", "more than once"},
		`{"content":"\\\":{","count":1,"c\u006funt":2}`:    {fault.InvalidJSON, "count", "more than once"},
		`{"options":{"toc":true,"lang":"de","toc":false}}`: {fault.InvalidJSON, "options.toc", "more than once"},
		`{"options":{"margins":{"top":1}}}`:                {fault.InvalidType, "options.margins.top", "a string"},
	} {
		t.Run(body, func(t *testing.T) {
			var r request
			err := input.DecodeJSON([]byte(body), &r, "")

			e := fault.AsError(err)
			if e == nil || e.Code != want.code || e.Param != want.param || !strings.Contains(e.Message, want.says) {
				t.Errorf("%s: got %v (param %q), want %+v", body, err, e.Param, want)
			}
		})
	}
}

func TestOptionsReadTheirShortForms(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		`{"toc":true}`:          `{"toc":3}`,
		`{"toc":false}`:         `{"toc":0}`,
		`{"toc":5}`:             `{"toc":5}`,
		`{"pdf_a":true}`:        `{"pdf_a":"2b"}`,
		`{"pdf_a":"PDF/A-2u"}`:  `{"pdf_a":"2u"}`,
		`{"pdf_a":"pdfa-3b"}`:   `{"pdf_a":"3b"}`,
		`{"keywords":"a, ,b "}`: `{"keywords":["a","b"]}`,
		`{"keywords":["a"]}`:    `{"keywords":["a"]}`,
	} {
		t.Run(text, func(t *testing.T) {
			var o presswork.Options
			if err := input.DecodeJSON([]byte(text), &o, ""); err != nil {
				t.Errorf("%s: %v", text, err)
				return
			}

			if got, _ := json.Marshal(o); string(got) != want {
				t.Errorf("%s: got %s, want %s", text, got, want)
			}
		})
	}

	for _, text := range []string{`{"toc":"x"}`, `{"pdf_a":2}`, `{"keywords":1}`} {
		t.Run(text, func(t *testing.T) {
			if err := input.DecodeJSON([]byte(text), new(presswork.Options), ""); err == nil {
				t.Errorf("%s: no error", text)
			}
		})
	}
}
