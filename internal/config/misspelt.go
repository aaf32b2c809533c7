package config

import (
	"slices"
	"strings"

	"presswork/internal/input"
)

// shortestTypo is the shortest name, in characters, that counts as a misspelt setting. A shorter one is probably
// another program's.
const shortestTypo = 7

// Typo is a variable that is no setting, but looks like one.
type Typo struct {
	Name string
	// Meant is the name of the similar setting.
	Meant string
}

// Misspelt returns the variables of environ ("NAME=value") that look like misspelt settings. Such a variable is one
// edit away from a setting. With the prefix PRESSWORK_ it may also be equal to one.
func Misspelt(environ []string) (found []Typo) {
	// The command line and the tests have variables of their own.
	known := []string{"PRESSWORK_API_KEY", "PRESSWORK_TELEMETRY", "PRESSWORK_UPDATE", "PRESSWORK_MINIO"}
	var names []string

	for _, s := range (&Config{}).settings() {
		names = append(names, s.name)
		if s.secret {
			known = append(known, s.name+"_FILE")
		}
	}

	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if slices.Contains(names, name) || slices.Contains(known, name) {
			continue
		}

		meant := ""
		if bare, prefixed := strings.CutPrefix(name, "PRESSWORK_"); prefixed {
			meant = input.Typo(bare, names)
		} else if len(name) >= shortestTypo {
			meant = input.Typo(name, names)
		}

		if meant != "" {
			found = append(found, Typo{name, meant})
		}
	}

	return found
}
