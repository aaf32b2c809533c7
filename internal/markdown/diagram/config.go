package diagram

import (
	"fmt"
	"strconv"
	"strings"
)

// config returns the configuration of Mermaid. The directives in a diagram cannot change the keys in "secure".
func (s Style) config() map[string]any {
	s = s.withVisibleLines()

	return map[string]any{
		"startOnLoad":            false,
		"securityLevel":          "strict",
		"suppressErrorRendering": true,
		"maxTextSize":            MaxSource,
		"maxEdges":               1000,
		"htmlLabels":             false,
		"flowchart":              map[string]any{"htmlLabels": false, "curve": "basis", "padding": 12},
		"class":                  map[string]any{"htmlLabels": false},
		"state":                  map[string]any{"htmlLabels": false},
		"sequence": map[string]any{
			"useMaxWidth":       false,
			"actorFontFamily":   s.Font,
			"noteFontFamily":    s.Font,
			"messageFontFamily": s.Font,
		},
		"gantt": map[string]any{
			"useWidth":        640,
			"fontSize":        s.Size,
			"sectionFontSize": s.Size,
			"leftPadding":     100,
			"barHeight":       24,
			"barGap":          5,
		},
		"quadrantChart": map[string]any{"pointLabelFontSize": s.Size},
		"journey": map[string]any{
			"taskFontFamily": s.Font,
			"textPlacement":  "tspan",
			"taskFontSize":   s.Size + 4,
			"width":          130,
			"taskMargin":     12,
			"leftMargin":     110,
			"sectionColours": []string{s.Text},
			"actorColours":   s.Accents,
		},
		"timeline":         map[string]any{"leftMargin": 20},
		"c4":               s.c4(),
		"deterministicIds": true,
		"fontFamily":       s.Font,
		"fontSize":         s.Size,
		"theme":            "base",
		"themeVariables":   s.variables(),
		"secure": []string{
			"secure", "securityLevel", "startOnLoad", "suppressErrorRendering", "maxTextSize", "maxEdges",
			"htmlLabels", "themeCSS", "fontFamily", "altFontFamily", "deterministicIds", "dompurifyConfig",
		},
	}
}

// graph returns the style of Graphviz and D2 for draw.js. It has the default attributes of nodes and edges, the colours
// that a picture of Graphviz gets after the layout, and the palette of D2.
func (s Style) graph() map[string]any {
	s = s.withVisibleLines()

	return map[string]any{
		"text":   s.Text,
		"fill":   s.wash(0),
		"border": mix(s.accent(0), s.Text, 0.8),
		"line":   mix(s.Text, s.Page, 0.7),
		"group":  s.Line,
		"font":   s.Font,
		"size":   s.Size,
		// D2 has seven neutral colours (n), six of the first accent (b) and five of two others (aa, ab). It uses n1
		// to n3, b2 and aa2 for texts, n7 for the page, b1 for lines, and the others for areas.
		"palette": map[string]string{
			"n2":  s.Text,
			"n3":  s.Text,
			"n4":  mix(s.Text, s.Page, 0.2),
			"n5":  mix(s.Text, s.Page, 0.1),
			"n6":  mix(s.Text, s.Page, 0.05),
			"n7":  s.Page,
			"b1":  mix(s.accent(0), s.Text, 0.8),
			"b2":  s.Text,
			"b3":  s.wash(0),
			"b4":  s.tint(0, 0.08),
			"b5":  s.tint(0, 0.14),
			"b6":  s.wash(0),
			"aa2": s.Text,
			"aa4": s.wash(1),
			"aa5": s.wash(1),
			"ab4": s.wash(2),
			"ab5": s.wash(2),
		},
	}
}

// sheet returns a style sheet with the colours and sizes that the variables of Mermaid cannot set.
func (s Style) sheet() string {
	s = s.withVisibleLines()

	var branches strings.Builder
	for i := range 12 { // Mermaid draws branches in the fill of the nodes, and counts them from -1
		fmt.Fprintf(&branches, "[aria-roledescription=mindmap] .section-edge-%d { stroke: %s !important }\n",
			i-1, s.stroke(i))
		fmt.Fprintf(&branches, "[aria-roledescription=kanban] .cluster.section-%d rect { fill: %s !important }\n",
			i-1, s.wash(i))
	}

	return branches.String() + strings.NewReplacer("TEXT", s.Text, "LINE", s.Line, "PAGE", s.Page, "FACE", s.wash(2)).
		Replace(`
[aria-roledescription=gantt] .tick line { stroke: LINE !important }
[aria-roledescription=gantt] .tick { opacity: 1 !important }
[aria-roledescription=gantt] .tick text { font-size: 12px !important }
[aria-roledescription=c4] text[fill^="#4444"] { fill: TEXT }
[aria-roledescription=c4] [stroke^="#4444"] { stroke: LINE }
[aria-roledescription=gitGraph] .commit-cherry-pick[fill] { fill: PAGE !important }
[aria-roledescription=gitGraph] .commit-cherry-pick[stroke] { stroke: PAGE !important }
[aria-roledescription=journey] text { fill: TEXT !important }
[aria-roledescription=journey] rect:is(.task, .journey-section) { stroke: LINE }
[aria-roledescription=journey] .face { fill: FACE; stroke: TEXT }
.edgeLabel rect { fill: PAGE !important; opacity: 1 !important }
:is([aria-roledescription=timeline], [aria-roledescription=journey]) > text[font-size="4ex"] {
	font-size: 26px; font-weight: normal
}
`)
}

