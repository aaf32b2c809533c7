package imagetype

import (
	"math"
	"slices"
	"strconv"
)

// areaOf returns roughly the area that a path encloses. It treats curves as lines. It returns 0 for a long path,
// which is not a background.
func areaOf(outline string) float64 {
	const longest = 1000 // bytes
	if len(outline) > longest {
		return 0
	}
	var twice float64 // the area, by the shoelace formula
	var x, y, startX, startY float64
	line := func(toX, toY float64) {
		twice += x*toY - toX*y
		x, y = toX, toY
	}

	for at, command := range commands().FindAllString(outline, -1) {
		kind, relative := command[0]&^0x20, command[0] >= 'a' // as a capital letter
		n := make([]float64, 0, 8)

		for _, text := range numbers().FindAllString(command, -1) {
			v, _ := strconv.ParseFloat(text, 64)
			n = append(n, v)
		}

		// Each command has groups of this many numbers. The last two of a group are the point where it ends.
		size := map[byte]int{'H': 1, 'V': 1, 'S': 4, 'Q': 4, 'C': 6, 'A': 7}[kind]
		if size == 0 {
			size = 2
		}

		if kind == 'M' || kind == 'Z' {
			line(startX, startY)
		}

		for i := 0; i+size <= len(n); i += size {
			end := slices.Clone(n[i+max(size-2, 0) : i+size])

			switch kind {
			case 'H':
				end = []float64{end[0], y}
			case 'V':
				end = []float64{x, end[0]}
			}

			if relative && kind != 'V' {
				end[0] += x
			}

			if relative && kind != 'H' {
				end[1] += y
			}

			if i == 0 && (kind == 'M' || at == 0) {
				x, y, startX, startY = end[0], end[1], end[0], end[1]
				continue
			}
			line(end[0], end[1])
		}
	}
	line(startX, startY)

	return math.Abs(twice) / 2
}
