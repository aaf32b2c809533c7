package analysis

import (
	"slices"
	"strings"
)

// stem merges singular and plural of a phrase's last word.
func stem(phrase string) string {
	ends := func(suffixes ...string) bool {
		return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(phrase, s) })
	}
	switch {
	case len(phrase) < 4:
		return phrase
	case ends("children"):
		return strings.TrimSuffix(phrase, "ren")
	case ends("women", "men"):
		return phrase[:len(phrase)-2] + "an"
	case len(phrase) > 5 && ends("ies"):
		return phrase[:len(phrase)-3] + "y"
	case len(phrase) > 5 && ends("ie"): // of "cookies"
		return phrase[:len(phrase)-2] + "y"
	case len(phrase) > 5 && ends("sses", "xes", "ches", "shes"):
		return phrase[:len(phrase)-2]
	case ends("s") && !ends("ss", "us", "is"):
		return phrase[:len(phrase)-1]
	}

	return phrase
}

// participle distinguishes verb forms that stand alone, "adjusted" and "running",
// from names of things that are called so: in a heading, or again and again.
func participle(word string, p *nominee) bool {
	const named = 4

	return len(word) > 5 && !p.headed &&
		(strings.HasSuffix(word, "ed") || strings.HasSuffix(word, "ing") && p.count < named)
}

// genericHeading finds headings that name a part of any document.
func genericHeading(text string) bool {
	return genericHeadings[strings.ToLower(strings.Trim(text, " :.0123456789"))]
}

var genericHeadings = wordSet(
	`introduction|overview|summary|conclusion|conclusions|background|installation|usage|license|licence|
contributing|references|acknowledgements|
acknowledgments|table of contents|contents|features|requirements|getting started|faq|appendix|notes|examples|
example|changelog|abstract|discussion|results|methods|
ingredients|directions|instructions|agenda|attendees|action items|next steps|experience|education|skills|
motivation|drawbacks|alternatives|unresolved questions|
einleitung|zusammenfassung|fazit|inhalt|résumé|introducción|resumen|conclusión`,
)

// weakWords are words of English prose that are no topic though no function words.
var weakWords = wordSet(
	`use|used|using|uses|make|makes|made|making|example|examples|thing|things|lot|lots|way|ways|people|person|
time|times|year|years|month|months|day|
days|week|weeks|today|first|second|third|last|next|new|old|good|better|best|great|big|small|large|long|short|
high|low|different|important|possible|available|able|sure|
really|actually|simply|currently|already|always|never|often|sometimes|usually|maybe|perhaps|please|thank|thanks|
dear|sincerely|regards|hello|hi|yes|okay|ok|need|needs|needed|
want|wants|wanted|know|known|think|thought|say|says|said|tell|told|go|goes|going|went|come|comes|came|take|
takes|took|taken|give|gives|given|gave|get|gets|getting|got|put|
keep|find|found|look|looking|looked|seem|seems|seemed|help|work|works|working|worked|run|runs|running|add|added|
adding|set|sets|setting|change|changed|changes|provide|provides|
provided|include|includes|including|included|allow|allows|follow|following|follows|based|called|call|calls|one|
two|three|four|five|six|seven|eight|nine|ten|part|parts|number|
section|see|show|shows|shown|read|write|written|start|started|end|note|case|cases|point|kind|type|something|
anything|nothing|everything|someone|anyone|everyone|
january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|
thursday|friday|saturday|sunday|
either|neither|myself|yourself|himself|herself|itself|oneself|ourselves|yourselves|themselves|thy|thee|thou|
thine|ye|hath|doth|unto|upon|whom|whose|within|without|toward|
towards|among|amongst|per|via|versus|vs|else|instead|rather|quite|yet|thus|hence|whether|though|although|unless|
until|while|since|because|across|along|around|behind|below|above|beside|besides|beyond|despite|
during|except|inside|outside|near|onto|throughout|underneath|another|anyway|several|various|certain|many|much|
few|enough|almost|already|alone|ever|far|later|soon|again|away|rest|half|side|kept|held|became|become|spoken|
chosen|fallen|forgotten|risen|shaken|sworn|thrown|begun|grown|drawn|brought|bought|caught|taught|fought|sought|
felt|heard|sent|spent|stood|
e.g|i.e|etc|mr|mrs|ms|dr|let|like|also|well|even|still|back|right|left|little|whole|full|own|able|must|shall|
would|could|might|author|title|inc|ltd|figure|table|page|step|steps|date|item|items|total|amount`,
)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.SplitSeq(strings.ReplaceAll(list, "\n", ""), "|") {
		set[w] = true
	}

	return set
}
