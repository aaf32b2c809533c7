package messages

import (
	"encoding/json"

	"presswork/internal/inference/jsonbody"
)

// pageCitation is a citation of a page that a built-in tool has found.
type pageCitation struct {
	Type      string `json:"type"`
	URL       string `json:"url"`
	Title     string `json:"title"`
	CitedText string `json:"cited_text"`
	Index     string `json:"encrypted_index"`
}

// readExtra returns what the answer needs of the other fields of a chunk: the text of a refusal, and citations. Those
// of an upstream that speaks the Messages API pass unchanged.
func readExtra(extra json.RawMessage) (refusal string, cited []json.RawMessage) {
	if len(extra) <= 2 {
		return "", nil
	}

	var fields struct {
		Refusal     string            `json:"refusal"`
		Citations   []json.RawMessage `json:"citations"`
		Annotations []struct {
			Citation struct {
				URL   string `json:"url"`
				Title string `json:"title"`
			} `json:"url_citation"`
		} `json:"annotations"`
	}
	_ = json.Unmarshal(extra, &fields) // fields of unexpected types are left out

	for _, c := range fields.Citations {
		if isCitation(c) {
			cited = append(cited, oneLine(c))
		}
	}

	for _, a := range fields.Annotations {
		if a.Citation.URL != "" {
			b, _ := json.Marshal(pageCitation{
				Type: "web_search_result_location", URL: a.Citation.URL, Title: a.Citation.Title,
			}) // a struct of strings
			cited = append(cited, b)
		}
	}

	return fields.Refusal, cited
}

// isCitation reports whether a value is a citation of the Messages API. Other vendors send addresses in the same field.
func isCitation(value json.RawMessage) bool {
	var err error
	o := jsonbody.New(value, "", &err)

	return err == nil && o.Str("type") != "" && o.Has("cited_text")
}

// addCited adds citations to the last block of text.
func (w *Writer) addCited(cited []json.RawMessage) {
	for i := len(w.blocks) - 1; i >= 0 && len(cited) > 0; i-- {
		if b := w.blocks[i]; b.kind == textBlock {
			if !b.done {
				b.cited = append(b.cited, cited...)
			}

			return
		}
	}
}
