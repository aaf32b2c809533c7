package edit

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"presswork/internal/pdffile"
)

// pair is an entry of a name tree or a number tree (ISO 32000-2, 7.9.6 and 7.9.7).
type pair struct{ key, value []byte }

// maxPairs limits the entries of one tree. A page of a dense table has 1 000 tags.
const maxPairs = 4_000_000

// readTree returns the entries of a tree in their order. kind is "Names" or "Nums". It skips damaged parts, and ends at
// maxPairs.
func readTree(f *pdffile.File, root []byte, kind string) (pairs []pair) {
	seen := map[int]bool{}

	for todo := [][]byte{root}; len(todo) > 0 && len(pairs) < maxPairs; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]

		if n, ok := pdffile.Reference(at); ok {
			if seen[n] {
				continue
			}
			seen[n] = true
		}
		node := dictOf(f, at)
		entries := arrayOf(f, node.Get(kind))

		for ; len(entries) > 1; entries = entries[2:] {
			pairs = append(pairs, pair{resolve(f, entries[0]), entries[1]})
		}

		for _, kid := range slices.Backward(arrayOf(f, node.Get("Kids"))) {
			todo = append(todo, kid)
		}
	}

	return pairs
}

// numbered returns the entries of a number tree by key, without those whose key is not a small number.
func numbered(f *pdffile.File, root []byte) map[int][]byte {
	values := map[int][]byte{}

	for _, p := range readTree(f, root, "Nums") {
		if n, err := strconv.Atoi(string(p.key)); err == nil && n >= 0 && n < maxPairs {
			values[n] = p.value
		}
	}

	return values
}

// addTree adds a tree with the entries and returns its object number. It sorts name trees; number trees must be
// sorted.
func addTree(f *pdffile.File, pairs []pair, kind string) int {
	if kind == "Names" {
		slices.SortStableFunc(pairs, func(a, b pair) int {
			return bytes.Compare(pdffile.StringBytes(a.key), pdffile.StringBytes(b.key))
		})
	}
	const perLeaf = 500 // entries; readers read a whole leaf to find one
	var kids []string

	for leaf := range slices.Chunk(pairs, perLeaf) {
		var b bytes.Buffer
		for _, p := range leaf {
			fmt.Fprintf(&b, "%s %s ", p.key, p.value)
		}
		content := bytes.TrimSuffix(b.Bytes(), []byte(" "))

		if len(pairs) <= perLeaf {
			return f.Add(fmt.Appendf(nil, "<</%s [%s]>>", kind, content))
		}
		// Readers search the leaves by their limits, so a leaf of a large tree states its first and last key.
		kids = append(kids, pdffile.RefTo(f.Add(fmt.Appendf(nil, "<</Limits [%s %s]\n/%s [%s]>>",
			leaf[0].key, leaf[len(leaf)-1].key, kind, content))))
	}

	return f.Add(fmt.Appendf(nil, "<</Kids %s>>", kids))
}

// sortedPairs returns the entries of a number tree in their order.
func sortedPairs(values map[int][]byte) []pair {
	keys := make([]int, 0, len(values))
	for k := range values {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, cmp.Compare[int])
	pairs := make([]pair, len(keys))

	for i, k := range keys {
		pairs[i] = pair{[]byte(strconv.Itoa(k)), values[k]}
	}

	return pairs
}
