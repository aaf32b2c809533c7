package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

func TestVersionIsDevOnlyForAChangedTree(t *testing.T) {
	t.Parallel()

	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123"}
	for want, settings := range map[[2]string][]debug.BuildSetting{
		{release, ""}:             nil,
		{release, "0123456789ab"}: {commit, {Key: "vcs.modified", Value: "false"}},
		{"dev", "0123456789ab"}:   {{Key: "vcs.modified", Value: "true"}, commit},
	} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			if version, commit := versionOf(settings); version != want[0] || commit != want[1] {
				t.Errorf("versionOf(%v) = %s, %s; want %s, %s", settings, version, commit, want[0], want[1])
			}
		})
	}
}

func TestOpenAPIHasTheVersionOfTheProgram(t *testing.T) {
	t.Parallel()

	description, err := os.ReadFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}

	m := regexp.MustCompile(`(?m)^  version: "(.+)"$`).FindSubmatch(description)
	if m == nil || string(m[1]) != release {
		t.Errorf("openapi.yaml has the version %s, the program %s", m, release)
	}
}

func TestTheSBOMNamesEveryModule(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer

	code := run(t.Context(), []string{"version", "--sbom"}, func(string) string { return "" }, &out, &out)
	if code != exitOK {
		t.Fatal(out.String())
	}

	var b bill
	if err := json.Unmarshal(out.Bytes(), &b); err != nil {
		t.Fatal(err)
	}

	if b.Format != "CycloneDX" || b.Metadata.Component.Version != version() {
		t.Errorf("got format %q, %+v; want CycloneDX and version %s", b.Format, b.Metadata, version())
	}

	for _, want := range []string{"pkg:golang/stdlib@" + runtime.Version(), "pkg:golang/github.com/hibiken/asynq@v"} {
		if !slices.ContainsFunc(b.Components, func(c component) bool { return strings.HasPrefix(c.URL, want) }) {
			t.Errorf("got %+v; want a component %s", b.Components, want)
		}
	}
}
