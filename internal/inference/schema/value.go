package schema

import (
	"encoding/json"
	"strconv"
	"strings"
)

// numbersBounded reports whether every number has at most 300 digits. The validator calculates exactly: 1e999999999 has
// eleven characters and takes half a gigabyte.
func numbersBounded(value any) bool {
	switch v := value.(type) {
	case json.Number:
		_, power, has := strings.Cut(strings.ToLower(string(v)), "e")
		n, err := strconv.Atoi(power)

		// Larger numbers or exponents would take long to compare exactly.
		return len(v) <= 300 && (!has || err == nil && -300 <= n && n <= 300)
	case []any:
		for _, item := range v {
			if !numbersBounded(item) {
				return false
			}
		}
	case map[string]any:
		for _, item := range v {
			if !numbersBounded(item) {
				return false
			}
		}
	}

	return true
}

// depth returns how many levels of arrays and objects a value has.
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
