package recommend

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"presswork/internal/analysis"
)

//go:embed data/themes.txt
var themeData string

// The attributes by which the looks of themes and documents are compared, 0 to 1.
const (
	lookFormality = iota
	lookEnergy
	lookWarmth
	lookDarkness
	lookPlayfulness
	lookOrnament
	lookCount
)

// look describes the appearance of a theme, one value per attribute. A negative value means that the attribute
// does not matter.
type look [lookCount]float64

// typeRule lists the themes that a document type may have and those that it must not have.
type typeRule struct {
	name          string
	print         bool    // documents of this type are usually printed
	voice         float64 // weight of the tone, 0 to 1
	accept, never []string
	// neverDark excludes every dark theme.
	neverDark bool
	// first holds, by tone or formality, the themes to put first.
	first map[string][]string
}

// toneRule lists the themes that express a tone.
type toneRule struct {
	name   string
	wants  look
	accept []string
}

// topicRule lists the themes that are made for a topic, and the words that indicate the topic.
type topicRule struct {
	name          string
	accept, words []string
}

// Rules choose themes by data/themes.txt. They are immutable and safe for
// concurrent use.
type Rules struct {
	looks    map[string]look     // by theme
	types    []typeRule          // in the order of analysis.DocumentTypes
	families map[string][]string // the types of each family
	tones    map[string]toneRule // by tone
	topics   []topicRule
}

// parseRules reads the data. Errors name the line.
func parseRules(data string) (*Rules, error) {
	p := ruleParser{
		rules: &Rules{looks: map[string]look{}, families: map[string][]string{}, tones: map[string]toneRule{}},
		types: map[string]*typeRule{},
	}

	for i, line := range strings.Split(data, "\n") {
		if line = strings.TrimRight(line, " "); line == "" || strings.HasPrefix(line, "#") {
			continue
		}

		read := p.entry
		if strings.HasPrefix(line, " ") {
			read = p.detail
		}

		if err := read(strings.Fields(line)); err != nil {
			return nil, fmt.Errorf("data/themes.txt:%d: %w", i+1, err)
		}
	}

	for _, name := range analysis.DocumentTypes() {
		t := p.types[name]
		if t == nil {
			return nil, fmt.Errorf("data/themes.txt: type %s is missing", name)
		}
		p.rules.types = append(p.rules.types, *t)
	}

	return p.rules, nil
}

// ruleParser holds the current entry. Indented lines belong to it.
type ruleParser struct {
	rules *Rules
	types map[string]*typeRule

	kind, name string
}

// entry parses a line that starts an entry.
func (p *ruleParser) entry(words []string) error {
	if len(words) < 2 {
		return fmt.Errorf("%q has no name", words[0])
	}
	p.kind, p.name = words[0], words[1]
	values := words[2:]

	switch p.kind {
	case "theme":
		look, err := parseLook(values)
		p.rules.looks[p.name] = look

		return err
	case "type":
		if len(values) != 2 || !slices.Contains(analysis.DocumentTypes(), p.name) {
			return fmt.Errorf("type %s: want a document type, print or screen, and a number", p.name)
		}
		voice, err := strconv.ParseFloat(values[1], 64)
		p.types[p.name] = &typeRule{
			name:  p.name,
			print: values[0] == "print",
			voice: voice / 10,
			first: map[string][]string{},
		}

		return err
	case "family":
		p.rules.families[p.name] = values
		return nil
	case "tone":
		wants, err := parseLook(values)
		p.rules.tones[p.name] = toneRule{name: p.name, wants: wants}

		return err
	case "topic":
		p.rules.topics = append(p.rules.topics, topicRule{name: p.name})
		return nil
	}

	return fmt.Errorf("%q is not known", p.kind)
}

// detail parses an indented line, which belongs to the current entry.
func (p *ruleParser) detail(words []string) error {
	key, values := words[0], words[1:]
	switch {
	case p.kind == "type":
		return p.types[p.name].detail(key, values)
	case p.kind == "tone" && key == "accept":
		t := p.rules.tones[p.name]
		t.accept = values
		p.rules.tones[p.name] = t

		return nil
	case p.kind == "topic" && key == "accept":
		p.rules.topics[len(p.rules.topics)-1].accept = values
		return nil
	case p.kind == "topic" && key == "words":
		p.rules.topics[len(p.rules.topics)-1].words = values
		return nil
	}

	return fmt.Errorf("%q does not belong to a %s", key, p.kind)
}

// detail parses a line of the entry of a type.
func (t *typeRule) detail(key string, values []string) error {
	switch key {
	case "accept":
		t.accept = values
	case "never":
		t.never = values
		t.neverDark = slices.Contains(values, darkWord)
	default:
		if !slices.Contains(analysis.Tones(), key) && !slices.Contains(formalities, key) {
			return fmt.Errorf("%q is neither a tone nor a formality", key)
		}
		t.first[key] = values
	}

	return nil
}

// darkWord means every dark theme in a list of excluded themes. It is also the name of a theme and of a tone.
const darkWord = "dark"

// parseLook parses one number from 0 to 10 for each attribute, or "-" for one that does not matter.
func parseLook(words []string) (a look, err error) {
	if len(words) != lookCount {
		return a, fmt.Errorf("want %d attributes, not %d", lookCount, len(words))
	}

	for i, word := range words {
		if word == "-" {
			a[i] = -1
			continue
		}

		v, err := strconv.ParseFloat(word, 64)
		if err != nil || v < 0 || v > 10 {
			return a, fmt.Errorf("%q is not a number from 0 to 10", word)
		}
		a[i] = v / 10
	}

	return a, nil
}
