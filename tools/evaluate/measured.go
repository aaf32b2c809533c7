package evaluate

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"presswork/internal/analysis"
)

// MeasuredDocuments is the file of the features that the type weights were trained on, relative to the
// repository's root. It makes training repeatable without the documents.
const MeasuredDocuments = "tools/train/documents.txt"

// steps is the resolution of stored features: they are rounded to 1/steps.
const steps = 1000

// WriteMeasured writes the features of documents, one line each. A line has the type, a hash of the group, and the
// language if it is known. "feature:thousandths" follows for each feature that is not 0. A line "features VERSION
// COUNT" before the documents names the definition of the features and their number. Documents that were measured with
// an earlier definition follow after their own such line.
func WriteMeasured(w io.Writer, documents []Document) error {
	out := bufio.NewWriter(w)
	version := analysis.FeatureVersion()
	fmt.Fprintf(out, "features %s %d\n", version, len(analysis.DocumentFeatures(nil)))

	for _, d := range documents {
		if d.Version != "" && d.Version != version {
			version = d.Version
			fmt.Fprintf(out, "features %s %d\n", version, d.Known)
		}
		fmt.Fprintf(out, "%s %s", d.Type, groupHash(d.Group))

		if d.Language != "" {
			fmt.Fprintf(out, " %s", d.Language)
		}

		for i, v := range d.Features {
			if n := math.Round(v * steps); n > 0 {
				fmt.Fprintf(out, " %d:%.0f", i, n)
			}
		}
		fmt.Fprintln(out)
	}

	return out.Flush()
}

// hashLength is the length of a group's hash, in hexadecimal digits.
const hashLength = 16

// groupHash returns the hash by which documents.txt names a group: the beginning of the hash that Kept compares. A
// group that is a hash already is returned as it is.
func groupHash(group string) string {
	if isHash(group) {
		return group
	}

	return repositoryHash(group)[:hashLength]
}

// isHash reports whether a group was read from documents.txt.
func isHash(group string) bool {
	return strings.Trim(group, "0123456789abcdef") == "" && len(group) == hashLength
}

// ReadMeasured reads the output of WriteMeasured. The Version of each document names the definition of its features, of
// which it has the first Known. current is false if no document was measured with the present definition.
func ReadMeasured(r io.Reader) (documents []Document, current bool, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	width, version, known := len(analysis.DocumentFeatures(nil)), "", 0

	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 3 && fields[0] == "features" {
			if known, err = strconv.Atoi(fields[2]); err != nil || known < 1 || known > width {
				return nil, false, fmt.Errorf("line %d: want a number of features from 1 to %d", n, width)
			}
			version = fields[1]
			current = current || version == analysis.FeatureVersion()
			continue
		}

		if len(fields) < 2 || version == "" || !isHash(fields[1]) ||
			!slices.Contains(analysis.DocumentTypes(), fields[0]) {
			return nil, false, fmt.Errorf("line %d: want a document type, a group and features", n)
		}

		d := Document{
			Type:     fields[0],
			Group:    fields[1],
			Version:  version,
			Known:    known,
			Features: make([]float64, width),
		}
		if len(fields) > 2 && fields[2][0] >= 'a' {
			d.Language = fields[2]
			fields = fields[1:]
		}

		for _, pair := range fields[2:] {
			feature, value, _ := strings.Cut(pair, ":")
			i, errIndex := strconv.Atoi(feature)

			v, errValue := strconv.Atoi(value)
			if errIndex != nil || errValue != nil || i < 0 || i >= width || v < 0 || v > steps {
				return nil, false, fmt.Errorf(
					"line %d: %.40q: want FEATURE:VALUE with a feature below %d and a value of 0 to %d",
					n,
					pair,
					width,
					steps,
				)
			}
			d.Features[i] = float64(v) / steps
		}
		d.Bare = d.Features
		documents = append(documents, d)
	}

	return documents, current, lines.Err()
}
