package audio

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
)

const (
	// hopSeconds is the step in the search for the quietest moment. pauseSeconds is the length of a pause between two
	// words.
	hopSeconds   = 0.02
	pauseSeconds = 0.3
	// cutRange is the largest distance of a cut from its planned time, as a share of the longest part.
	cutRange = 0.2
)

// cutTimes returns the times in seconds at which samples of 16 bits are cut, so that no part is longer than longest
// seconds. Each cut is in the middle of the quietest pause near the end of a part of equal length. The last time is
// the end of the samples.
func cutTimes(p pcm, longest float64) ([]float64, error) {
	var times []float64

	end := p.seconds()
	for begin := 0.0; end-begin > longest; {
		rest := end - begin
		// Plan parts of equal length below the limit, so that a cut may also move towards the end.
		even := rest / math.Ceil(rest/(longest*(1-cutRange/2)))

		earliest := begin + max(even-longest*cutRange, longest*cutRange)
		latest := begin + min(even+longest*cutRange, longest)

		next, err := quietest(p, earliest, latest)
		if err != nil {
			return nil, err
		}
		times = append(times, next)
		begin = next
	}

	return append(times, end), nil
}

// quietest returns the middle of the pause with the least energy between two times. Of equal pauses it returns the
// last, which gives the fewest parts.
func quietest(p pcm, from, to float64) (float64, error) {
	energies, err := energy(p, from, to)
	if err != nil {
		return 0, err
	}
	width := min(int(math.Round(pauseSeconds/hopSeconds)), len(energies))

	// Slide a window of one pause over the hops and keep the one with the smallest sum.
	sum, least, at := 0.0, math.Inf(1), 0
	for i, e := range energies {
		sum += e
		if i >= width {
			sum -= energies[i-width]
		}

		if i >= width-1 && sum <= least {
			least, at = sum, i-width+1
		}
	}

	return from + (float64(at)+float64(width)/2)*hopSeconds, nil
}

// energy returns the energy of each hop between two times, summed over all channels. Values are rounded, so that
// sums of equal values are equal.
func energy(p pcm, from, to float64) ([]float64, error) {
	begin, end := p.byteAt(from), p.byteAt(to)
	size := max(int64(hopSeconds*float64(p.rate)), 1) * p.blockBytes()
	r := io.NewSectionReader(p.r, p.offset+begin, end-begin)
	buf := make([]byte, size)
	var out []float64

	for {
		n, err := io.ReadFull(r, buf)
		if errors.Is(err, io.EOF) {
			break
		}

		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, err
		}
		var sum int64

		for i := 0; i+1 < n; i += 2 {
			v := int64(int16(binary.LittleEndian.Uint16(buf[i:])))
			sum += v * v
		}
		// The mean square of the samples; the last hop may be shorter than the others.
		out = append(out, float64(sum/max(int64(n)/2, 1)))
	}

	return out, nil
}
