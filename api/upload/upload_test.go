package upload

import (
	"archive/zip"
	"bytes"
	"io"
	"mime/multipart"
	"slices"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/fault"
)

// gauge is a metric that a test reads.
type gauge float64

func (l *gauge) Add(change float64) { *l += gauge(change) }

// newIntake returns an Intake with budgets in bytes, and its gauges of the held bytes.
func newIntake(memory, disk int64) (i *Intake, memoryGauge, diskGauge *gauge) {
	memoryGauge, diskGauge = new(gauge), new(gauge)

	return NewIntake(IntakeOptions{
		Memory: memory, Disk: disk, MemoryGauge: memoryGauge, DiskGauge: diskGauge,
	}), memoryGauge, diskGauge
}

// encodeForm returns the body and the boundary of a form. A field has its name, a file name and its content.
func encodeForm(t *testing.T, fields ...[3]string) (body io.Reader, boundary string) {
	t.Helper()

	var b bytes.Buffer
	w := multipart.NewWriter(&b)

	for _, f := range fields {
		part, err := w.CreateFormFile(f[0], f[1])
		if err != nil {
			t.Fatal(err)
		}

		if _, err := io.WriteString(part, f[2]); err != nil {
			t.Fatal(err)
		}
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	return &b, w.Boundary()
}

func TestDocumentsOfAFolderAreOrdered(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		fields []([3]string)
		first  string
		parts  []string
	}{
		"by number": {
			[][3]string{
				{"files", "book/10.md", "ten"},
				{"files", "book/2.md", "two"},
				{"files", "book/README.md", "first"},
				{"files", "book/.trash/1.md", "hidden"},
			},
			"README.md",
			[]string{"2.md", "10.md"},
		},
		"by SUMMARY.md": {
			[][3]string{
				{"files", "SUMMARY.md", "- [B](b.md)\n- [A](<a.md>)"},
				{"files", "a.md", "a"},
				{"files", "b.md", "b"},
				{"files", ".git/config", "hidden"},
			},
			"b.md",
			[]string{"a.md"},
		},
		"several documents": {
			[][3]string{{"content", "z.md", "z"}, {"content[a.md]", "", "a"}},
			"z.md",
			[]string{"a.md"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			in, memory, _ := newIntake(1<<20, 1<<20)
			hold := in.Hold("ann")
			body, boundary := encodeForm(t, tc.fields...)

			req, err := ReadForm(body, boundary, Limits{Content: 100, Files: 1000}, &hold)
			if err != nil {
				t.Fatal(err)
			}
			defer req.Discard()

			if req.Path != tc.first || !slices.Equal(req.Parts, tc.parts) {
				t.Errorf("got %s, then %v; want %s, then %v", req.Path, req.Parts, tc.first, tc.parts)
			}

			if *memory == 0 {
				t.Error("no byte was counted")
			}

			if hold.Release(); *memory != 0 {
				t.Errorf("%v bytes are counted after the release, want 0", *memory)
			}
		})
	}
}

func TestLargeAssetsMoveToDisk(t *testing.T) {
	t.Parallel()
	in, memory, disk := newIntake(1<<20, 4<<20)
	hold := in.Hold("ann")
	text := strings.Repeat("0123456789", 60_000)

	a := NewAsset("a.bin", &hold)
	if err := a.Fill(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	defer a.Discard()

	if *memory != 0 || *disk != gauge(len(text)) {
		t.Errorf("%v bytes are counted in memory and %v on disk, want 0 and %d", *memory, *disk, len(text))
	}

	if got, err := io.ReadAll(a.Open()); err != nil || string(got) != text || a.Size != int64(len(text)) {
		t.Errorf("read %d of %d bytes, %v; want %d", len(got), a.Size, err, len(text))
	}
}

func TestKeysShareTheBudget(t *testing.T) {
	t.Parallel()
	in, _, _ := newIntake(100, 100)
	read := func(key string, n int) error {
		hold := in.Hold(key)
		_, err := io.Copy(io.Discard, hold.InMemory(strings.NewReader(strings.Repeat("x", n))))

		return err
	}

	if err := read("ann", 40); err != nil {
		t.Fatal(err)
	}

	if err := read("ann", 20); fault.CodeOf(err) != fault.RateLimited {
		t.Errorf("a key over half of the budget: got %v, want %s", err, fault.RateLimited)
	}

	if err := read("bob", 50); err != nil {
		t.Errorf("another key: got %v, want no error", err)
	}

	if err := read("cid", 20); fault.CodeOf(err) != fault.StoreUnavailable {
		t.Errorf("over the whole budget: got %v, want %s", err, fault.StoreUnavailable)
	}
}

func TestHugeArchiveIsRejected(t *testing.T) {
	t.Parallel()

	var b bytes.Buffer
	w := zip.NewWriter(&b)

	entry, err := w.Create("a.md")
	if err != nil {
		t.Fatal(err)
	}

	if _, err := entry.Write(bytes.Repeat([]byte{'x'}, 3<<20)); err != nil {
		t.Fatal(err)
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	in, _, _ := newIntake(64<<20, 64<<20)
	hold := in.Hold("ann")

	_, err = ReadArchive(&b, Conversion{}, Limits{Content: 10 << 20, Files: 10 << 20}, &hold)
	if fault.CodeOf(err) != fault.ContentTooLarge {
		t.Errorf("got %v, want %s", err, fault.ContentTooLarge)
	}
}

func TestFingerprintDependsOnOutputAndFiles(t *testing.T) {
	t.Parallel()
	in, _, _ := newIntake(1<<20, 1<<20)
	hold := in.Hold("ann")
	digest := func(output presswork.Output, files ...[2]string) string {
		req := Conversion{Content: "# Hi", Output: output}

		for _, file := range files {
			a := NewAsset(file[0], &hold)
			if err := a.Fill(strings.NewReader(file[1])); err != nil {
				t.Fatal(err)
			}
			req.Assets = append(req.Assets, a)
		}

		return req.Fingerprint()
	}
	a, b := [2]string{"a", "one"}, [2]string{"b", "two"}

	for name, tc := range map[string]struct {
		x, y string
		same bool
	}{
		"the order of files":   {digest("", a, b), digest("", b, a), true},
		"the default output":   {digest("", a), digest(presswork.PDF, a), true},
		"another output":       {digest("", a), digest(presswork.HTML, a), false},
		"another file":         {digest("", a), digest("", a, b), false},
		"a file's new name":    {digest("", a), digest("", [2]string{"b", "one"}), false},
		"a file's new content": {digest("", a), digest("", [2]string{"a", "two"}), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if (tc.x == tc.y) != tc.same {
				t.Errorf("the fingerprints are %s and %s, want them equal: %v", tc.x, tc.y, tc.same)
			}
		})
	}
}
