package layout

import "strings"

// unnumberedFirst hides the number of the first page, because most documents of these layouts have one page.
const unnumberedFirst = "@page:first{@bottom-center{content:none}}\n"

// cv builds the head of a CV from the fields of JSON Resume, at the top level or in basics.
func cv(b *builder) {
	basics := entry{more: map[string]any{}}
	if list := b.entries("basics"); len(list) > 0 && list[0].more != nil {
		basics = list[0]
	}
	text := func(keys ...string) string { return firstOf(basics.get(keys...), b.text(keys...)) }
	list := func(keys ...string) []entry {
		if found := basics.list(keys...); len(found) > 0 {
			return found
		}

		return b.entries(keys...)
	}

	b.head.Open("div", "class", "cv-head").Raw("\n")
	b.head.Line("p", text("label", "headline", "role", "position"), "class", "cv-label")
	b.writeContact(text("email"), text("phone", "mobile"), location(list("location", "address")),
		text("url", "website", "homepage"), list("profiles", "links", "social"))
	b.head.Line("p", text("summary", "about", "profile", "objective"), "class", "cv-summary")
	b.head.Close("div").Raw("\n")

	for _, section := range [][]string{
		{"work", "experience", "employment"},
		{"education"},
		{"projects"},
		{"publications"},
		{"volunteer"},
		{"awards"},
		{"certificates", "certifications"},
		{"references"},
	} {
		b.writeEntries(b.label(section[0]), b.entries(section...))
	}

	for _, section := range [][]string{{"skills"}, {"languages"}, {"interests"}} {
		b.writeSkills(b.label(section[0]), b.entries(section...))
	}
	b.parts.PageCSS = unnumberedFirst
}

// location returns a place on one line.
func location(list []entry) string {
	if len(list) == 1 && list[0].more != nil {
		e := list[0]
		return joined(", ", e.get("address"), e.get("city"), e.get("region"), e.get("country", "countrycode"))
	}

	return joined(", ", names(list)...)
}

// writeContact writes the line with addresses and links.
func (b *builder) writeContact(email, phone, place, url string, links []entry) {
	type link struct{ text, href string }

	var all []link
	if email != "" {
		all = append(all, link{email, "mailto:" + email})
	}
	all = append(all, link{phone, ""}, link{place, ""}, link{withoutScheme(url), webAddress(url)})

	for _, e := range links {
		if e.text != "" {
			all = append(all, link{withoutScheme(e.text), webAddress(e.text)})
			continue
		}
		href := e.get("url", "href", "link")
		name := joined(": ", e.get("network", "name", "title", "label"), e.get("username", "text"))
		all = append(all, link{firstOf(name, withoutScheme(href)), webAddress(href)})
	}
	written := false

	for _, l := range all {
		if l.text == "" {
			continue
		}

		if !written {
			b.head.Open("p", "class", "cv-contact")
			written = true
		} else {
			b.head.Raw(" · ")
		}

		if l.href == "" {
			b.head.Element("span", l.text)
		} else {
			b.head.Element("a", l.text, "href", l.href)
		}
	}

	if written {
		b.head.Close("p").Raw("\n")
	}
}

// withoutScheme returns an address as people write it: without its scheme, and without a slash at the end.
func withoutScheme(url string) string {
	_, after, found := strings.Cut(url, "://")
	if !found {
		return url
	}

	return strings.TrimSuffix(after, "/")
}

// webAddress returns the target of a link. It adds https:// to a host name, and returns "" for a text that is not a web
// address.
func webAddress(url string) string {
	switch {
	case strings.HasPrefix(url, "https://"), strings.HasPrefix(url, "http://"):
		return url
	case url == "" || strings.ContainsAny(url, " :\"<>") || !strings.Contains(url, "."):
		return ""
	}

	return "https://" + url
}

// writeEntries writes a section of entries with what, where and when: jobs, degrees, projects. It writes nothing for an
// empty list.
func (b *builder) writeEntries(title string, list []entry) {
	if len(list) == 0 {
		return
	}
	b.head.Line("h2", title)

	for _, e := range list {
		what := firstOf(e.text, e.get("position", "title", "studytype", "degree", "role"), e.get("name"))
		where := e.get("company", "organization", "institution", "publisher", "awarder", "issuer", "school", "employer")

		if area := e.get("area", "field"); area != "" {
			what = joined(", ", e.get("studytype", "degree"), area)
		}

		if name := e.get("name"); where == "" && name != what {
			where = name
		}
		when := firstOf(e.get("date", "dates", "year", "releasedate"),
			b.period(e.get("startdate", "start", "from"), e.get("enddate", "end", "to")))

		b.head.Open("div", "class", "cv-entry").Raw("\n").Open("p", "class", "cv-what").Element("strong", what)

		if rest := joined(", ", where, location(e.list("location", "place"))); rest != "" {
			b.head.Text(", " + rest)
		}
		b.head.Close("p").Raw("\n").Line("p", when, "class", "cv-when")
		b.head.Line("p", e.get("summary", "description", "reference"), "class", "cv-more")

		if points := names(e.list("highlights", "achievements", "courses", "keywords")); len(points) > 0 {
			b.head.Open("ul").Raw("\n")

			for _, point := range points {
				b.head.Line("li", point)
			}
			b.head.Close("ul").Raw("\n")
		}
		b.head.Close("div").Raw("\n")
	}
}

// period returns a period such as "2021-03 – today". It leaves out the day of dates such as 2021-03-01. A period
// without an end goes on.
func (b *builder) period(from, to string) string {
	month := func(date string) string {
		if len(date) == len("2021-03-01") && date[4] == '-' && date[7] == '-' {
			return date[:7]
		}

		return date
	}

	if from != "" && to == "" {
		to = b.label("today")
	}

	return joined(" – ", month(from), month(to))
}

// writeSkills writes a section of names with their levels or keywords.
func (b *builder) writeSkills(title string, list []entry) {
	if len(list) == 0 {
		return
	}
	b.head.Line("h2", title)

	plain := names(list)
	if len(plain) == len(list) {
		b.head.Line("p", joined(", ", plain...))
		return
	}
	var rows [][2]string

	for _, e := range list {
		more := names(e.list("keywords", "items"))
		rows = append(rows, [2]string{
			e.name("name", "language", "category"),
			joined(", ", append([]string{e.get("level", "fluency")}, more...)...),
		})
	}
	writeFacts(&b.head, "cv-facts", rows)
}
