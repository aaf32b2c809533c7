package analysis

import (
	"math"
)

// sparseRow is one sample: the indexes of its features and their values.
type sparseRow struct {
	index []int32
	value []float64
}

func (r *sparseRow) add(index int, value float64) {
	r.index = append(r.index, int32(index))
	r.value = append(r.value, value)
}

// fitRidge returns the weights w that minimize Σ(x·w − y)² + Σ penalty·w², by
// conjugate gradients. penalty has one entry for each feature; the same input
// gives the same weights.
func fitRidge(rows []sparseRow, y, penalty []float64) []float64 {
	const rounds, tolerance = 200, 1e-8
	n := len(penalty)
	w, residual, direction, product := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i, row := range rows {
		for k, f := range row.index {
			residual[f] += row.value[k] * y[i]
		}
	}
	copy(direction, residual)
	norm := dot(residual, residual)
	for start, round := norm, 0; round < rounds && norm > tolerance*start && norm > 0; round++ {
		for f := range product {
			product[f] = penalty[f] * direction[f]
		}
		for _, row := range rows {
			s := row.dot(direction)
			for k, f := range row.index {
				product[f] += row.value[k] * s
			}
		}
		step := norm / dot(direction, product)
		for f := range w {
			w[f] += step * direction[f]
			residual[f] -= step * product[f]
		}
		next := dot(residual, residual)
		for f := range direction {
			direction[f] = residual[f] + next/norm*direction[f]
		}
		norm = next
	}
	return w
}

func (r sparseRow) dot(w []float64) float64 {
	s := 0.0
	for k, f := range r.index {
		s += r.value[k] * w[f]
	}
	return s
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

// Correlation is Pearson's r of two series of the same length, 0 where one does
// not vary.
func Correlation(a, b []float64) float64 {
	n := float64(len(a))
	var sa, sb, saa, sbb, sab float64
	for i := range a {
		sa, sb = sa+a[i], sb+b[i]
		saa, sbb, sab = saa+a[i]*a[i], sbb+b[i]*b[i], sab+a[i]*b[i]
	}
	d := math.Sqrt((n*saa - sa*sa) * (n*sbb - sb*sb))
	if d == 0 || math.IsNaN(d) {
		return 0
	}
	return (n*sab - sa*sb) / d
}
