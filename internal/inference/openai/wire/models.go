package wire

import (
	"strconv"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
)

// AppendModels appends the list of GET /v1/models.
func AppendModels(dst []byte, models []*inference.Model) []byte {
	dst = append(dst, `{"object":"list","data":[`...)

	for i, m := range models {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendModel(dst, m)
	}

	return append(dst, "]}"...)
}

// AppendModel appends one model of the list. An unknown context_window or max_completion_tokens is null. Without a
// price, the field price is left out.
func AppendModel(dst []byte, m *inference.Model) []byte {
	dst = jsonbody.AppendString(append(dst, `{"id":`...), m.ID)
	dst = strconv.AppendInt(append(dst, `,"object":"model","created":`...), m.Created.Unix(), 10)
	dst = jsonbody.AppendString(append(dst, `,"owned_by":`...), m.OwnedBy)
	dst = appendCount(append(dst, `,"active":true,"context_window":`...), m.ContextWindow)
	dst = appendCount(append(dst, `,"public_apps":null,"max_completion_tokens":`...), m.MaxCompletionTokens)
	dst = append(dst, `,"capabilities":[`...)

	for i, capability := range m.Capabilities {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonbody.AppendString(dst, capability)
	}

	dst = append(dst, ']')
	if m.Price != (inference.Price{}) {
		dst = strconv.AppendFloat(append(dst, `,"price":{"input_per_m":`...), m.Price.InputPerM, 'f', -1, 64)
		dst = strconv.AppendFloat(append(dst, `,"output_per_m":`...), m.Price.OutputPerM, 'f', -1, 64)
		dst = append(dst, '}')
	}

	return append(dst, '}')
}

// appendCount writes a number, or null for 0.
func appendCount(dst []byte, n int) []byte {
	if n == 0 {
		return append(dst, "null"...)
	}

	return strconv.AppendInt(dst, int64(n), 10)
}
