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

// level is a gauge that a test reads.
type level float64

func (l *level) Add(change float64) { *l += level(change) }

// intake returns an Intake of some bytes, and the bytes that it shows as held.
func intake(memory, disk int64) (i *Intake, shownMemory, shownDisk *level) {
	shownMemory, shownDisk = new(level), new(level)

	return NewIntake(IntakeOptions{
		Memory: memory, Disk: disk, MemoryGauge: shownMemory, DiskGauge: shownDisk,
	}), shownMemory, shownDisk
}

// send returns the body and the boundary of a form whose fields are named by their content: name, file name, text.
func send(t *testing.T, fields ...[3]string) (body io.Reader, boundary string) {
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

func TestAFolderIsReadInTheOrderOfItsDocuments(t *testing.T) {
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

			in, memory, _ := intake(1<<20, 1<<20)
			hold := in.Hold("ann")
			body, boundary := send(t, tc.fields...)

			req, err := ReadForm(body, boundary, Limits{Content: 100, Files: 1000}, &hold)
			if err != nil {
				t.Fatal(err)
			}
			defer req.Discard()

			if req.Path != tc.first || !slices.Equal(req.Parts, tc.parts) {
				t.Errorf("got %s, then %v", req.Path, req.Parts)
			}

			if *memory == 0 {
				t.Error("no byte was counted")
			}

			if hold.Release(); *memory != 0 {
				t.Errorf("%v bytes are still counted after the release", *memory)
			}
		})
	}
}

func TestLargeAssetsMoveToDisk(t *testing.T) {
	t.Parallel()
	in, memory, disk := intake(1<<20, 4<<20)
	hold := in.Hold("ann")
	text := strings.Repeat("0123456789", 60_000)

	a := NewAsset("a.bin", &hold)
	if err := a.Fill(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	defer a.Discard()

	if *memory != 0 || *disk != level(len(text)) {
		t.Errorf("counted %v bytes in memory and %v on disk", *memory, *disk)
	}

	if got, err := io.ReadAll(a.Open()); err != nil || string(got) != text || a.Size != int64(len(text)) {
		t.Errorf("read %d bytes of %d (%v)", len(got), a.Size, err)
	}
}

func TestABudgetIsSharedByKeys(t *testing.T) {
	t.Parallel()
	in, _, _ := intake(100, 100)
	read := func(key string, n int) error {
		hold := in.Hold(key)
		_, err := io.Copy(io.Discard, hold.InMemory(strings.NewReader(strings.Repeat("x", n))))

		return err
	}

	if err := read("ann", 40); err != nil {
		t.Fatal(err)
	}

	if err := read("ann", 20); fault.CodeOf(err) != fault.RateLimited {
		t.Errorf("a key with more than half: %v", err)
	}

	if err := read("bob", 50); err != nil {
		t.Errorf("another key: %v", err)
	}

	if err := read("cid", 20); fault.CodeOf(err) != fault.StoreUnavailable {
		t.Errorf("more than the node has: %v", err)
	}
}

func TestAnArchiveThatUnpacksToTooMuchIsRejected(t *testing.T) {
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
	in, _, _ := intake(64<<20, 64<<20)
	hold := in.Hold("ann")

	_, err = ReadArchive(&b, Conversion{}, Limits{Content: 10 << 20, Files: 10 << 20}, &hold)
	if fault.CodeOf(err) != fault.ContentTooLarge {
		t.Errorf("got %v", err)
	}
}

func TestAFingerprintDependsOnOutputAndFiles(t *testing.T) {
	t.Parallel()
	in, _, _ := intake(1<<20, 1<<20)
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
				t.Errorf("the digests are %s and %s", tc.x, tc.y)
			}
		})
	}
}
