// Package train fits the models of package analysis to rated and labelled samples. The same samples give the same
// models.
package train

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

// dot returns the scalar product with dense weights.
func (r sparseRow) dot(w []float64) float64 {
	s := 0.0
	for k, f := range r.index {
		s += r.value[k] * w[f]
	}

	return s
}

// dot returns the scalar product of two vectors of one length.
func dot(a, b []float64) float64 {
	s := 0.0
	for i := range a {
		s += a[i] * b[i]
	}

	return s
}
