package command

import "github.com/spf13/cobra"

// CompleteValues registers the allowed words of a flag.
func CompleteValues(cmd *cobra.Command, flags map[string][]string) {
	for flag, values := range flags {
		Complete(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
}

// Complete registers the completion of a flag. It panics if the command does not have the flag: a programming error.
func Complete(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err)
	}
}
