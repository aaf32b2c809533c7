package document

import (
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// partLink begins the fragment of a link to another part, until all are
// rendered and their anchors known: "presswork-part/2/17/anchor", of a link on
// line 17.
const partLink = "presswork-part/"

// resolve is the fragment for a link that leads from one part to another.
func (m *merger) resolve(from, destination string, line int) (fragment string, ok bool) {
	u, err := url.Parse(destination)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Path == "" {
		return "", false
	}

	target := u.Path
	if !path.IsAbs(target) {
		target = path.Join(path.Dir(from), target)
	}

	part, ok := m.index[path.Clean(target)]
	if !ok {
		return "", false
	}

	return fmt.Sprintf("%s%d/%d/%s", partLink, part, line, u.Fragment), true
}

// href is a link of part p as it is in the whole.
func (m *merger) href(p mergedPart, href string, broken map[string]int) string {
	fragment, ok := strings.CutPrefix(href, "#")
	if !ok {
		return href
	}

	if plain, err := url.PathUnescape(fragment); err == nil {
		fragment = plain
	}
	rest, foreign := strings.CutPrefix(fragment, partLink)
	number, rest, _ := strings.Cut(rest, "/")
	line, anchor, _ := strings.Cut(rest, "/")

	n, err := strconv.Atoi(number)
	if !foreign || err != nil || n < 0 || n >= len(m.parts) {
		if id, ok := p.ids[fragment]; ok && id != fragment {
			return "#" + id
		}

		return href
	}

	target := m.parts[n]
	if id, ok := target.ids[anchor]; ok {
		return "#" + id
	}

	if link := path.Base(target.path) + "#" + anchor; anchor != "" && broken[link] == 0 {
		broken[link], _ = strconv.Atoi(line)
	}

	return "#" + target.start
}
