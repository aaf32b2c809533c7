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
