package layout

// minutes builds the head of minutes, and the decisions and actions below the text.
func minutes(b *builder) {
	people := func(keys ...string) string {
		var all []string

		for _, e := range b.entries(keys...) {
			name := e.name("name")
			if role := e.get("role", "function", "affiliation"); role != "" {
				name += " (" + role + ")"
			}
			all = append(all, name)
		}

		return joined(", ", all...)
	}

	writeFacts(&b.head, "minutes-facts", [][2]string{
		{b.label("date"), joined(", ", b.Date, b.text("time"))},
		{b.label("place"), b.text("place", "location", "venue", "where")},
		{b.label("chair"), people("chair", "chairperson", "facilitator", "moderator")},
		{b.label("secretary"), people("secretary", "minutetaker", "minutesby", "recorder", "scribe", "notetaker")},
		{b.label("present"), people("attendees", "present", "participants", "attending")},
		{b.label("absent"), people("absent", "apologies", "regrets", "excused")},
	})

	if agenda := names(b.entries("agenda"), "topic", "title", "name", "item"); len(agenda) > 0 {
		b.head.Line("h2", b.label("agenda")).Open("ol").Raw("\n")

		for _, item := range agenda {
			b.head.Line("li", item)
		}
		b.head.Close("ol").Raw("\n")
	}

	if list := names(b.entries("decisions", "resolutions"), "decision", "text", "title", "description"); len(list) > 0 {
		b.foot.Line("h2", b.label("decisions")).Open("ol", "class", "minutes-decisions").Raw("\n")

		for _, decision := range list {
			b.foot.Line("li", decision)
		}
		b.foot.Close("ol").Raw("\n")
	}
	b.writeActions(b.entries("actions", "actionitems", "todos", "tasks"))

	if next := b.text("nextmeeting", "next"); next != "" {
		b.foot.Open("p").Element("strong", b.label("next")+":").Text(" " + next).Close("p").Raw("\n")
	}
}

// writeActions writes the table of actions. Columns that no action has are left out.
func (b *builder) writeActions(list []entry) {
	if len(list) == 0 {
		return
	}
	columns := [][]string{
		{"task", "action", "what", "title", "text", "description"},
		{"owner", "who", "responsible", "assignee", "assigned", "person"},
		{"due", "duedate", "deadline", "by", "when", "date"},
	}
	var cells [][]string
	used := make([]bool, len(columns))

	for _, e := range list {
		row := []string{e.name(columns[0]...)}
		for _, keys := range columns[1:] {
			row = append(row, firstOf(e.get(keys...), joined(", ", names(e.list(keys...), "name")...)))
		}

		for i, cell := range row {
			used[i] = used[i] || cell != ""
		}
		cells = append(cells, row)
	}

	b.foot.Line("h2", b.label("actions")).Raw("<table>\n<thead>\n<tr>\n")

	for i, keys := range columns {
		if used[i] {
			b.foot.Line("th", b.label(keys[0]))
		}
	}
	b.foot.Raw("</tr>\n</thead>\n<tbody>\n")

	for _, row := range cells {
		b.foot.Raw("<tr>\n")

		for i, cell := range row {
			if used[i] {
				b.foot.Element("td", cell).Raw("\n")
			}
		}
		b.foot.Raw("</tr>\n")
	}
	b.foot.Raw("</tbody>\n</table>\n")
}
