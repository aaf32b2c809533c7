package catalogue

import (
	"errors"
	"net/url"

	"presswork/internal/inference"
)

// completeServer checks an MCP server and replaces its ${NAME} values. With an error it returns the name of the invalid
// field after a dot, or "".
func completeServer(name string, s *inference.NamedServer, getenv func(string) string) (string, error) {
	if !inference.ValidName(name) {
		return "", errors.New("a name has 1 to 64 letters, digits, underscores and dashes")
	}
	var err error

	if s.URL, err = expand(s.URL, getenv); err != nil {
		return ".url", err
	}

	for header, value := range s.Headers {
		if s.Headers[header], err = expand(value, getenv); err != nil {
			return ".headers", err
		}
	}

	at, err := url.Parse(s.URL)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" || at.User != nil {
		return ".url", errors.New(
			"it must be an http or https address without user, such as https://mcp.example.com/mcp",
		)
	}

	if s.RequireApproval != "" {
		return ".require_approval", oneOf(s.RequireApproval, []string{inference.ApproveAlways, inference.ApproveNever})
	}

	return "", nil
}
