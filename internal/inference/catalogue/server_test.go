package catalogue_test

import (
	"strings"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/catalogue"
)

func TestServersOfTheFileAreFoundByName(t *testing.T) {
	t.Parallel()

	c, err := catalogue.Parse("models.yaml", []byte(`mcp_servers:
  docs:
    url: http://10.0.0.9:7000/mcp
    headers: {Authorization: "Bearer ${GPU1_KEY}"}
    allowed_tools: [read]
    require_approval: always
    private: true
mcp_server_urls: false
`), env)
	if err != nil {
		t.Fatal(err)
	}

	s, err := c.Server(&inference.ToolServer{Label: "docs"})
	if err != nil || s.URL != "http://10.0.0.9:7000/mcp" || s.Headers["Authorization"] != "Bearer s3cret" ||
		!s.Private() {
		t.Fatalf("got %+v, %v; want the address, the header and private, as in the file", s, err)
	}

	read, write := inference.ServerTool{Name: "read"}, inference.ServerTool{Name: "write"}
	if !s.Allows(read) || s.Allows(write) || !s.NeedsApproval(read) {
		t.Error("want the tool read allowed with an approval and write forbidden, as in the file")
	}

	s, err = c.Server(&inference.ToolServer{Label: "docs", Allowed: &inference.ToolFilter{Names: []string{"write"}}})
	if err != nil || s.Allows(read) || s.Allows(write) {
		t.Errorf("a caller that allows only write: got error %v, read %t, write %t; want no tool",
			err, s.Allows(read), s.Allows(write))
	}

	if _, err := c.Server(&inference.ToolServer{Label: "docs", URL: "https://mcp.example"}); err == nil {
		t.Error("an address of the caller: got no error, want one, because the file forbids addresses")
	}
}

func TestServersOfTheFileAreChecked(t *testing.T) {
	t.Parallel()

	for file, want := range map[string]string{
		"  a b: {url: https://x}":                                 `models.yaml, line 2: mcp_servers.a b: a name has 1 to 64 letters`,
		"  docs: {url: ftp://x}":                                  `models.yaml, line 2: mcp_servers.docs.url: it must be an http or https address`,
		"  docs: {}":                                              `models.yaml, line 2: mcp_servers.docs.url: it must be an http or https address`,
		"  docs:\n    url: https://${NONE}/mcp":                   "models.yaml, line 3: mcp_servers.docs.url: ${NONE} is not set in the environment",
		"  docs:\n    url: https://x\n    headers: {A: \"${B}\"}": "models.yaml, line 4: mcp_servers.docs.headers: ${B} is not set in the environment",
		"  docs: {url: https://x, require_approval: sometime}":    `models.yaml, line 2: mcp_servers.docs.require_approval: "sometime" is unknown`,
		"  docs: {uri: https://x}":                                "models.yaml, line 2: unknown field",
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()

			_, err := catalogue.Parse("models.yaml", []byte("mcp_servers:\n"+file+"\n"), env)
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}
