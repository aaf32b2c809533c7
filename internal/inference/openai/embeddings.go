package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"

	"presswork/internal/inference"
	"presswork/internal/inference/upstream"
)

// embeddings is the answer of an upstream to one batch.
type embeddings struct {
	Data []struct {
		Index     *int            `json:"index"`
		Embedding json.RawMessage `json:"embedding"`
	} `json:"data"`
	Usage tokenUsage      `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// readEmbeddings decodes an answer. Nearly all of it is base64, which encoding/json would read several times. So the
// vectors are cut out first, and what remains is decoded. Errors are *inference.Error.
func readEmbeddings(b []byte) (*embeddings, error) {
	short, cut := cutVectors(b)

	var answer embeddings
	if err := decodeAnswer(short, &answer); err != nil {
		return nil, err
	}
	used := 0

	for i := range answer.Data {
		if string(answer.Data[i].Embedding) == emptyString && used < len(cut) {
			answer.Data[i].Embedding = cut[used]
			used++
		}
	}

	if used == len(cut) {
		return &answer, nil
	}

	// Another object has a field of this name, so the order says nothing.
	answer = embeddings{}

	return &answer, decodeAnswer(b, &answer)
}

const (
	vectorKey   = `"embedding":`
	emptyString = `""`
)

// cutVectors returns JSON in which each embedding that is a string without escapes is the empty string, and these
// strings in their order, with their quotes. It needs no parser: within a JSON string each quote has a backslash, so
// vectorKey is always a key.
func cutVectors(b []byte) (short []byte, cut []json.RawMessage) {
	for {
		before, after, found := bytes.Cut(b, []byte(vectorKey))
		if !found {
			return append(short, b...), cut
		}
		value := bytes.TrimLeft(after, " \t\r\n")
		short = append(append(short, before...), vectorKey...)
		b = value

		if len(value) == 0 || value[0] != '"' {
			continue
		}

		end := bytes.IndexByte(value[1:], '"')
		if end < 0 || bytes.IndexByte(value[:end+1], '\\') >= 0 {
			continue
		}
		short = append(short, emptyString...)
		cut = append(cut, json.RawMessage(value[:end+2]))
		b = value[end+2:]
	}
}

// readBase64 decodes a JSON string in base64.
func readBase64(value json.RawMessage) (decoded []byte, err error) {
	if bytes.IndexByte(value, '\\') >= 0 {
		err = json.Unmarshal(value, &decoded)
		return decoded, err
	}

	return base64.StdEncoding.AppendDecode(nil, value[1:len(value)-1])
}

// readVector reads a vector from a list of numbers, or from the base64 of float32 in little-endian order.
func readVector(value json.RawMessage) ([]byte, error) {
	var vector []byte

	if len(value) > 0 && value[0] == '"' {
		var err error
		if vector, err = readBase64(value); err != nil || len(vector)%4 != 0 {
			return nil, upstream.Unreadable("a vector is not the base64 of 32-bit numbers")
		}
	} else {
		var numbers []float32
		if err := json.Unmarshal(value, &numbers); err != nil {
			return nil, upstream.Unreadable("a vector is not a list of numbers").WithCause(err)
		}
		vector = make([]byte, 0, 4*len(numbers))

		for _, f := range numbers {
			vector = binary.LittleEndian.AppendUint32(vector, math.Float32bits(f))
		}
	}

	if n := len(vector) / 4; n == 0 || n > inference.MaxDimensions {
		return nil, upstream.Unreadable("a vector has " + strconv.Itoa(n) + " numbers")
	}

	for i := 0; i < len(vector); i += 4 {
		if f := float64(numberAt(vector, i)); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, upstream.Unreadable("a vector has a number that is not finite")
		}
	}

	return vector, nil
}

// numberAt returns the number that begins at a byte of a vector.
func numberAt(vector []byte, at int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(vector[at:]))
}
