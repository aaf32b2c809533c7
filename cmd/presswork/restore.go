package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"presswork/internal/app"
	"presswork/internal/terminal"
)

func newRestoreCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "restore DIR REDIS_DIR",
		Short: "Put what backup copied back into the store, and make a directory for a new redis-server",
		Long: "Put what backup copied back into the store (S3_ENDPOINT, else PDF_OUTPUT_DIR), whose own objects stay,\n" +
			"and make REDIS_DIR, which must be absent or empty, a directory that a redis-server with `appendonly yes`\n" +
			"starts from. Start that one, then Presswork. For `presswork serve` with its own Redis, REDIS_DIR is\n" +
			"DATA_DIR/redis. The restored Redis is another deployment than the one that was backed up, so the store\n" +
			"of a live deployment is refused. Damaged objects are skipped and named, and the exit status is then 1.",
		Args: exactly("DIR", "REDIS_DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := p.config()
			if err != nil {
				return err
			}

			restored, err := app.Restore(cmd.Context(), cfg, terminal.NewNotices(p.stderr), args[0], args[1])
			if err != nil {
				return err
			}
			fmt.Fprintf(p.stdout,
				"%d objects (%d bytes) are back in the store; start redis-server --appendonly yes --dir %s\n",
				restored.Objects, restored.Bytes, args[1])

			for _, file := range restored.Settings {
				fmt.Fprintf(p.stdout, "%s was not put back: copy it to your nodes if you need it\n", file)
			}

			return restored.Incomplete
		},
	}
}
