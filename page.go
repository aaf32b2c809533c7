package presswork

// Page is one document ready for the browser: complete HTML that needs nothing
// from outside, and how to put it on paper.
type Page struct {
	HTML  string
	Sheet Sheet
}

// Sheet is what the printer is told beside the HTML. The page's size and
// margins come from its own @page rule; Width and Height are what the browser
// lays out with before it has read that.
type Sheet struct {
	// Width and Height are in inches.
	Width, Height float64
	// Scale is 0.1 to 2; 0 means 1.
	Scale float64
	// PageRanges is "1-3,5"; empty prints all.
	PageRanges string
	// Tagged writes the structure tree, Outline the bookmarks (which need it).
	Tagged, Outline bool
}
