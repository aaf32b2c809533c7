package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is the version of this code; api/openapi.yaml names it, too.
const release = "0.1.0"

func newVersionCommand(p *program) *cobra.Command {
	var sbom bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if sbom {
				info, _ := debug.ReadBuildInfo()

				list, err := billOf(info)
				if err != nil {
					return err
				}

				return p.encode(list)
			}
			_, commit := build()
			_, err := fmt.Fprintf(p.stdout, "presswork %s (%s, %s %s/%s)\n", version(), cmp.Or(commit, "no commit"),
				runtime.Version(), runtime.GOOS, runtime.GOARCH)

			return err
		},
	}
	cmd.Flags().BoolVar(&sbom, "sbom", false, "print what the program is made of, as CycloneDX JSON")

	return cmd
}

// version is the release, or "dev" for a build of files that no commit has.
func version() string {
	version, _ := build()
	return version
}

// build is what the build information holds: version's answer, and the commit's
// first 12 digits, "" where it is unknown.
func build() (version, commit string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release, ""
	}

	return built(info.Settings)
}

func built(settings []debug.BuildSetting) (version, commit string) {
	version = release

	for _, s := range settings {
		switch {
		case s.Key == "vcs.modified" && s.Value == "true":
			version = "dev"
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		}
	}

	return version, commit
}
