package imagetype

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"presswork/internal/lazyregexp"
)

// styles are the rules in the style elements of an SVG.
type styles struct {
	classes map[string][]reference // from rules whose selector is one class
	all     []reference            // from rules with any other selector
	// selectors is the number of selectors that are not a single class. expensive is the number of those for which
	// a browser examines the neighbours of each element.
	selectors, expensive int
}

var (
	comment   = lazyregexp.New(`(?s)/\*.*?(\*/|$)`)
	cssEscape = lazyregexp.New(`\\([0-9A-Fa-f]{1,6})[ \t\r\n\f]?|\\(.)`)
	oneClass  = lazyregexp.New(`^\.[\w-]+$`)
	urlCall   = lazyregexp.New(`(?i)url\(\s*["']?\s*#([^"')]+)`)
	filter    = lazyregexp.New(
		`(?i)\b(?:blur|drop-shadow|brightness|contrast|grayscale|hue-rotate|invert|opacity|saturate|sepia)\(`,
	)
	dataURI = lazyregexp.New(`(?i)data:`)
	scaling = lazyregexp.New(`(?i)scale|matrix|skew|rotate|3d|perspective`)
)

// sheet reads the content of a style element. Errors: those of embedded.
func (d *drawing) sheet(css string) error {
	css = plainCSS(css)

	d.transformed = d.transformed || scaling().MatchString(css)
	for rule := range strings.SplitSeq(css, "}") {
		selectors, body, found := cutLast(rule, "{")
		if !found { // the brace is inside a string
			selectors, body = "*", rule
		}

		if i := strings.LastIndex(selectors, "{"); i >= 0 { // the selector is inside an at-rule
			selectors = selectors[i+1:]
		}
		var classes []string
		others := 0

		for s := range strings.SplitSeq(selectors, ",") {
			if s = strings.TrimSpace(s); oneClass().MatchString(s) {
				classes = append(classes, s[1:])
				continue
			}
			others++

			if strings.Contains(s, ":") || strings.Contains(s, "~") {
				d.style.expensive++
			}
		}
		d.style.selectors += others
		d.readDeclarations(body, func(r reference) {
			if others > 0 {
				d.style.all = append(d.style.all, r)
				return
			}

			for _, c := range classes {
				d.style.classes[c] = append(d.style.classes[c], r)
			}
		})
	}

	return d.embedded(css)
}

// cutLast cuts s around the last sep, as strings.Cut does around the first.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}

	return s[:i], s[i+len(sep):], true
}

// readDeclarations reads "property: value; …" and passes what the values refer to to refer. css must have neither
// comments nor escapes; see plainCSS.
func (d *drawing) readDeclarations(css string, refer func(reference)) {
	for declaration := range strings.SplitSeq(css, ";") {
		property, value, _ := strings.Cut(declaration, ":")
		switch property = strings.ToLower(strings.TrimSpace(property)); property {
		case "stroke-dasharray":
			d.dashed(value)
		case "transform", "scale", "zoom":
			d.transformed = d.transformed || property != "transform" || scaling().MatchString(value)
		}
		d.calls(value, refer)
	}
}

// calls passes the elements and filters that a value names to refer.
func (d *drawing) calls(value string, refer func(reference)) {
	if !strings.Contains(value, "(") {
		return
	}

	for _, m := range urlCall().FindAllStringSubmatch(value, -1) {
		refer(reference{id: strings.TrimSpace(m[1])})
	}

	if n := len(filter().FindAllStringIndex(value, -1)); n > 0 {
		refer(reference{filters: uint64(n)})
	}
}

// plainCSS removes comments and resolves escapes, which could hide references.
func plainCSS(css string) string {
	if strings.Contains(css, "/*") {
		css = comment().ReplaceAllString(css, " ")
	}

	if !strings.Contains(css, `\`) {
		return css
	}

	return cssEscape().ReplaceAllStringFunc(css, func(e string) string {
		if n, err := strconv.ParseUint(strings.TrimSpace(e[1:]), 16, 32); err == nil && utf8.ValidRune(rune(n)) {
			return string(rune(n))
		}

		return e[1:]
	})
}

// dashed records the period of a dashed line, if it is the shortest so far.
func (d *drawing) dashed(value string) {
	sum := 0.0

	for _, f := range numbers().FindAllString(value, -1) {
		n, _ := strconv.ParseFloat(f, 64) // a number out of range becomes infinite
		sum += math.Abs(n)
	}

	if sum > 0 && (d.dash == 0 || sum < d.dash) {
		d.dash = sum
	}
}

var (
	// numbers and commands match the numbers and the commands of path data.
	numbers  = lazyregexp.New(`[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?`)
	commands = lazyregexp.New(`[A-DF-Za-df-z][^A-DF-Za-df-z]*|^[^A-DF-Za-df-z]+`)
)

// lengthOf returns roughly the length of a path or of a polygon's outline. The result is too long rather than too
// short.
func lengthOf(path string) float64 {
	length, x, y := 0.0, 0.0, 0.0 // the last two numbers

	for _, command := range commands().FindAllString(path, -1) {
		kind := command[0]
		for _, text := range numbers().FindAllString(command, -1) {
			n, _ := strconv.ParseFloat(text, 64)

			switch {
			case kind >= 'a' && kind <= 'z': // relative
				length += math.Abs(n)
			case kind == 'A': // a radius: an arc is shorter than a circle
				length += 7 * math.Abs(n)
			case kind == 'H' || kind == 'V':
				length += math.Abs(n) + math.Abs(x)
			default:
				length += math.Abs(n - x)
			}
			x, y = y, n
		}
	}

	return length
}
