package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"presswork/internal/app"
	"presswork/internal/terminal"
)

func newBackupCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "backup DIR",
		Short: "Copy the store, a snapshot of Redis, keys.yaml and models.yaml into a directory while Presswork runs",
		Long: "Copy the store, a snapshot of REDIS_URL, keys.yaml and models.yaml into a directory while Presswork\n" +
			"runs. A directory that holds a backup gets what is new and loses what was deleted before the snapshot.\n" +
			"The store is copied before and after the snapshot, so that every job of the snapshot has its sources\n" +
			"and its artifact, except one that was accepted after the first copy had begun and ended before the\n" +
			"second. The render cache is left out. An object that cannot be copied is skipped and named, and the\n" +
			"exit status is then 1. It needs redis-cli.",
		Args: exactly("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := p.config()
			if err != nil {
				return err
			}

			made, err := app.Backup(cmd.Context(), cfg, terminal.NewNotices(p.stderr), args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(p.stdout,
				"%d new objects (%d bytes) and a snapshot of Redis in %s; %d deleted objects removed\n", made.Objects,
				made.Bytes, args[0], made.Deleted)

			return made.Incomplete
		},
	}
}

func newRestoreCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "restore DIR REDIS_DIR",
		Short: "Restore the copies of `backup` to the store, and create a data directory for a new redis-server",
		Long: "Restore the copies of `backup` to the store (S3_ENDPOINT, else PDF_OUTPUT_DIR), whose own objects stay,\n" +
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
				fmt.Fprintf(p.stdout, "%s was not restored: copy it to your nodes if you need it\n", file)
			}

			return restored.Incomplete
		},
	}
}
