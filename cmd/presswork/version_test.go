package main

import (
	"os"
	"regexp"
	"runtime/debug"
	"testing"
)

func TestOnlyAChangedTreeIsNotTheRelease(t *testing.T) {
	t.Parallel()
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123"}
	for want, settings := range map[[2]string][]debug.BuildSetting{
		{release, ""}:             nil,
		{release, "0123456789ab"}: {commit, {Key: "vcs.modified", Value: "false"}},
		{"dev", "0123456789ab"}:   {{Key: "vcs.modified", Value: "true"}, commit},
	} {
		if version, commit := built(settings); version != want[0] || commit != want[1] {
			t.Errorf("%v: %s, %s", settings, version, commit)
		}
	}
}

func TestTheDescriptionHasTheVersionOfTheProgram(t *testing.T) {
	t.Parallel()
	description, err := os.ReadFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`(?m)^  version: "(.+)"$`).FindSubmatch(description); m == nil || string(m[1]) != release {
		t.Errorf("openapi.yaml has the version %s, the program %s", m, release)
	}
}
