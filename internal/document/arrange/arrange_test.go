package arrange

import (
	"slices"
	"strings"
	"testing"
)

func TestMisplacedReturnsNotesOfTheFirstWrongPageOnly(t *testing.T) {
	t.Parallel()

	notes := Misplaced(map[string]int{
		"fnref:1": 1, "foot-fn:1": 1, // in place
		"fnref:2": 2, "foot-fn:2": 3,
		"fnref:3": 2, "foot-fn:3": 3,
		"fnref:4": 3, "foot-fn:4": 4, // perhaps only because of the two before it
		"foot-fn:5": 9, // without a reference
		"heading":   1,
	})
	slices.Sort(notes)

	if want := []string{"fn:2", "fn:3"}; !slices.Equal(notes, want) {
		t.Errorf("got %q, want %q", notes, want)
	}
}

// The order of a map is random, so one call could succeed by chance.
func TestMisplacedIgnoresLaterPagesInAnyOrder(t *testing.T) {
	t.Parallel()

	for range 100 {
		notes := Misplaced(map[string]int{
			"fnref:1": 1, "foot-fn:1": 2, "fnref:2": 5, "foot-fn:2": 6, "fnref:3": 7, "foot-fn:3": 8,
		})
		if !slices.Equal(notes, []string{"fn:1"}) {
			t.Fatalf("got %q, want only the note of page 1", notes)
		}
	}
}

func TestCallHasItsSettingsAndTheNotesAtTheEnd(t *testing.T) {
	t.Parallel()

	call := Call(Settings{Width: 100, Height: 200, Notes: true})
	if want := `,"notes":true,"smallest":0,"top":0,"width":100}, [])`; !strings.HasSuffix(call, want) {
		t.Errorf("the call ends with %q, want %q", call[len(call)-80:], want)
	}

	call = KeepAtEnd(KeepAtEnd(call, []string{"fn:1", "fn:2"}), []string{"fn:9"})
	if want := `, ["fn:1","fn:2","fn:9",])`; !strings.HasSuffix(call, want) {
		t.Errorf("the call ends with %q, want %q", call[len(call)-80:], want)
	}
}
