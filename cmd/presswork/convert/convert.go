// Package convert has the commands that convert documents and web pages on this machine, and those of themes. Each
// command checks its flags, starts a local.Converter with the browser that it needs, and reports what was written.
// The converter does the work in this process, without a server or a queue.
package convert

import (
	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
)

// Commands returns the commands.
func Commands(p *command.Program) []*cobra.Command {
	return []*cobra.Command{
		newMD2PDFCommand(p),
		newCheckCommand(p),
		newAnalyzeCommand(p),
		newThemeCommand(p),
		newThemePreviewCommand(p),
		newExportCommand(p),
		newWarmupCommand(p),
	}
}
