package convert

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"presswork"
	"presswork/internal/local"
)

func TestExportFlagsAreTheOptionsOfTheAPI(t *testing.T) {
	t.Parallel()

	for _, o := range exportFlags() {
		if f := o.flag(); f != strings.ToLower(f) || strings.Contains(f, "--") || strings.Contains(f, "_") {
			t.Errorf("%s is --%s", o.name, f)
		}
		// null leaves every field unset, so that only an unknown name is an error.
		fields := []byte(`{"` + o.name + `":null}`)

		_, pdf := local.NewWebPage("https://a", "a.pdf", "", fields, nil, nil)

		_, picture := local.NewWebPage("https://a", "a.png", "png", fields, nil, nil)
		if pdf != nil && picture != nil {
			t.Errorf("%s is an option of neither PDFs nor pictures: %v", o.name, pdf)
		}
	}
}

func TestMD2PDFHasAFlagForEveryOption(t *testing.T) {
	t.Parallel()
	var o presswork.Options
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	addOptionFlags(flags, &o)

	for field := range reflect.TypeFor[presswork.Options]().Fields() {
		key := jsonKey(field)
		if key == "css" {
			continue
		}

		name := strings.ReplaceAll(key, "_", "-")
		if key == "margins" {
			name = "margin-left"
		}

		if f := flags.Lookup(name); f == nil || optionHelp()[key] == "" {
			t.Errorf("option %s: no flag --%s, or no help for it", key, name)
		}
	}

	args := []string{
		"--page-size=A5",
		"--landscape",
		"--margin-top=1mm",
		"--margin-left=2mm",
		"--header-text=",
		"--toc",
		"--cover=false",
		"--keywords=a, \"b\"",
		"--scale=0.5",
		"--pdf-a",
		"--tagged=false",
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}

	want := presswork.Options{
		PageSize: "A5", Landscape: new(true), Margins: presswork.Margins{Top: "1mm", Left: "2mm"}, HeaderText: new(""),
		TOC: new(presswork.Depth(3)), Cover: new(false), Keywords: presswork.Keywords{"a", `"b"`}, Scale: new(0.5),
		PDFA: new(presswork.PDFALevel("2b")), Tagged: new(false),
	}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}

	if err := flags.Parse([]string{"--toc=2", "--pdf-a=PDF/A-3b"}); err != nil || *o.TOC != 2 || *o.PDFA != "3b" {
		t.Errorf("%v: toc %v, pdf_a %v", err, *o.TOC, *o.PDFA)
	}
}

func TestMD2PDFReadsThePasswordFromAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret")

	if err := os.WriteFile(file, []byte("tr0ub4dor &3\r\nnot this\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	m := &md2pdf{passwordFile: file}
	if err := m.readPassword(); err != nil || m.options.Password != "tr0ub4dor &3" {
		t.Errorf("got %v, password %q; want the first line of the file", err, m.options.Password)
	}
}
