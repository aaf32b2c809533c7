package imagetype_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"presswork/internal/imagetype"
)

const svgHead = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="200" height="200">`

// nestedUses returns elements l1, l2 … and a reference to the last. Each element draws the one before it ten times.
// wrap formats an element from its level and content. use formats a reference from the level that it refers to.
func nestedUses(levels int, wrap, use string) string {
	var b strings.Builder
	b.WriteString(`<defs><g id="l0"><rect width="2" height="2"/></g>`)

	for i := range levels {
		fmt.Fprintf(&b, wrap, i+1, strings.Repeat(fmt.Sprintf(use, i), 10))
	}

	return b.String() + "</defs>" + fmt.Sprintf(use, levels)
}

func TestWorkFollowsReferences(t *testing.T) {
	t.Parallel()
	const group, use = `<g id="l%d">%s</g>`, `<use href="#l%d"/>`
	bomb := nestedUses(8, group, use)

	many := func(n int, part string) string { return strings.Repeat(part, n) }
	for name, body := range map[string]string{
		"use":              bomb,
		"xlink:href":       nestedUses(8, group, `<use xlink:href="#l%d"/>`),
		"a prefix":         `<s:g xmlns:s="http://www.w3.org/2000/svg">` + nestedUses(8, `<s:g id="l%d">%s</s:g>`, `<s:use href="#l%d"/>`) + `</s:g>`,
		"a reference":      nestedUses(8, group, `<use href="&#35;l%d"/>`),
		"set":              nestedUses(8, group, `<use><set attributeName="href" to="#l%d"/></use>`),
		"symbols":          nestedUses(8, `<symbol id="l%d">%s</symbol>`, use),
		"patterns":         nestedUses(8, `<pattern id="l%d" width=".1" height=".1">%s</pattern>`, `<rect width="9" height="9" fill="url(#l%d)"/>`),
		"by style":         nestedUses(8, `<pattern id="l%d" width=".1" height=".1">%s</pattern>`, `<rect width="9" height="9" style="fill:/**/u\72l('#l%d')"/>`),
		"inherited":        `<pattern id="p" width="1" height="1">` + many(500, `<rect/>`) + `</pattern><g fill="url(#p)">` + many(500, `<rect/>`) + `</g>`,
		"clip paths":       nestedUses(8, `<clipPath id="l%d">%s</clipPath>`, `<rect width="9" height="9" clip-path="url(#l%d)"/>`),
		"masks":            nestedUses(8, `<mask id="l%d">%s</mask>`, `<rect width="9" height="9" mask="url(#l%d)"/>`),
		"feImage":          nestedUses(8, `<filter id="l%d">%s</filter>`, `<feImage href="#l%d"/>`),
		"markers":          `<marker id="m">` + many(100, `<rect/>`) + `</marker><path marker-mid="url(#m)" d="M0 0` + many(10_000, "L1 1") + `"/>`,
		"an image inside":  `<image href="data:image/svg+xml;base64,` + base64.StdEncoding.EncodeToString([]byte(svgHead+bomb+"</svg>")) + `"/>`,
		"filters":          `<filter id="f"><feGaussianBlur stdDeviation="5"/></filter>` + many(1000, `<rect filter="url(#f)"/>`),
		"a long filter":    `<filter id="f">` + many(1000, `<feGaussianBlur stdDeviation="5"/>`) + `</filter><rect filter="url(#f)"/>`,
		"filters by class": `<style>.a<!-- -->{fil<![CDATA[ter:url(#f)}]]></style><filter id="f"><feTurbulence/></filter>` + many(1000, `<rect class="b a"/>`),
		"filters by name":  `<style>@media all{g>rect{content:"}";filter:url(#f)}}</style><filter id="f"><feTurbulence/></filter>` + many(1000, `<rect/>`),
		"CSS filters":      `<style>rect{filter:blur(5px)}</style>` + many(1000, `<rect/>`),
		"mask":             `<mask id="m"><rect/></mask>` + many(2000, `<rect mask="url(#m)"/>`),
		"dashes":           many(20, `<path d="M0 0H1e6" stroke="red" stroke-dasharray=".1"/>`),
		"inherited dashes": `<g style="stroke-dasharray:.1">` + many(20, `<line x2="100000"/>`) + `</g>`,
		"elements":         many(130_000, `<g/>`),
		"path data":        `<path d="` + many(2_500_000, "M0 0") + `"/>`,
		"text":             `<text>` + many(400_000, "text ") + `</text>`,
		"selectors":        `<style>` + many(300, `g:has(rect:nth-child(1)) ~ g{fill:red}`) + `</style>` + many(5000, `<g><rect/></g>`),
		"Latin 1":          "<!-- \xe9 -->" + bomb,
	} {
		t.Run(name, func(t *testing.T) {
			work, err := imagetype.Work([]byte(svgHead+body+"</svg>"), "image/svg+xml", false)
			if err != nil || work <= imagetype.MaxWork {
				t.Errorf("Work = %d, %v; want more than %d", work, err, imagetype.MaxWork)
			}
		})
	}

	for name, svg := range map[string]string{
		"attribute defaults": `<!DOCTYPE svg [<!ATTLIST rect filter CDATA "url(#f)">]>` + svgHead + `</svg>`,
		"style sheet":        `<?xml-stylesheet type="text/css" href="data:text/css,rect{}"?>` + svgHead + `</svg>`,
		"import":             svgHead + `<style>@\69mport "\64 ata:text/css,rect{}";</style></svg>`,
		"depth":              svgHead + strings.Repeat("<g>", 2000) + strings.Repeat("</g>", 2000) + `</svg>`,
		"chain":              svgHead + useChain(5000) + `</svg>`,
		"no end":             svgHead + `<g`,
		"an animation": svgHead + `<image href="data:image/gif;base64,` +
			base64.StdEncoding.EncodeToString(animatedGIF(t, imagetype.MaxFrames+1)) + `"/></svg>`,
	} {
		t.Run(name, func(t *testing.T) {
			if work, err := imagetype.Work([]byte(svg), "image/svg+xml", false); err == nil {
				t.Errorf("Work = %d, want an error", work)
			}
		})
	}
}

// useChain returns n groups of which each uses the next.
func useChain(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `<g id="c%d"><use href="#c%d"/></g>`, i, i+1)
	}

	return b.String()
}

