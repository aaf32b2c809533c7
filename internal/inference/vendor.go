package inference

import (
	"encoding/json"
	"slices"

	"presswork/internal/lazyregexp"
)

// vendorFields has the fields of requests that the servers of a kind know, beyond those of Request, and their names
// there. Fields that change what a server does for other clients are not in it.
var vendorFields = map[string]map[string]string{
	LlamaServer: {
		"top_k": "top_k", "min_p": "min_p", "typical_p": "typical_p", "top_n_sigma": "top_n_sigma",
		"repetition_penalty": "repeat_penalty", "repeat_penalty": "repeat_penalty", "repeat_last_n": "repeat_last_n",
		"xtc_probability": "xtc_probability", "xtc_threshold": "xtc_threshold",
		"dry_multiplier": "dry_multiplier", "dry_base": "dry_base", "dry_allowed_length": "dry_allowed_length",
		"mirostat": "mirostat", "mirostat_tau": "mirostat_tau", "mirostat_eta": "mirostat_eta",
	},
	VLLM: {
		"top_k": "top_k", "min_p": "min_p", "repetition_penalty": "repetition_penalty",
		"repeat_penalty": "repetition_penalty", "min_tokens": "min_tokens", "bad_words": "bad_words",
		"stop_token_ids": "stop_token_ids", "include_stop_str_in_output": "include_stop_str_in_output",
		"skip_special_tokens": "skip_special_tokens", "cache_salt": "cache_salt", "documents": "documents",
	},
	Groq: {
		"documents": "documents", "search_settings": "search_settings", "citation_options": "citation_options",
		"compound_custom": "compound_custom", "include_domains": "include_domains",
		"exclude_domains": "exclude_domains",
	},
	OpenAI: {
		"prompt_cache_key": "prompt_cache_key", "prompt_cache_retention": "prompt_cache_retention",
		"safety_identifier": "safety_identifier", "verbosity": "verbosity", "prediction": "prediction",
		"web_search_options": "web_search_options",
	},
	Anthropic: {"top_k": "top_k", "cache_control": "cache_control"},
}

// translated are fields of the Messages API that the parser also translates, so that every upstream gets their meaning.
var translated = []string{"thinking", "output_config", "output_format", "metadata"}

// VendorFields returns the names of all fields that some kind of upstream knows, sorted.
func VendorFields() []string {
	var all []string

	for _, fields := range vendorFields {
		for name := range fields {
			all = append(all, name)
		}
	}
	slices.Sort(all)

	return slices.Compact(all)
}

// KeepVendorFields returns the fields of a body that some kind of upstream knows, nil if there are none.
func KeepVendorFields(body map[string]json.RawMessage) map[string]json.RawMessage {
	return keepFields(body, isVendorField)
}

// messageField matches the names of fields that are kept of a request in the Messages API.
var messageField = lazyregexp.New(`^[a-z][a-z0-9_]{0,63}$`)

// KeepMessageFields returns the fields of a body of the Messages API without those that the parser reads. Its vendor
// adds fields often, and its servers are to get all of them.
func KeepMessageFields(body map[string]json.RawMessage, read ...string) map[string]json.RawMessage {
	return keepFields(body, func(name string) bool {
		return messageField().MatchString(name) && !slices.Contains(read, name)
	})
}

// SetField sets a field of Fields.
func (r *Request) SetField(name string, value json.RawMessage) {
	if r.Fields == nil {
		r.Fields = map[string]json.RawMessage{}
	}
	r.Fields[name] = value
}

// keepFields returns the fields of a body whose names keep selects, without null. It returns nil if there are none.
func keepFields(body map[string]json.RawMessage, keep func(string) bool) map[string]json.RawMessage {
	var kept map[string]json.RawMessage

	for name, value := range body {
		if !keep(name) || string(value) == "null" {
			continue
		}

		if kept == nil {
			kept = map[string]json.RawMessage{}
		}
		kept[name] = value
	}

	return kept
}

// isVendorField reports whether some kind of upstream knows the field.
func isVendorField(name string) bool {
	for _, fields := range vendorFields {
		if fields[name] != "" {
			return true
		}
	}

	return false
}

// FieldName returns the name that a field of Request.Fields has at the upstream, "" if the upstream does not know it.
// Fields of no table are those of the Messages API.
func (u *Upstream) FieldName(name string) string {
	switch there := vendorFields[u.Kind][name]; {
	case there != "":
		return there
	case slices.Contains(u.Fields, name), u.Kind == Anthropic && !isVendorField(name):
		return name
	}

	return ""
}

// Ignores returns the fields of Request.Fields that the upstream does not know, sorted.
func (u *Upstream) Ignores(r *Request) []string {
	var names []string

	for name := range r.Fields {
		if u.FieldName(name) == "" && !slices.Contains(translated, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)

	return names
}

// AppendFields returns a JSON object with the fields of Request.Fields that the upstream knows added at its end. It may
// overwrite object. The error is that of encoding/json, for a value that is not JSON.
func (u *Upstream) AppendFields(object []byte, r *Request) ([]byte, error) {
	known := map[string]json.RawMessage{}

	for name, value := range r.Fields {
		if there := u.FieldName(name); there != "" {
			known[there] = value
		}
	}

	return AppendMembers(object, known)
}

// AppendMembers returns a JSON object with more members at its end, in the order of their names. None of them may be in
// the object, whose bytes it may overwrite. The error is that of encoding/json, for a value that is not JSON.
func AppendMembers(object []byte, more map[string]json.RawMessage) ([]byte, error) {
	if len(more) == 0 {
		return object, nil
	}

	b, err := json.Marshal(more)
	if err != nil {
		return nil, err
	}

	object = object[:len(object)-1]
	if len(object) > 1 {
		object = append(object, ',')
	}

	return append(object, b[1:]...), nil
}
