package evaluate

import (
	"bufio"
	"fmt"
	"hash/fnv"
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

// WriteMeasured writes the features of documents, one line each. A line has the type, a number for the group, and
// "feature:thousandths" for each feature that is not 0. The first line names the version of the features.
func WriteMeasured(w io.Writer, documents []Document) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "features %s\n", analysis.FeatureVersion())

	for _, d := range documents {
		group := fnv.New32a()
		group.Write([]byte(d.Group))
		fmt.Fprintf(out, "%s %d", d.Type, group.Sum32())

		for i, v := range d.Features {
			if n := math.Round(v * steps); n > 0 {
				fmt.Fprintf(out, " %d:%.0f", i, n)
			}
		}
		fmt.Fprintln(out)
	}

	return out.Flush()
}

// ReadMeasured reads the output of WriteMeasured. current is false if the definition of the features has changed
// since the file was written.
func ReadMeasured(r io.Reader) (documents []Document, current bool, err error) {
	lines := bufio.NewScanner(r)
	width := len(analysis.DocumentFeatures(nil))

	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 || n > 1 && !slices.Contains(analysis.DocumentTypes(), fields[0]) {
			return nil, false, fmt.Errorf("line %d: want a document type, a group and features", n)
		}

		if n == 1 {
			current = fields[1] == analysis.FeatureVersion()
			continue
		}

		d := Document{Type: fields[0], Group: fields[1], Features: make([]float64, width)}
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
