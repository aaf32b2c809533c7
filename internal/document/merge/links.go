package merge

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"presswork/internal/markdown"
	"presswork/internal/markdown/cite"
)

// partLink begins the fragment of a link to another part until the anchors of all parts are known.
// "presswork-part/2/17/anchor" is a link on line 17 to an anchor in part 2.
const partLink = "presswork-part/"

// resolve returns the fragment for a link from one part to another. from is the path of the part with the link, and
// line the link's line. It returns false for other links.
func (m *merger) resolve(from, destination string, line int) (fragment string, ok bool) {
	u, err := url.Parse(destination)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Path == "" {
		return "", false
	}

	target := u.Path
	if !path.IsAbs(target) {
		target = path.Join(path.Dir(from), target)
	}

	n, ok := m.find(path.Clean(target))
	if !ok {
		return "", false
	}

	return partFragment(n, line, u.Fragment), true
}

// find returns the part with a path. The path may also be that of the page that other programs make of the part, or
// begin at the folder of a book.
func (m *merger) find(target string) (n int, ok bool) {
	for _, name := range []string{target, strings.TrimPrefix(target, "/")} {
		if n, ok = m.index[name]; ok {
			return n, true
		}

		if ext := path.Ext(name); ext == ".html" || ext == "" {
			if n, ok = m.stems[strings.TrimSuffix(name, ext)]; ok {
				return n, true
			}
		}
	}

	return 0, false
}

// partFragment returns the fragment of a link on a line (0 if it has none) to an anchor of part n.
func partFragment(n, line int, anchor string) string {
	return fmt.Sprintf("%s%d/%d/%s", partLink, n, line, anchor)
}

// href returns a link of part p with the final name of its anchor. If that is missing in another part, the link leads
// to the start of that part. href then adds it to broken with its line.
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

// labelsOfOthers returns the labels of all parts except one, as links to them. Of equal labels, the first wins.
func labelsOfOthers(parts []part, except int) map[string]markdown.Label {
	labels := map[string]markdown.Label{}

	for i, p := range parts {
		if i == except {
			continue
		}

		for name, l := range p.document.Labels {
			if _, taken := labels[name]; !taken {
				l.ID = partFragment(i, 0, l.ID)
				labels[name] = l
			}
		}
	}

	return labels
}

// shareBibliography gives all parts one bibliography, and marks the parts that must be parsed again for it. It stands
// in the first part that has a place for it, or else in the last part.
func shareBibliography(parts []part) {
	var all []cite.Citation

	host := len(parts) - 1
	for i, p := range slices.Backward(parts) {
		all = slices.Concat(p.document.Cited, all)
		if p.document.HasRefs {
			host = i
		}
	}
	before := 0

	for i := range parts {
		p := &parts[i]
		own := len(p.document.Cited)

		p.Options.CitedBefore, p.Options.CitedAfter = all[:before], all[before+own:]
		if i != host {
			p.Options.EntriesAt = partFragment(host, 0, "")
		}
		p.again = len(all) > 0 && (own > 0 || i == host)
		before += own
	}
}
