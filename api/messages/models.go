package messages

import (
	"time"

	"presswork/internal/inference"
)

// AppendModels appends the body of GET /v1/models in the form of the Messages API to dst. The list has one page.
func AppendModels(dst []byte, models []*inference.Model) []byte {
	dst = append(dst, `{"data":[`...)
	first, last := "", ""

	for i, m := range models {
		if i == 0 {
			first = m.ID
		} else {
			dst = append(dst, ',')
		}
		dst, last = AppendModel(dst, m), m.ID
	}
	dst = appendStringOrNull(append(dst, `],"has_more":false,"first_id":`...), first)
	dst = appendStringOrNull(append(dst, `,"last_id":`...), last)

	return append(dst, '}')
}

// AppendModel appends the body that describes a model to dst.
func AppendModel(dst []byte, m *inference.Model) []byte {
	dst = appendString(append(dst, `{"type":"model","id":`...), m.ID)
	dst = appendString(append(dst, `,"display_name":`...), m.ID)
	dst = appendString(append(dst, `,"created_at":`...), m.Created.UTC().Format(time.RFC3339))
	dst = append(dst, `,"lifecycle":"active"`...)

	if m.ContextWindow > 0 {
		dst = appendNumber(dst, `,"max_input_tokens":`, m.ContextWindow)
	}

	if m.MaxCompletionTokens > 0 {
		dst = appendNumber(dst, `,"max_tokens":`, m.MaxCompletionTokens)
	}

	return append(dst, '}')
}
