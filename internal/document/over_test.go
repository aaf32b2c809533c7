package document

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork"
)

func TestOptionsOfTheRequestReplaceThoseOfFrontMatter(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	front := presswork.Options{
		PageSize:  "A5",
		Landscape: &yes,
		Title:     "Front",
		Margins:   presswork.Margins{Top: "1in", Left: "2in"},
	}
	request := presswork.Options{Landscape: &no, Title: "Request", Margins: presswork.Margins{Top: "3in"}}

	want := presswork.Options{
		PageSize:  "A5",
		Landscape: &no,
		Title:     "Request",
		Margins:   presswork.Margins{Top: "3in", Left: "2in"},
	}
	if diff := cmp.Diff(want, over(request, front)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	if front.Title != "Front" || request.PageSize != "" {
		t.Errorf("over changed its arguments to %+v and %+v", request, front)
	}
}
