package epub

import (
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"presswork/internal/lazyregexp"
)

// goodLink matches URLs that every reading device accepts.
var goodLink = lazyregexp.New(
	`^(?i:https?://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?([/?#]([a-z0-9._~!$&'()*+,;=:@/?#-]|%[0-9a-f]{2})*)?|` +
		`mailto:([a-z0-9._~!$&'*+,;=:@/?-]|%[0-9a-f]{2})+|tel:[0-9+().-]+)$`,
)

// href returns where a link leads in the book, or "" for nowhere. Links to anchors lead to the file of the anchor.
// Other links must match goodLink, because reading devices reject a book with a malformed one.
func (w *writer) href(n *html.Node) string {
	href := strings.TrimSpace(attribute(n, "href"))
	if id, ok := strings.CutPrefix(href, "#"); ok {
		// An anchor may be escaped in the link but not in the id.
		if plain, err := url.PathUnescape(id); err == nil && w.places[id] == "" {
			id = plain
		}

		switch w.places[id] {
		case "":
			return ""
		case w.chapter.file:
			return "#" + fragment(id)
		}

		return w.places[id] + "#" + fragment(id)
	}

	u, err := url.Parse(href)
	if err != nil {
		return ""
	}

	if u.Opaque == "" {
		u.RawQuery = strings.NewReplacer(" ", "%20", "[", "%5B", "]", "%5D", "|", "%7C", "{", "%7B", "}", "%7D",
			"^", "%5E", "`", "%60", `"`, "%22", "<", "%3C", ">", "%3E", `\`, "%5C").
			Replace(u.RawQuery)
	}

	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return ""
		}
	}

	if href = u.String(); !goodLink().MatchString(href) || strings.Count(href, "#") > 1 {
		return ""
	}

	return href
}

// fragment writes an anchor as a part of a URL.
func fragment(id string) string { return (&url.URL{Fragment: id}).EscapedFragment() }