// TestWorkIsMeasuredInLinearTime has content that is cheap to write, so measuring it must be cheap.
func TestWorkIsMeasuredInLinearTime(t *testing.T) {
	t.Parallel()

	many := func(n int, part string) string { return strings.Repeat(part, n) }
	for name, body := range map[string]string{
		"addresses in one attribute": `<g x="` + many(200_000, "data:,a ") + `"/>`,
		"addresses in a sheet":       `<style>` + many(200_000, "data:,a ") + `</style>`,
		"rules and elements":         `<style>` + many(50_000, `g>*{fill:url(#a)}`) + `</style>` + many(100_000, `<g/>`),
		"classes":                    `<style>` + many(50_000, `.a{fill:url(#a)}`) + `</style><g class="` + many(100_000, "a ") + `"/>`,
	} {
		t.Run(name, func(t *testing.T) {
			work, err := imagetype.Work([]byte(svgHead+body+"</svg>"), "image/svg+xml", false)
			if err == nil && work <= imagetype.MaxWork {
				t.Errorf("Work = %d, want an error or more than %d", work, imagetype.MaxWork)
			}
		})
	}

	frames := many(10, `data:image/png;base64,AAAA;`)

	_, err := imagetype.Work(
		[]byte(svgHead+`<image><animate attributeName="href" values="`+frames+`"/></image></svg>`),
		"image/svg+xml",
		false,
	)
	if err != nil {
		t.Errorf("frames: %v", err)
	}
}

