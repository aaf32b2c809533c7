package pack

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"presswork/internal/pdffile"
	"presswork/internal/pdffile/filetest"
)

// dateOf parses a date of RFC 3339.
func dateOf(t testing.TB, text string) time.Time {
	t.Helper()

	date, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}

	return date
}

func TestInvalidPasswordsAreRejected(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ password, want string }{
		"none":                                   {"", ""},
		"one letter":                             {"a", ""},
		"spaces":                                 {" a b ", ""},
		"127 bytes":                              {strings.Repeat("a", 127), ""},
		"128 bytes":                              {strings.Repeat("a", 128), "longer than 127 bytes"},
		"127 bytes of two each":                  {strings.Repeat("ü", 63) + "a", ""},
		"128 bytes of two each":                  {strings.Repeat("ü", 64), "longer than 127 bytes"},
		"longer before normalization":            {strings.Repeat("u\u0308", 63), ""},
		"longer after normalization":             {strings.Repeat("\ufb03", 43), "longer than 127 bytes"},
		"broken UTF-8":                           {"a\xff", "not valid UTF-8"},
		"half of a surrogate pair":               {"\xed\xa0\x80", "not valid UTF-8"},
		"a tab":                                  {"a\tb", "control character"},
		"a zero":                                 {"a\x00", "control character"},
		"a delete":                               {"\x7f", "control character"},
		"a control character above ASCII":        {"a\u0085b", "control character"},
		"a line break at the end":                {"secret\n", "control character"},
		"a letter that is written right to left": {"שלום", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := pdffile.CheckPassword(c.password)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestEqualLookingPasswordsOpenTheSameFile(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ given, typed string }{
		"a letter and its accent":     {"u\u0308", "ü"},
		"an accented letter":          {"ü", "u\u0308"},
		"a ligature":                  {"\ufb01le", "file"},
		"wide letters":                {"ＡＢＣ", "ABC"},
		"a space that does not break": {"a\u00a0b", "a b"},
		"a superscript":               {"x²", "x2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p, err := Pack(letter(t, 0).Data, Meta{}, Finish{Password: c.given})
			if err != nil {
				t.Fatal(err)
			}
			// A PDF reader normalizes the typed password. filetest does not, so the test does.
			if objects := filetest.Decrypted(t, p.Data, string(pdffile.NormalPassword(c.typed))); len(objects) < 10 {
				t.Errorf("got %d objects, want all of them", len(objects))
			}

			if string(pdffile.NormalPassword(c.given)) != string(pdffile.NormalPassword(c.typed)) {
				t.Errorf("passwords %q and %q are not equal after normalization", c.given, c.typed)
			}
		})
	}
}

func TestAnEncryptedFileIsUnreadableWithoutItsPassword(t *testing.T) {
	t.Parallel()
	built := letter(t, 0)

	first, err := Pack(built.Data, Meta{Title: "Confidential", Author: "Ann"}, Finish{Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}

	for _, word := range []string{"Confidential", "Ann", "(en)", "/Font", "rdf:RDF", "MediaBox", "Skia"} {
		if bytes.Contains(first.Data, []byte(word)) {
			t.Errorf("the file contains %s in plain text", word)
		}
	}
	path := filepath.Join(t.TempDir(), "file.pdf")
	write(t, path, first.Data)

	for _, word := range []string{"", "Secret", "secret "} {
		t.Run(fmt.Sprintf("password %q", word), func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), "pdftotext", "-upw", word, path, "-").CombinedOutput()
			if err == nil || !bytes.Contains(out, []byte("Incorrect password")) {
				t.Errorf("pdftotext: got %s, want that the password is incorrect", out)
			}
		})
	}

	if got := filetest.Poppler(t, first.Data, "pdftotext", "-opw", "secret"); !strings.Contains(got, "First page") {
		t.Errorf("with the password as owner password: got %q, want the text", got)
	}

	if _, err := pdffile.Read(first.Data); err == nil {
		t.Error("Read of an encrypted file: got nil, want an error")
	}

	second, err := Pack(built.Data, Meta{Title: "Confidential", Author: "Ann"}, Finish{Password: "secret"})
	if err != nil || bytes.Equal(idOf(t, first.Data), idOf(t, second.Data)) ||
		bytes.Equal(first.Data[500:1000], second.Data[500:1000]) {
		t.Errorf("two encrypted files have equal parts (%v), want other random bytes", err)
	}
}

func TestStringsInStreamDictionariesAreEncrypted(t *testing.T) {
	t.Parallel()
	built := filetest.Build(t, filetest.Pages("", "BT\nET\n"),
		"-- odd --\n<</Type /Odd\n/Note (readable)\n/More <</At [<72656164>]>>>> stream\n\n")

	p, err := Pack(built.Data, Meta{}, Finish{Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}

	for _, text := range []string{"readable", "72656164"} {
		if bytes.Contains(p.Data, []byte(text)) {
			t.Errorf("the file contains %s in plain text", text)
		}
	}

	if !bytes.Contains(p.Data, []byte("/Note <")) {
		t.Error("the encrypted string is missing")
	}
}

func TestPasswordHashFollowsTheStandard(t *testing.T) {
	t.Parallel()
	// A wrong number of rounds changes only one of about forty hashes.
	for n := range 250 {
		password := fmt.Sprint("password ", n)

		var user []byte
		if n%2 == 1 {
			user = bytes.Repeat([]byte{byte(n)}, 48)
		}

		got := pdffile.PasswordHash(6, []byte(password), []byte("saltsalt"), user)
		if want := filetest.PasswordHash(t, password, []byte("saltsalt"), user); !bytes.Equal(got, want) {
			t.Fatalf("the hash of %q is %x, want %x", password, got, want)
		}
	}
}
