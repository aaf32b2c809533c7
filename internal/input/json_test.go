package input_test

import (
	"strings"
	"testing"

	"presswork"
	"presswork/internal/input"
)

type request struct {
	Content *string           `json:"content"`
	Count   int               `json:"count"`
	Options presswork.Options `json:"options"`
}

func TestDecodeFillsTheStruct(t *testing.T) {
	t.Parallel()
	var r request
	err := input.DecodeJSON([]byte(`{"content":"x","count":2,"options":{"toc":true,"pdf_a":"PDF/A-2u","keywords":"a, b","margins":{"top":"1in"},"landscape":false}} `), &r, "")
	if err != nil {
		t.Fatal(err)
	}
	o := r.Options
	if *r.Content != "x" || r.Count != 2 || *o.TOC != 3 || *o.PDFA != "2u" || len(o.Keywords) != 2 || o.Margins.Top != "1in" || *o.Landscape {
		t.Errorf("decoded %+v", r)
	}
}

func TestDecodeNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		code        presswork.Code
		param, says string
	}{
		`{`:                                 {presswork.InvalidJSON, "", "ends too early"},
		``:                                  {presswork.InvalidJSON, "", "empty"},
		`{"a" 1}`:                           {presswork.InvalidJSON, "", "byte"},
		`{} {}`:                             {presswork.InvalidJSON, "", "goes on"},
		`{} x`:                              {presswork.InvalidJSON, "", "goes on"},
		`[]`:                                {presswork.InvalidType, "", "an object"},
		`null`:                              {presswork.InvalidType, "", "an object"},
		`{"contnet":1}`:                     {presswork.UnknownField, "contnet", `did you mean "content"`},
		`{"Content":"x"}`:                   {presswork.UnknownField, "Content", `did you mean "content"`},
		`{"content":1}`:                     {presswork.InvalidType, "content", "a string"},
		`{"count":1.5}`:                     {presswork.InvalidType, "count", "a whole number"},
		`{"options":7}`:                     {presswork.InvalidType, "options", "an object"},
		`{"options":{"tocc":1}}`:            {presswork.UnknownField, "options.tocc", `did you mean "toc"`},
		`{"options":{"toc":"x"}}`:           {presswork.InvalidType, "options.toc", "heading level"},
		`{"options":{"margins":{"top":1}}}`: {presswork.InvalidType, "options.margins.top", "a string"},
	} {
		var r request
		err := input.DecodeJSON([]byte(body), &r, "")
		e := presswork.AsError(err)
		if e == nil || e.Code != want.code || e.Param != want.param || !strings.Contains(e.Message, want.says) {
			t.Errorf("%s: got %v (param %q), want %+v", body, err, e.Param, want)
		}
	}
}
