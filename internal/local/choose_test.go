package local_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/analysis/recommend"
	"presswork/internal/fault"
	"presswork/internal/local"
	"presswork/themes"
)

const recipe = `# Apple cake

Serves 8

## Ingredients

- 200 g flour
- 150 g sugar
- 3 eggs

## Directions

1. Preheat the oven to 180 °C and butter a tin of medium size, with a little flour at its bottom.
2. Beat butter and sugar until they are creamy, then add the eggs one by one, without any haste.
3. Fold in the flour, pour the dough into the tin, and press the slices of the apples into it.
4. Bake it for 45 minutes, let it cool in the open oven, dust it with sugar and serve it with cream.
5. What is left of it keeps for three days under a cloth; it is said to be best on the second one.
`

func TestAThemeIsChosenIfItIsAuto(t *testing.T) {
	t.Parallel()
	var stages []presswork.Stage
	c := startConverter(t, local.Options{
		Output:   presswork.HTML,
		Progress: func(_ string, s presswork.Stage) { stages = append(stages, s) },
	})
	dir := writeFiles(t, map[string]string{
		"cake.md":  recipe,
		"auto.md":  "---\ntheme: auto\n---\n" + recipe,
		"named.md": "---\ntheme: nord\n---\n" + recipe,
	})

	convert := func(name, theme string) local.Output {
		t.Helper()

		out, err := c.Convert(t.Context(),
			local.Input{Path: filepath.Join(dir, name), Output: filepath.Join(dir, name+".html"), Theme: theme})
		if err != nil {
			t.Fatal(err)
		}

		return out
	}
	for i, out := range []local.Output{convert("cake.md", themes.Auto), convert("auto.md", ""), convert("named.md", themes.Auto)} {
		t.Run(fmt.Sprintf("%d %s", i, filepath.Base(out.Input)), func(t *testing.T) {
			if out.Analysis == nil || out.Analysis.DocumentType != "recipe" || out.Theme != "caramellatte" ||
				out.Times.Analyze <= 0 ||
				out.Times.Render <= 0 {
				t.Errorf("got theme %s, times %+v, analysis %+v; want a recipe in caramellatte", out.Theme,
					out.Times, out.Analysis)
			}
		})
	}

	if !slices.Contains(stages, presswork.StageAnalyzing) {
		t.Errorf("got stages %v, want the analysis among them", stages)
	}

	for i, out := range []local.Output{convert("named.md", ""), convert("auto.md", "silk"), convert("cake.md", "")} {
		t.Run(fmt.Sprintf("%d %s", i, filepath.Base(out.Input)), func(t *testing.T) {
			if out.Analysis != nil || out.Times.Analyze != 0 {
				t.Errorf("got analysis %+v and theme %s, want no analysis", out.Analysis, out.Theme)
			}
		})
	}
}

func TestDocumentsOfABatchInOneFolderShareATheme(t *testing.T) {
	t.Parallel()
	c := startConverter(t, local.Options{Output: presswork.HTML})
	dir := writeFiles(t, map[string]string{
		"a.md":     recipe,
		"b.md":     recipe,
		"c.md":     "---\ntags: [children]\n---\n" + recipe,
		"sub/c.md": "---\ntags: [children]\n---\n" + recipe,
	})
	var inputs []local.Input

	for _, name := range []string{"a.md", "b.md", "c.md", "sub/c.md"} {
		path := filepath.Join(dir, name)
		inputs = append(inputs, local.Input{Path: path, Output: path + ".html", Theme: themes.Auto})
	}
	var got []string

	for out, err := range c.Batch(t.Context(), inputs) {
		if err != nil || out.Analysis == nil {
			t.Fatalf("%s: got error %v and analysis %v, want an analysis", out.Input, err, out.Analysis)
		}
		got = append(got, out.Theme)
	}

	if want := []string{"caramellatte", "caramellatte", "caramellatte", "cupcake"}; !slices.Equal(got, want) {
		t.Errorf("got themes %v, want %v", got, want)
	}
}

func TestMergedDocumentIsAnalysedAsAWhole(t *testing.T) {
	t.Parallel()
	c := startConverter(t, local.Options{Output: presswork.HTML, Preference: recommend.Preference{}})
	dir := writeFiles(t, map[string]string{"title.md": "# Cakes", "cake.md": recipe})

	out, err := c.Convert(t.Context(), local.Input{
		Path: filepath.Join(dir, "title.md"), Merge: []string{filepath.Join(dir, "cake.md")},
		Output: filepath.Join(dir, "out.html"), Theme: themes.Auto,
	})
	if err != nil || out.Analysis == nil || out.Analysis.DocumentType != "recipe" {
		t.Errorf("got %v and %+v, want the analysis of a recipe", err, out.Analysis)
	}
}

func TestWarmReportsEachStepAndFailure(t *testing.T) {
	t.Parallel()
	c := startConverter(t, local.Options{})
	dir := writeFiles(t, map[string]string{"cake.md": recipe})
	steps := map[string]string{}

	err := c.Warm(
		t.Context(),
		[]string{filepath.Join(dir, "cake.md"), filepath.Join(dir, "none.md")},
		func(s local.WarmStep, err error) {
			steps[filepath.Base(s.Name)] = s.Detail
			if (err != nil) != strings.HasSuffix(s.Name, "none.md") {
				t.Errorf("step %s: got error %v, want one for none.md only", s.Name, err)
			}
		},
	)
	if fault.AsError(err) == nil || steps["cake.md"] != "caramellatte" || !strings.HasPrefix(steps["themes"], "35") ||
		steps["browser"] == "" ||
		steps["fonts"] == "" {
		t.Errorf("got error %v and steps %v; want an error, and details of each step", err, steps)
	}
}
