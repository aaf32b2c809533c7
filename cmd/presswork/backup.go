package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
	"presswork/internal/app"
	"presswork/internal/terminal"
)

func newBackupCommand(p *command.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "backup DIR",
		Short: "Back up the store, Redis, keys.yaml and models.yaml into a directory while Presswork runs",
		Long: "Copy the store, a snapshot of REDIS_URL, keys.yaml and models.yaml into a directory while Presswork\n" +
			"runs. An existing backup is updated: new objects are added, and objects that were deleted before the\n" +
			"snapshot are removed. The store is copied before and after the snapshot, so that every job of the\n" +
			"snapshot has its sources and its artifact. The exception is a job that was accepted after the first\n" +
			"copy had begun and ended before the second. The render cache is left out. An object that cannot be\n" +
			"copied is skipped and named, and the exit status is then 1. The command needs redis-cli.",
		Args: command.Exactly("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := p.Config()
			if err != nil {
				return err
			}

			made, err := app.Backup(cmd.Context(), cfg, terminal.NewNotices(p.Stderr), args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(p.Stdout,
				"%d new objects (%d bytes) and a snapshot of Redis in %s; %d deleted objects removed\n", made.Objects,
				made.Bytes, args[0], made.Deleted)

			return made.Incomplete
		},
	}
}

func newRestoreCommand(p *command.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "restore DIR REDIS_DIR",
		Short: "Restore a backup to the store, and create a data directory for a new redis-server",
		Long: "Restore the objects of a backup to the store (S3_ENDPOINT, else PDF_OUTPUT_DIR). Objects that the store\n" +
			"already has stay. REDIS_DIR must be absent or empty; it becomes the data directory of a redis-server with\n" +
			"`appendonly yes`. Start that redis-server, then Presswork. For `presswork serve` with its own Redis,\n" +
			"REDIS_DIR is DATA_DIR/redis. The restored Redis counts as a new deployment, so the store of a live\n" +
			"deployment is refused. Damaged objects are skipped and named, and the exit status is then 1.",
		Args: command.Exactly("DIR", "REDIS_DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := p.Config()
			if err != nil {
				return err
			}

			restored, err := app.Restore(cmd.Context(), cfg, terminal.NewNotices(p.Stderr), args[0], args[1])
			if err != nil {
				return err
			}
			fmt.Fprintf(p.Stdout,
				"restored %d objects (%d bytes) to the store; now start redis-server --appendonly yes --dir %s\n",
				restored.Objects, restored.Bytes, args[1])

			for _, file := range restored.Settings {
				fmt.Fprintf(p.Stdout, "%s was not restored: copy it to your nodes if you need it\n", file)
			}

			return restored.Incomplete
		},
	}
}
