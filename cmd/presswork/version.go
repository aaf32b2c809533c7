package main

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
)

// release is the version of this code. api/openapi.yaml names the same version.
const release = "0.1.0"

func newVersionCommand(p *command.Program) *cobra.Command {
	var sbom bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if sbom {
				info, _ := debug.ReadBuildInfo()

				list, err := billOf(info)
				if err != nil {
					return err
				}

				return p.Encode(list)
			}
			_, commit := build()
			_, err := fmt.Fprintf(p.Stdout, "presswork %s (%s, %s %s/%s)\n", version(), cmp.Or(commit, "no commit"),
				runtime.Version(), runtime.GOOS, runtime.GOARCH)

			return err
		},
	}
	cmd.Flags().BoolVar(&sbom, "sbom", false, "print the components of the program as CycloneDX JSON")

	return cmd
}

// version returns the release, or "dev" for a build from uncommitted files.
func version() string {
	version, _ := build()
	return version
}

// build returns the version and the first 12 digits of the commit, "" if unknown, from the build information.
func build() (version, commit string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release, ""
	}

	return versionOf(info.Settings)
}

// versionOf derives the version and the commit from the settings of a build.
func versionOf(settings []debug.BuildSetting) (version, commit string) {
	version = release

	for _, s := range settings {
		switch {
		case s.Key == "vcs.modified" && s.Value == "true":
			version = "dev" // the code may differ from the release
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		}
	}

	return version, commit
}

// bill is a CycloneDX 1.6 document with the components that the build information names.
type bill struct {
	Format     string       `json:"bomFormat"`
	Spec       string       `json:"specVersion"`
	Version    int          `json:"version"`
	Metadata   billMetadata `json:"metadata"`
	Components []component  `json:"components"`
}

// billMetadata names the program that the document describes.
type billMetadata struct {
	Component component `json:"component"`
}

// component is a module that is linked into the program.
type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	// URL is the package URL, which vulnerability databases use as key.
	URL string `json:"purl,omitempty"`
}

// billOf lists the Go release and the modules linked into a build.
func billOf(info *debug.BuildInfo) (bill, error) {
	if info == nil {
		return bill{}, errors.New("the program was built without a list of its modules")
	}
	b := bill{
		Format:   "CycloneDX",
		Spec:     "1.6",
		Version:  1,
		Metadata: billMetadata{component{Type: "application", Name: "presswork", Version: version()}},
	}
	addModule := func(path, version string) {
		b.Components = append(b.Components,
			component{Type: "library", Name: path, Version: version, URL: "pkg:golang/" + path + "@" + version})
	}
	addModule("stdlib", info.GoVersion)

	for _, m := range info.Deps {
		// The replacement is what was compiled.
		if m.Replace != nil {
			m = m.Replace
		}
		addModule(m.Path, m.Version)
	}

	return b, nil
}
