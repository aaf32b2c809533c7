package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/pflag"

	"presswork/internal/client"
)

// serverFlags name the running Presswork that a command talks to.
type serverFlags struct{ address, key string }

func (s *serverFlags) add(f *pflag.FlagSet) {
	f.StringVar(&s.address, "server", "http://127.0.0.1:8000", "`ADDRESS` of the server")
	f.StringVar(&s.key, "key", "", "API `KEY` (default PRESSWORK_API_KEY)")
}

// open returns the client of the server.
func (s *serverFlags) open(getenv func(string) string) (*client.Server, error) {
	server, err := client.New(s.address, cmp.Or(s.key, getenv("PRESSWORK_API_KEY")))
	if err != nil {
		return nil, usageError{fmt.Errorf("--server: %w", err)}
	}

	return server, nil
}
