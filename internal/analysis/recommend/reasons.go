package recommend

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// reasons returns sentences that explain the choice, the most important first.
func (c *choice) reasons(primary candidate, alternatives []candidate) []string {
	var all []string
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }

	switch {
	case c.cautious && c.p.Words == 0:
		say("there is no text to analyse; this theme suits most documents")
	case c.cautious && c.p.Words < enoughWords:
		say("the text is too short (%s); this theme suits most documents", words(c.p.Words))
	case c.cautious && terse(c.p):
		say("the language is unknown; this theme suits most documents")
	case c.cautious:
		say("the document type is unclear; this theme suits most documents")
	case c.wanted != Preference{} || !terse(c.p):
	case c.p.Words < enoughWords:
		say("the text is short (%s), so structure counts more than wording", words(c.p.Words))
	default:
		say("the language is unknown, so structure counts more than wording")
	}

	if c.wanted.Type != "" {
		say("requested type: %s%s", withArticle(c.wanted.Type), c.standing(primary))
	} else if top := c.top(); top != nil && !c.cautious {
		say("%s%s", c.typeSentence(*top), c.standing(primary))

		if len(c.p.Evidence) > 0 && top.name == c.p.DocumentType {
			say("evidence: %s", strings.Join(c.p.Evidence, "; "))
		}
	}

	if c.wanted.Mood != "" {
		say("requested mood: %s%s", c.wanted.Mood, c.moodStanding(primary))
	} else if c.toneMatters(primary) {
		say("tone: %s", c.tone.name)
	}

	if label := c.p.Formality.Label; !c.cautious && label != "" && label != "neutral" {
		say("formality: %s (%.2f)", label, c.p.Formality.Score)
	}

	for _, topic := range c.p.Topics {
		if !c.cautious && slices.Contains(c.rules.topic(topic.Name).accept, primary.twin) {
			say("topic: %s", topic.Name)
		}
	}

	if primary.Custom {
		say("custom theme, most similar to %s", primary.twin)
	}

	if others := otherScheme(primary, alternatives); others != "" {
		say("%s", others)
	}

	return all
}

// The probabilities from which a type is stated as certain and as probable. Below them two types are named if the
// second has at least rivalShare of the first one's probability.
const certainFrom, probableFrom, rivalShare = 0.9, 0.7, 0.4

// typeSentence states the document type with words that match its probability.
func (c *choice) typeSentence(top belief) string {
	switch {
	case top.share >= certainFrom:
		return fmt.Sprintf("it reads as %s (%d %%)", withArticle(top.name), percent(top.share))
	case top.share >= probableFrom:
		return fmt.Sprintf("it is probably %s (%d %%)", withArticle(top.name), percent(top.share))
	case !c.unsure():
		return fmt.Sprintf("it may be %s (%d %%)", withArticle(top.name), percent(top.share))
	default:
		second := c.second(top)

		return fmt.Sprintf(
			"unsure between %s (%d %%) and %s (%d %%)",
			withArticle(top.name),
			percent(top.share),
			withArticle(second.name),
			percent(second.share),
		)
	}
}

// unsure reports whether two types are about equally probable. It is false if the caller stated the type.
func (c *choice) unsure() bool {
	top := c.top()
	if top == nil || c.wanted.Type != "" || top.share >= probableFrom {
		return false
	}
	second := c.second(*top)

	return second != nil && second.share >= rivalShare*top.share
}

// second returns the second most probable type, or nil if there is none.
func (c *choice) second(top belief) *belief {
	var second *belief
	for i, b := range c.beliefs {
		if b.name != top.name && (second == nil || b.share > second.share) {
			second = &c.beliefs[i]
		}
	}

	return second
}

// top returns the most probable type, or nil if no type is known.
func (c *choice) top() *belief {
	var top *belief
	for i := range c.beliefs {
		if top == nil || c.beliefs[i].share > top.share {
			top = &c.beliefs[i]
		}
	}

	return top
}

// standing returns a clause on the position of the theme among those of the most probable type, or "".
func (c *choice) standing(primary candidate) string {
	top := c.top()
	if top == nil {
		return ""
	}

	switch slices.Index(top.order, primary.twin) {
	case 0:
		return "; this theme is the first choice for it"
	case -1:
		return ""
	}

	return "; this theme is one of the usual choices for it"
}

// moodStanding returns a clause on whether the theme expresses the requested mood, or "".
func (c *choice) moodStanding(primary candidate) string {
	if slices.Contains(c.tone.accept, primary.twin) {
		return "; this theme expresses it"
	}

	return ""
}

// toneMatters reports whether the tone influenced the choice.
func (c *choice) toneMatters(primary candidate) bool {
	if c.cautious || c.strength < clearTone || c.tone.name == "neutral" {
		return false
	}

	if slices.Contains(c.tone.accept, primary.twin) {
		return true
	}
	top := c.top()

	return top != nil && slices.Contains(top.first[c.tone.name], primary.twin)
}

// otherScheme returns a sentence about an alternative in the other scheme, light or dark.
func otherScheme(primary candidate, alternatives []candidate) string {
	for _, a := range alternatives {
		if a.Scheme != primary.Scheme {
			return fmt.Sprintf("%s alternative: %s", a.Scheme, a.Name)
		}
	}

	return ""
}

// withArticle returns the name of a document type with its article.
func withArticle(docType string) string {
	switch docType {
	case "api_reference":
		return "an API reference"
	case "rfc":
		return "a design document"
	case "readme":
		return "a README"
	case "contributing":
		return "a contributor guide"
	case "governance", "legal":
		return "a " + docType + " text"
	case "meeting_notes":
		return "meeting notes"
	case "bio":
		return "a biography"
	case "resume":
		return "a résumé"
	case "other":
		return "a document of another type"
	case "software", "business", "academic", "personal", "creative":
		return "a " + docType + " document"
	}

	words := strings.ReplaceAll(docType, "_", " ")
	if strings.ContainsRune("aeiou", rune(words[0])) {
		return "an " + words
	}

	return "a " + words
}

// words formats a number of words.
func words(n int) string {
	if n == 1 {
		return "1 word"
	}

	return fmt.Sprintf("%d words", n)
}

func percent(share float64) int { return int(math.Round(100 * share)) }
