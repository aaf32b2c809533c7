package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"presswork/internal/input"
)

// Known rejects an unknown command and suggests a similar one. The error is one of usage.
func Known(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}

	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}

	return Usage(fmt.Errorf("unknown command %q%s; `%s --help` lists them", args[0], input.DidYouMean(args[0], names),
		cmd.CommandPath()))
}

// NoArgs rejects arguments of a command that takes only flags. The error is one of usage.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}

	return Usage(fmt.Errorf("%s takes only flags; unexpected argument %q", cmd.CommandPath(), args[0]))
}

// Exactly requires one argument per name.
func Exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}

		return Usage(fmt.Errorf("%s takes %s; %d arguments were given", cmd.CommandPath(), strings.Join(names, " and "),
			len(args)))
	}
}

// allowedValues describes the values of a flag type whose parser returns an error of Go's strconv or time package.
// For other types it returns "".
func allowedValues(kind string) string {
	switch kind {
	case "int":
		return "a whole number"
	case "duration":
		return "a time with its unit, such as 2s"
	case "bool":
		return "true, false"
	}

	return ""
}

// FlagError explains an invalid flag and suggests a similar one.
func FlagError(cmd *cobra.Command, err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if what := allowedValues(wrong.GetFlag().Value.Type()); what != "" {
			return Usage(fmt.Errorf("--%s is %q; allowed: %s", wrong.GetFlag().Name, wrong.GetValue(), what))
		}
	}

	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	switch {
	case !ok:
		return Usage(err)
	case unknown.GetSpecifiedShortnames() != "":
		return Usage(fmt.Errorf("%w; write ./-%s to name a file", err, unknown.GetSpecifiedShortnames()))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })

	return Usage(fmt.Errorf("%w%s; `%s --help` lists them", err,
		input.DidYouMean("--"+unknown.GetSpecifiedName(), names), cmd.CommandPath()))
}
