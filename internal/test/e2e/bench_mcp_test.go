package e2e_test

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"presswork/internal/local"
	"presswork/internal/test/e2e"
)

// mcpProcess starts `presswork mcp` in dir and connects a client to it.
func mcpProcess(b *testing.B, dir string) *sdk.ClientSession {
	b.Helper()
	cmd := exec.Command(e2e.Binary(b), "mcp")
	cmd.Dir = dir

	session, err := sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).
		Connect(b.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		b.Fatal(err)
	}

	return session
}

// timedCall converts Markdown and returns how long the client waits.
func timedCall(b *testing.B, c *sdk.ClientSession, markdown string) time.Duration {
	b.Helper()
	began := time.Now()

	result, err := c.CallTool(b.Context(), &sdk.CallToolParams{
		Name: "convert_markdown", Arguments: map[string]any{"markdown": markdown, "output": "out.pdf", "theme": "nord"},
	})
	took := time.Since(began)

	if err != nil || result.IsError {
		b.Fatalf("convert_markdown: result %+v, error %v; want a PDF", result, err)
	}

	return took
}

// listTimes returns the times that a new process takes to answer each of rounds requests for its tools. It writes the
// messages itself, because the client of the SDK caches the list.
func listTimes(b *testing.B, rounds int) (took []time.Duration) {
	b.Helper()
	cmd := exec.Command(e2e.Binary(b), "mcp")

	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}

	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}

	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewReader(out)
	ask := func(message string) time.Duration {
		began := time.Now()
		fmt.Fprintln(in, message)

		if answer, err := lines.ReadString('\n'); err != nil || !strings.Contains(answer, `"result"`) {
			b.Fatalf("%s: got %q, %v; want a result", message, answer, err)
		}

		return time.Since(began)
	}
	ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"bench","version":"1"}}}`)

	for range rounds {
		took = append(took, ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	}
	in.Close()

	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}

	return took
}

// BenchmarkMCP measures tools over standard input and output. The same converter in this process measures the print
// alone. Its calls alternate with those of the tool.
func BenchmarkMCP(b *testing.B) {
	const rounds = 15

	for b.Loop() {
		dir := b.TempDir()

		var cold, whole []time.Duration

		for round := range 7 {
			source := benchDocument(b, dir, threePages(fmt.Sprint("cold", round)))
			whole = append(whole, wallTime(b, md2pdf(b, "-o", filepath.Join(dir, "ours.pdf"), source)))
			began := time.Now()
			c := mcpProcess(b, dir)
			timedCall(b, c, threePages(fmt.Sprint("cold", round)))

			cold = append(cold, time.Since(began))
			c.Close()
		}
		report(b, "MCP over stdio: start of the process to the end of the first call, three pages",
			fmt.Sprintf("%s (`md2pdf` %s)", quantile(cold, 0.5).Round(time.Millisecond),
				quantile(whole, 0.5).Round(time.Millisecond)), "≤ 400 ms")

		converter := local.New(local.Options{})
		if err := converter.Start(b.Context()); err != nil {
			b.Fatal(err)
		}
		c := mcpProcess(b, dir)

		var above []time.Duration

		for round := range rounds {
			text := threePages(fmt.Sprint(round))

			out, err := converter.Convert(b.Context(), local.Input{
				Path: local.Std, Content: []byte(text), Theme: "nord", Output: filepath.Join(dir, "local.pdf"),
			})
			if err != nil {
				b.Fatal(err)
			}

			if took := timedCall(b, c, text); round > 0 {
				above = append(above, took-out.Times.Print)
			}
		}
		c.Close()
		converter.Close()
		report(b, "MCP over stdio: `tools/list`",
			quantile(listTimes(b, 101), 0.5).Round(10*time.Microsecond).String(), "≤ 5 ms")
		report(b, "MCP over stdio: `convert_markdown` of three pages, above the print",
			quantile(above, 0.5).Round(100*time.Microsecond).String(), "≤ 30 ms")
	}
}
