package pdf

import (
	"encoding/json"
	"fmt"
	"strings"

	"presswork/internal/pdfops"
	"presswork/internal/terminal"
)

// printInfo prints the result of `presswork pdf info`, the JSON object of a pdfops.Document.
func (c *pdfCommand) printInfo(data []byte) error {
	if c.json {
		_, err := c.Stdout.Write(data)
		return err
	}
	var d pdfops.Document

	if err := json.Unmarshal(data, &d); err != nil {
		return err
	}
	out := terminal.Plain(c.Stdout)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(out, "%-12s %s\n", name, value)
		}
	}
	yes := func(is bool) string { return map[bool]string{true: "yes", false: "no"}[is] }

	line("Pages", fmt.Sprint(d.Pages))

	for i, s := range d.Sizes {
		const most = 10
		if i == most {
			line("Size", fmt.Sprintf("and %d others", len(d.Sizes)-most))
			break
		}
		// Sizes are in points, 72 to an inch.
		const millimetres = 25.4 / 72
		line("Size", fmt.Sprintf("%.0f × %.0f mm (pages %d to %d)", s.Width*millimetres, s.Height*millimetres,
			s.First, s.Last))
	}
	line("Title", d.Title)
	line("Author", d.Author)
	line("Language", d.Language)
	line("Producer", d.Producer)
	line("PDF version", d.Version)
	line("PDF/A", d.PDFA)
	line("PDF/UA", d.PDFUA)
	line("Tagged", yes(d.Tagged))
	line("Outline", fmt.Sprintf("%d entries", d.Outline))
	line("Attachments", fmt.Sprint(d.Attachments))
	line("Form", yes(d.Form))
	line("Encryption", d.Encryption)
	line("Forbidden", strings.Join(d.Forbids, ", "))
	line("Fonts", strings.Join(d.Fonts, ", "))

	return nil
}
