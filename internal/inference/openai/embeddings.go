package openai

import (
	"bytes"
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

// cutVectors replaces each embedding that is a string without escapes by the empty string. It returns the replaced
// strings in their order, with their quotes. It needs no parser: within a JSON string each quote has a backslash, so
// vectorKey is always the end of a key. readEmbeddings finds keys that only end so by the number of vectors.
func cutVectors(b []byte) (short []byte, cut []json.RawMessage) {
	for {
		before, after, found := bytes.Cut(b, []byte(vectorKey))
		if !found {
			return append(short, b...), cut
		}
		value := bytes.TrimLeft(after, " \t\r\n")
		short = append(append(short, before...), vectorKey...)
		b = value

		// A vector as a list of numbers stays in the text.
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

// readVector reads a vector from a list of numbers or from its base64.
func readVector(value json.RawMessage) (v inference.Vector, err error) {
	var numbers []float32

	if len(value) > 0 && value[0] == '"' {
		if v, err = readBase64(value); err == nil {
			numbers, err = v.Numbers()
		}

		if err != nil {
			return "", upstream.Unreadable("a vector is not the base64 of 32-bit numbers").WithCause(err)
		}
	} else {
		if err := json.Unmarshal(value, &numbers); err != nil {
			return "", upstream.Unreadable("a vector is not a list of numbers").WithCause(err)
		}
		b := make([]byte, 0, 4*len(numbers))

		for _, f := range numbers {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
		}
		v = inference.NewVector(b)
	}

	if n := len(numbers); n == 0 || n > inference.MaxDimensions {
		return "", upstream.Unreadable("a vector has " + strconv.Itoa(n) + " numbers")
	}

	for _, f := range numbers {
		// JSON has no such numbers, but base64 can hold them.
		if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
			return "", upstream.Unreadable("a vector has a number that is not finite")
		}
	}

	return v, nil
}

// readBase64 returns the text of a JSON string.
func readBase64(value json.RawMessage) (v inference.Vector, err error) {
	if bytes.IndexByte(value, '\\') >= 0 {
		err = json.Unmarshal(value, &v)
		return v, err
	}

	return inference.Vector(value[1 : len(value)-1]), nil
}
