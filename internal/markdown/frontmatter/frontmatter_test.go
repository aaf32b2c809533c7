package frontmatter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/fault"
	"presswork/internal/markdown/frontmatter"
)

func TestFieldsKeepTheirOrderAndTheirText(t *testing.T) {
	t.Parallel()

	type field struct {
		Key         string
		Line        int
		Value, Text any
	}

	for name, row := range map[string]struct {
		src  string
		want []field
	}{
		"YAML": {
			"---\nz: yes\na: 2024-01-02\nlist: [1, no]\n---\n",
			[]field{
				{"z", 2, "yes", "yes"},
				{"a", 3, "2024-01-02", "2024-01-02"},
				{"list", 4, []any{"1", "no"}, []any{"1", "no"}},
			},
		},
		"TOML": {
			"+++\nz = true\na = 2024-01-02\n[map]\nn = 1\n+++\n",
			[]field{
				{"z", 2, true, "true"},
				{"a", 3, "2024-01-02", "2024-01-02"},
				{"map", 4, map[string]any{"n": "1"}, map[string]any{"n": "1"}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d, err := frontmatter.Read([]byte(row.src))
			if err != nil {
				t.Fatal(err)
			}

			var got []field

			for _, f := range d.Fields {
				value, err := f.Value()
				if err != nil {
					t.Fatal(err)
				}

				text, err := f.Text()
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, field{f.Key, f.Line, value, text})
			}

			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestYAMLErrorsNameTheLine(t *testing.T) {
	t.Parallel()

	for src, says := range map[string]string{
		"---\ntitle: \"open\nauthor: x\n---\n":                             "line ",
		"---\ntitle: " + strings.Repeat("[", 40) + "\n---\n":               "nest deeper",
		"---\nkeywords:\n" + strings.Repeat("- ", 40) + "\n---\n":          "nest deeper",
		"---\ntitle: " + strings.Repeat("a", 9000) + "\n---\n":             "longer than 8 KB",
		"---\ntitle: |\n" + strings.Repeat("  aaaaaaaa\n", 7000) + "---\n": "longer than 64 KB",
	} {
		t.Run(says, func(t *testing.T) {
			_, err := frontmatter.Read([]byte(src))
			if fault.CodeOf(err) != fault.FrontMatterInvalid || !strings.Contains(err.Error(), says) {
				t.Errorf("%.60q: got %v, want %q", src, err, says)
			}
		})
	}
}

func TestTOMLErrorsNameTheLine(t *testing.T) {
	t.Parallel()

	for src, says := range map[string]string{
		"+++\na = 1\ntitle = \"open\n+++\n":                                   "line 3: ",
		"+++\ntitle = \"x\"\ntitle = \"y\"\n+++\n":                            "line 3: ",
		"+++\na = " + strings.Repeat("[", 40) + "\n+++\n":                     "nest deeper",
		"+++\na = '''\n" + strings.Repeat("aaaaaaaaa\n", 7000) + "'''\n+++\n": "longer than 64 KB",
	} {
		t.Run(says, func(t *testing.T) {
			_, err := frontmatter.Read([]byte(src))
			if fault.CodeOf(err) != fault.FrontMatterInvalid || !strings.Contains(err.Error(), says) {
				t.Errorf("%.60q: got %v, want %q", src, err, says)
			}
		})
	}
}

func TestOtherBeginningsStayMarkdown(t *testing.T) {
	t.Parallel()

	for _, src := range []string{
		"# x\n---\na: b\n---\n", "---\nHello world\n---\n", "---\n- a: b\n---\n", "----\na: b\n---\n", "---\ntitle: x\n", "--- x\na: b\n---\n", "",
		"---\n# A heading between rules\n---\n", "---\nNote: a paragraph\nof two lines: [x\n---\n", "+++\nHello = there, world\n", "+++\ntext\n+++\n", "++++\na = 1\n++++\n", "+++\n\n+++ b\n", "---\nNote: a rule\n" + strings.Repeat("a line\n", 10_000),
	} {
		t.Run(fmt.Sprintf("%.30q", src), func(t *testing.T) {
			m, err := frontmatter.Read([]byte(src))
			if err != nil || string(m.Body) != src || m.BodyLine != 1 {
				t.Errorf("%q: got body %q at line %d, %v", src, m.Body, m.BodyLine, err)
			}
		})
	}

	m, err := frontmatter.Read([]byte("---\ntitle: x\n--- abstract\n\nAn Internet-Draft.\n\n--- middle\n"))
	if err != nil || len(m.Fields) != 1 || string(m.Body) != "--- abstract\n\nAn Internet-Draft.\n\n--- middle\n" ||
		m.BodyLine != 3 {
		t.Errorf("front matter before a part of an Internet-Draft: %+v, %v", m, err)
	}

	m, err = frontmatter.Read([]byte("\ufeff---\r\ntitle: x\r\n...\r\nbody"))
	if err != nil || len(m.Fields) != 1 || string(m.Body) != "body" || m.BodyLine != 4 {
		t.Errorf("with a byte order mark and CRLF: %+v, %v", m, err)
	}
}

func TestSettingsNameTheLineAndNestDeeper(t *testing.T) {
	t.Parallel()

	fields, err := frontmatter.Settings(
		[]byte("a: !!python/name:x.y\nb: {c: {d: {e: {f: {g: {h: {i: j}}}}}}}\n"),
		false,
	)
	if err != nil || len(fields) != 2 || fields[1].Key != "b" || fields[1].Line != 2 {
		t.Fatal(fields, err)
	}

	if v, err := fields[1].Text(); err != nil || !strings.Contains(fmt.Sprint(v), "i:j") {
		t.Errorf("got %v, %v", v, err)
	}

	for text, want := range map[string]string{"a: 1\nb: \"x\n": "line 2", "- x\n": "line 1: it must be a list"} {
		if _, err := frontmatter.Settings([]byte(text), false); fault.CodeOf(err) != fault.InvalidRequest ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
