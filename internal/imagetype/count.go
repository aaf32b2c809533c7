package imagetype

import (
	"math"
	"strconv"
	"strings"
)

// measure computes what needs the whole document: the image's size, and the references that style sheets add to
// elements. It returns false if those are more than maxStyled. scaled is that of Work: the image may fill a page.
func (d *drawing) measure(scaled bool) bool {
	if d.box == 0 {
		d.box = d.area
	}

	if d.area == 0 || scaled {
		d.area = pagePixels
	}
	d.area = min(max(d.area, leastPixels), pagePixels)

	styled := 0
	for _, e := range d.elements {
		styled += len(d.style.all)
		for _, class := range e.classes {
			styled += len(d.style.classes[class])
		}

		if styled > maxStyled {
			return false
		}

		for _, class := range e.classes {
			e.refs = append(e.refs, d.style.classes[class]...)
		}

		e.refs = append(e.refs, d.style.all...)
		if d.dash > 0 {
			e.own = add(e.own, uint64(min((e.sides+lengthOf(e.path))/d.dash, maxDashes))/dashes)
		}
	}

	return true
}

// count returns the work of the whole drawing, with all references followed.
func (d *drawing) count() (uint64, error) {
	n := uint64(len(d.elements))
	total := add(d.inner, add(mul(uint64(d.style.selectors), n)/100, mul(uint64(d.style.expensive), n)/10))
	drawn, err := d.total(d.root, 0)

	return add(total, drawn), err
}

// total returns the work of an element and everything that it draws. A reference from an element to itself adds
// nothing, because browsers do not draw it.
func (d *drawing) total(e *element, depth int) (uint64, error) {
	if e.state != 0 {
		return e.total, nil
	}

	if depth > 2*MaxDepth {
		return 0, ErrDeep
	}
	e.state = 1

	sum := e.own
	for _, c := range e.children {
		n, err := d.total(c, depth+1)
		if err != nil {
			return 0, err
		}
		sum = add(sum, n)
	}

	within := sum // work of everything that inherits the element's properties
	for _, r := range e.refs {
		n, err := d.reference(e, r, within, depth)
		if err != nil {
			return 0, err
		}

		sum = add(sum, n)
		if t := d.ids[r.id]; t != nil && e.name == "use" {
			within = add(within, t.total)
		}
	}
	e.total, e.state = sum, 2

	return sum, nil
}

// reference returns the work of one reference of e. within is the work of e and everything in it.
func (d *drawing) reference(e *element, r reference, within uint64, depth int) (uint64, error) {
	extra := mul(d.layer(nil), r.filters)

	target := d.ids[r.id]
	if target == nil || strings.HasSuffix(target.name, "Gradient") {
		return extra, nil
	}

	n, err := d.total(target, depth+1)
	switch target.name {
	case "pattern":
		n = mul(n, within)
	case "marker":
		vertices := uint64(len(e.path))
		if len(e.children) > 0 || e.name == "use" {
			vertices = d.geometry
		}
		n = mul(n, add(within, vertices/4))
	case "filter":
		n = add(n, mul(d.layer(target), steps(target)))
	case "mask":
		n = add(n, d.layer(target)/2)
	}

	return add(n, extra), err
}

// layer returns the work of one layer of pixels. If e is a filter or a mask, the layer has the size of its region. e
// may be nil.
func (d *drawing) layer(e *element) uint64 {
	area := d.area
	if e != nil && e.region > 0 && d.box > 0 && !d.transformed {
		area *= min(e.region/d.box, 1)
	}

	return layerWork + uint64(area/layerArea)
}

// steps returns the work of a filter's primitives. Those that only move or mix pixels count a quarter.
func steps(filter *element) uint64 {
	quarters := uint64(0)

	for _, c := range filter.children {
		switch c.name {
		case "feFlood", "feOffset", "feBlend", "feColorMatrix", "feComposite", "feMerge", "feComponentTransfer":
			quarters++
		default:
			quarters += 4
		}
	}

	return (quarters + 3) / 4
}

// add returns a + b, or the largest number if the sum overflows.
func add(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}

	return a + b
}

// mul returns a * b, or the largest number if the product overflows.
func mul(a, b uint64) uint64 {
	if a > 0 && b > math.MaxUint64/a {
		return math.MaxUint64
	}

	return a * b
}

// number reads a number of pixels; it returns 0 for anything else.
func number(s string) float64 {
	f, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(s), "px"), 64)
	if err != nil || !(f > 0) || math.IsInf(f, 0) {
		return 0
	}

	return f
}
