package main

import (
	"runtime/debug"

	"presswork/internal/fault"
)

// bill is a CycloneDX 1.6 document, as far as a build knows its parts.
// https://cyclonedx.org/docs/1.6/json/
type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   bound       `json:"metadata"`
	Components []component `json:"components"`
}

type bound struct {
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	// URL is the package URL, by which vulnerabilities are looked up.
	URL string `json:"purl,omitempty"`
}

// billOf lists the Go release and the modules that a build was linked from.
func billOf(info *debug.BuildInfo) (bill, error) {
	if info == nil {
		return bill{}, fault.Errorf(fault.Internal, "this build carries no list of its modules")
	}
	b := bill{
		Format:   "CycloneDX",
		Spec:     "1.6",
		Version:  1,
		Metadata: bound{component{Type: "application", Name: "presswork", Version: version()}},
	}
	add := func(path, version string) {
		b.Components = append(b.Components,
			component{Type: "library", Name: path, Version: version, URL: "pkg:golang/" + path + "@" + version})
	}
	add("stdlib", info.GoVersion)

	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		add(m.Path, m.Version)
	}

	return b, nil
}