// TestWorkOfOrdinaryImages has drawings as programs and libraries write them. They are far below MaxWork.
func TestWorkOfOrdinaryImages(t *testing.T) {
	t.Parallel()
	var scatter, figma, atlas, chart strings.Builder
	scatter.WriteString(
		`<style>*{stroke-linejoin: round; stroke-linecap: butt}</style><defs><path id="m" d="M0 3C.8 3 1.6 2.7 2 2z" style="stroke:#1f77b4"/><clipPath id="c"><rect width="357" height="266"/></clipPath></defs><g clip-path="url(#c)">`,
	)

	for i := range 10_000 {
		fmt.Fprintf(&scatter, `<use xlink:href="#m" x="%d" y="%d" style="fill:#1f77b4;stroke:#1f77b4"/>`, i%300, i%200)
	}
	scatter.WriteString(`</g>`)

	for i := range 40 {
		fmt.Fprintf(
			&figma,
			`<g filter="url(#f%[1]d)"><rect x="%[1]d" width="120" height="60" fill="url(#g%[1]d)"/></g><defs><filter id="f%[1]d" x="%[1]d" y="2" width="140" height="80" filterUnits="userSpaceOnUse"><feFlood/><feColorMatrix in="SourceAlpha"/><feOffset dy="4"/><feGaussianBlur stdDeviation="2"/><feColorMatrix/><feBlend/><feBlend/></filter><linearGradient id="g%[1]d"><stop/><stop offset="1"/></linearGradient></defs>`,
			i,
		)
	}
	atlas.WriteString(`<style>.land{fill:#ddd;stroke:#fff}.b{stroke-dasharray:3 2}#x .c:hover{fill:red}</style>`)

	for range 3000 {
		atlas.WriteString(
			`<path class="land" d="M` + strings.Repeat(" 120.5 80.25L121 82.5", 30) + `z"/><path class="b" d="m10 10` +
				strings.Repeat("l1.5-2", 30) + `"/>`,
		)
	}

	for i := range 40 {
		fmt.Fprintf(&chart, `<line x1="0" x2="800" y1="%d" y2="%d" stroke-dasharray="3"/><text>%d</text>`, i*10,
			i*10, i)
	}

	for name, svg := range map[string]string{
		"matplotlib": `<svg xmlns:xlink="x" width="460.8pt" height="345.6pt" viewBox="0 0 460.8 345.6">` + scatter.String(),
		"Figma":      `<svg width="1440" height="900" viewBox="0 0 1440 900">` + figma.String(),
		"a map":      `<svg viewBox="0 0 2000 1000">` + atlas.String(),
		"a chart":    `<svg width="800" height="400">` + chart.String(),
		"shadows":    `<svg width="600" height="400"><filter id="s"><feDropShadow dx="2"/></filter>` + strings.Repeat(`<rect filter="url(#s)"/>`, 12),
		"draw.io":    `<svg width="600" height="400">` + strings.Repeat(`<switch><foreignObject style="overflow: visible;" width="100%" height="100%"><div xmlns="http://www.w3.org/1999/xhtml" style="display: flex">Text</div></foreignObject><text x="1">Text</text></switch>`, 500),
		"a photo":    `<svg width="600" height="400"><image href="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"/>`,
		"recursion":  svgHead + `<g id="a"><use href="#a"/></g>`,
	} {
		t.Run(name, func(t *testing.T) {
			work, err := imagetype.Work([]byte(svg+"</svg>"), "image/svg+xml", false)
			t.Logf("Work = %d", work)

			if err != nil || work == 0 || work > imagetype.MaxWork*3/4 {
				t.Errorf("Work = %d, %v; want at most three quarters of %d", work, err, imagetype.MaxWork)
			}
		})
	}
}

func FuzzWork(f *testing.F) {
	for _, seed := range []string{
		nestedUses(3, `<g id="l%d">%s</g>`, `<use href="#l%d"/>`), nestedUses(2, `<pattern id="l%d">%s</pattern>`, `<rect fill="url(#l%d)"/>`),
		`<style>.a,b:not(c){fill:url(#a)}@media x{d{filter:blur(1px)}}</style><g class="a" id="a"/>`, `<path d="M0 0h1e400A1,2-3.5e-2z" stroke-dasharray="1e-300"/>`,
		`<image href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E"/>`, `<set attributeName="fill" to="url(#a)"/>`, `<style>\`, `<style>}{}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, inside string) {
		for _, svg := range []string{svgHead + inside + "</svg>", inside} {
			work, err := imagetype.Work([]byte(svg), "image/svg+xml", false)
			if err != nil {
				continue
			}
			imagetype.DarkOnTransparent([]byte(svg), new(uint64))

			if imagetype.Whole([]byte(svg), "image/svg+xml") == nil && work < uint64(strings.Count(svg, "<g/>")) {
				t.Errorf("Work(%q) = %d, want one or more for each element", svg, work)
			}
			// Scaling an image must not reduce its work.
			if scaled, err := imagetype.Work([]byte(svg), "image/svg+xml", true); err != nil || scaled < work {
				t.Errorf("Work(%q) = %d, scaled %d, %v; want at least the same when scaled", svg, work, scaled, err)
			}
		}
	})
}
