package openai

import (
	"slices"
	"testing"

	"presswork/internal/inference"
)

func TestVectorsAreReadFromEveryForm(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct {
		body string
		want []float32 // the numbers of all vectors; nil if the answer is rejected
	}{
		"base64":                  {`{"data":[{"embedding":"AACAPwAAAEA="},{"embedding":"AABAQAAAgEA="}]}`, []float32{1, 2, 3, 4}},
		"spaces before the value": {`{"data":[{"embedding" : [1]},{"embedding": ` + "\n" + ` "AAAAQA=="}]}`, []float32{1, 2}},
		"escaped base64":          {`{"data":[{"embedding":"\u0041ACAPw=="},{"embedding":"AAAAQA=="}]}`, []float32{1, 2}},
		"numbers":                 {`{"data":[{"embedding":[1,2]}]}`, []float32{1, 2}},
		"the key in a text":       {`{"note":"\"embedding\":\"x","data":[{"embedding":"AACAPw=="}]}`, []float32{1}},
		"the key elsewhere":       {`{"meta":{"embedding":"AAAAQA=="},"data":[{"embedding":"AACAPw=="}]}`, []float32{1}},
		"empty":                   {`{"data":[{"embedding":""}]}`, nil},
		"half a number":           {`{"data":[{"embedding":"AACA"}]}`, nil},
		"a line end":              {"{\"data\":[{\"embedding\":\"AACA\nPw==\"}]}", nil},
		"not base64":              {`{"data":[{"embedding":"AACAP<=="}]}`, nil},
		"not finite":              {`{"data":[{"embedding":"AADAfw=="}]}`, nil},
		"no end":                  {`{"data":[{"embedding":"AACAPw==`, nil},
		"an object":               {`{"data":[{"embedding":{}}]}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []float32

			answer, err := readEmbeddings([]byte(row.body))
			for i := 0; err == nil && i < len(answer.Data); i++ {
				var v inference.Vector

				if v, err = readVector(answer.Data[i].Embedding); err == nil {
					numbers, _ := v.Numbers()
					got = append(got, numbers...)

					if v.Len() != len(numbers) {
						t.Errorf("Len is %d, want %d", v.Len(), len(numbers))
					}
				}
			}

			if (err != nil) != (row.want == nil) || row.want != nil && !slices.Equal(got, row.want) {
				t.Errorf("got %v, %v; want %v", got, err, row.want)
			}
		})
	}
}