// c4 returns the colours of boxes in C4 diagrams. Mermaid always writes white text on them.
func (s Style) c4() map[string]any {
	colors := map[string]any{}

	for i, of := range []string{"person", "system", "container", "component"} {
		for _, shape := range []string{"", "_db", "_queue"} {
			colors[of+shape+"_bg_color"], colors[of+shape+"_border_color"] = darkened(s.accent(i)), s.Line
			colors["external_"+of+shape+"_bg_color"], colors["external_"+of+shape+"_border_color"] = "#686868", s.Line
		}
	}

	return colors
}

// variables returns the variables of Mermaid's theme "base": areas are washes with Text on them, borders are accents.
func (s Style) variables() map[string]any {
	border := mix(s.accent(0), s.Text, 0.8)

	v := map[string]any{
		"darkMode":                 s.Dark,
		"background":               s.Page,
		"fontFamily":               s.Font,
		"fontSize":                 strconv.Itoa(s.Size) + "px",
		"primaryColor":             s.wash(0),
		"primaryTextColor":         s.Text,
		"primaryBorderColor":       border,
		"secondaryColor":           s.wash(1),
		"secondaryTextColor":       s.Text,
		"secondaryBorderColor":     mix(s.accent(1), s.Text, 0.8),
		"tertiaryColor":            mix(s.Text, s.Page, 0.06),
		"tertiaryTextColor":        s.Text,
		"tertiaryBorderColor":      s.Line,
		"lineColor":                mix(s.Text, s.Page, 0.7),
		"textColor":                s.Text,
		"titleColor":               s.Text,
		"nodeTextColor":            s.Text,
		"mainBkg":                  s.wash(0),
		"nodeBorder":               border,
		"clusterBkg":               mix(s.Text, s.Page, 0.04),
		"clusterBorder":            s.Line,
		"edgeLabelBackground":      s.Page,
		"defaultLinkColor":         mix(s.Text, s.Page, 0.7),
		"noteBkgColor":             s.wash(2),
		"noteTextColor":            s.Text,
		"noteBorderColor":          s.stroke(2),
		"actorBkg":                 s.wash(0),
		"actorBorder":              border,
		"actorTextColor":           s.Text,
		"actorLineColor":           s.Line,
		"signalColor":              s.Text,
		"signalTextColor":          s.Text,
		"labelTextColor":           s.Text,
		"loopTextColor":            s.Text,
		"labelBoxBkgColor":         s.wash(1),
		"labelBoxBorderColor":      s.stroke(1),
		"activationBkgColor":       s.wash(1),
		"activationBorderColor":    s.stroke(1),
		"sequenceNumberColor":      s.Page,
		"labelColor":               s.Text,
		"altBackground":            mix(s.Text, s.Page, 0.05),
		"transitionLabelColor":     s.Text,
		"stateLabelColor":          s.Text,
		"specialStateColor":        s.Text,
		"innerEndBackground":       s.Text,
		"compositeBackground":      s.Page,
		"compositeTitleBackground": s.wash(0),
		"sectionBkgColor":          mix(s.accent(0), s.Page, 0.1),
		"altSectionBkgColor":       s.Page,
		"sectionBkgColor2":         mix(s.accent(1), s.Page, 0.1),
		"taskBkgColor":             s.wash(0),
		"taskBorderColor":          border,
		"taskTextColor":            s.Text,
		"taskTextDarkColor":        s.Text,
		"taskTextLightColor":       s.Text,
		"taskTextOutsideColor":     s.Text,
		"taskTextClickableColor":   s.Text,
		"activeTaskBkgColor":       s.wash(1),
		"activeTaskBorderColor":    s.stroke(1),
		"doneTaskBkgColor":         mix(s.Text, s.Page, 0.12),
		"doneTaskBorderColor":      s.Line,
		"critBkgColor":             s.wash(3),
		"critBorderColor":          s.stroke(3),
		"gridColor":                s.Line,
		"excludeBkgColor":          mix(s.Text, s.Page, 0.05),
		"pieTitleTextColor":        s.Text,
		"pieSectionTextColor":      s.Text,
		"pieLegendTextColor":       s.Text,
		"pieStrokeColor":           s.Page,
		"pieOuterStrokeColor":      s.Line,
		"pieOpacity":               "1",
		"pieTitleTextSize":         "18px",
		"pieSectionTextSize":       "14px",
		"pieLegendTextSize":        "14px",
		"packet": map[string]any{
			"startByteColor": s.Text, "endByteColor": s.Text, "labelColor": s.Text, "titleColor": s.Text,
			"blockStrokeColor": border, "blockFillColor": s.wash(0), "byteFontSize": "12px", "labelFontSize": "14px",
		},
		"radar": map[string]any{
			"axisColor":        mix(s.Text, s.Page, 0.5),
			"graticuleColor":   s.Text,
			"graticuleOpacity": 0.1,
		},
		"commitLabelFontSize":              "12px",
		"tagLabelFontSize":                 "12px",
		"commitLabelColor":                 s.Text,
		"commitLabelBackground":            mix(s.Text, s.Page, 0.06),
		"tagLabelColor":                    s.Text,
		"tagLabelBackground":               s.wash(1),
		"tagLabelBorder":                   s.stroke(1),
		"branchLabelColor":                 s.Page,
		"quadrantTitleFill":                s.Text,
		"quadrantPointFill":                s.stroke(0),
		"quadrantPointTextFill":            s.Text,
		"quadrantXAxisTextFill":            s.Text,
		"quadrantYAxisTextFill":            s.Text,
		"quadrantInternalBorderStrokeFill": mix(s.Text, s.Page, 0.4),
		"quadrantExternalBorderStrokeFill": mix(s.Text, s.Page, 0.4),
		"rowOdd":                           s.Page,
		"rowEven":                          mix(s.Text, s.Page, 0.05),
		"attributeBackgroundColorOdd":      s.Page,
		"attributeBackgroundColorEven":     mix(s.Text, s.Page, 0.05),
		"relationColor":                    s.Text,
		"relationLabelBackground":          s.Page,
		"relationLabelColor":               s.Text,
		"classText":                        s.Text,
		"errorTextColor":                   s.Text,
		"archEdgeColor":                    mix(s.Text, s.Page, 0.7),
		"archEdgeArrowColor":               mix(s.Text, s.Page, 0.7),
		"archGroupBorderColor":             mix(s.Text, s.Page, 0.5),
		"requirementBackground":            s.wash(0),
		"requirementBorderColor":           border,
		"requirementTextColor":             s.Text,
		"xyChart": map[string]any{
			"backgroundColor":  s.Page,
			"titleColor":       s.Text,
			"xAxisLabelColor":  s.Text,
			"xAxisTitleColor":  s.Text,
			"xAxisTickColor":   s.Line,
			"xAxisLineColor":   s.Line,
			"yAxisLabelColor":  s.Text,
			"yAxisTitleColor":  s.Text,
			"yAxisTickColor":   s.Line,
			"yAxisLineColor":   s.Line,
			"plotColorPalette": s.stroke(0) + "," + s.stroke(1) + "," + s.stroke(2),
		},
	}
	for i := range 4 {
		v[fmt.Sprintf("quadrant%dFill", i+1)] = mix(s.accent(i), s.Page, 0.12)
		v[fmt.Sprintf("quadrant%dTextFill", i+1)] = s.Text
	}

	for i := range 6 {
		v[fmt.Sprintf("actor%d", i)] = s.accent(i)
	}

	for i := range 8 {
		v[fmt.Sprintf("git%d", i)] = s.stroke(i)
		v[fmt.Sprintf("gitBranchLabel%d", i)] = contrasting(s.stroke(i))
		v[fmt.Sprintf("gitInv%d", i)] = s.Text
		v[fmt.Sprintf("fillType%d", i)] = s.wash(i)
	}

	for i := range 12 {
		v[fmt.Sprintf("pie%d", i+1)] = s.tint(i, 0.5-0.12*float64(i/len(s.Accents)%3))
		v[fmt.Sprintf("cScale%d", i)] = s.wash(i)
		v[fmt.Sprintf("cScalePeer%d", i)] = s.stroke(i)
		v[fmt.Sprintf("cScaleInv%d", i)] = s.stroke(i)
		v[fmt.Sprintf("cScaleLabel%d", i)] = s.Text
	}

	return v
}
