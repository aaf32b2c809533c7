package pdffile

import (
	"bytes"
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxPassword is the longest password that the format allows, in bytes of UTF-8.
const maxPassword = 127

// CheckPassword returns an error for a password that no reader accepts. The error text continues a sentence that
// begins with the name of the setting: "is longer than 127 bytes".
func CheckPassword(password string) error {
	if !utf8.ValidString(password) {
		return errors.New("is not valid UTF-8")
	}

	if len(NormalPassword(password)) > maxPassword {
		return fmt.Errorf("is longer than %d bytes", maxPassword)
	}

	for _, r := range password {
		if unicode.IsControl(r) {
			return errors.New("contains a control character, which PDF readers cannot accept")
		}
	}

	return nil
}

// NormalPassword returns the bytes that stand for a password. Passwords that look equal have the same bytes, as in
// readers. It uses NFKC, a part of SASLprep (RFC 4013). It does not check the length; see CheckPassword.
func NormalPassword(password string) []byte { return norm.NFKC.Bytes([]byte(password)) }

// Protection is the encryption of a file: AES-256 by revision 6 of the standard security handler in ISO 32000-2,
// 7.6.4. CheckPassword must accept both passwords.
type Protection struct {
	// User is the password that opens the file. If it is empty, everyone can open the file.
	User string
	// Owner is the password that opens the file with all permissions. Default: the user's.
	Owner string
	// Permissions are the permission bits for readers with the user's password (ISO 32000-2, table 22).
	Permissions uint32
}

// AllPermissions are permission bits that allow everything. The two lowest bits are reserved.
const AllPermissions = ^uint32(3)

// seal encrypts streams and the strings in their dictionaries. All other strings are in object streams, which are
// encrypted as a whole.
type seal struct {
	block cipher.Block
	// dict is the object number of the encryption dictionary.
	dict int
}

// writeEncrypted writes the file with encryption. Keys, salts and the file's id are random: equal inputs give
// different files.
func (w *writer) writeEncrypted(p Protection) error {
	var key [32]byte
	// Four salts of eight bytes: to check and to use the user's password, and then the owner's.
	var salts [32]byte
	var padding [4]byte // the last bytes of Perms, which the standard leaves random

	w.id = make([]byte, aes.BlockSize)
	for _, b := range [][]byte{key[:], salts[:], padding[:], w.id} {
		_, _ = rand.Read(b) // never fails
	}
	userPassword, ownerPassword := NormalPassword(p.User), NormalPassword(cmp.Or(p.Owner, p.User))
	user := append(PasswordHash(6, userPassword, salts[0:8], nil), salts[0:16]...)
	userKey := wrapKey(PasswordHash(6, userPassword, salts[8:16], nil), key[:])
	owner := append(PasswordHash(6, ownerPassword, salts[16:24], user), salts[16:32]...)
	ownerKey := wrapKey(PasswordHash(6, ownerPassword, salts[24:32], user), key[:])
	permissions := binary.LittleEndian.AppendUint32(nil, p.Permissions)
	// The entry Perms repeats the permissions encrypted, so that readers detect a change of P. "T" says that the
	// metadata is encrypted. "adb" marks the entry as valid.
	permissions = append(append(permissions, "\xff\xff\xff\xffTadb"...), padding[:]...)
	block := newCipher(key[:])
	block.Encrypt(permissions, permissions)

	// Reject unreadable streams before anything is written: seal.stream cannot return an error.
	for n, o := range w.file.Objects {
		if !IsStream(o) {
			continue
		}

		if _, _, err := ReadDict(o); err != nil {
			return fmt.Errorf("stream %d: %w", n, ErrObject)
		}
	}
	// The encryption dictionary itself must stay readable, so it is written as a plain object.
	w.seal = &seal{block: block, dict: len(w.offsets)}
	w.offsets = append(w.offsets, location{})
	w.header()
	w.object(w.seal.dict, fmt.Appendf(nil,
		"<</Filter /Standard\n/V 5\n/R 6\n/Length 256\n/P %d\n/O <%X>\n/U <%X>\n/OE <%X>\n/UE <%X>\n/Perms <%X>\n"+
			"/CF <</StdCF <</AuthEvent /DocOpen\n/CFM /AESV3\n/Length 32>>>>\n/StmF /StdCF\n/StrF /StdCF>>",
		int32(p.Permissions), owner, user, ownerKey, userKey, permissions))
	w.writeCompressed()

	return nil
}

// stream returns an encrypted stream object. A nil seal returns the object unchanged.
func (s *seal) stream(object []byte) []byte {
	if s == nil {
		return object
	}

	d, content, err := ReadDict(object)
	if err != nil {
		panic(err) // writeEncrypted has read every stream, and this package writes the object streams
	}
	content = bytes.TrimSuffix(bytes.TrimPrefix(content, []byte(" stream\n")), []byte("\nendstream"))

	for i := range d {
		d[i].Value = s.strings(d[i].Value)
	}

	return NewStream(d, s.data(content))
}

// strings encrypts the strings within a value. Brackets of dictionaries and empty hexadecimal strings stay.
func (s *seal) strings(value []byte) []byte {
	if !bytes.ContainsAny(value, "(<") {
		return value
	}
	var out []byte

	for at := 0; at < len(value); {
		var n int

		switch c := value[at]; {
		case bytes.HasPrefix(value[at:], []byte("<<")):
			n = 2
		case c == '(':
			n = StringLength(value[at:])
		case c == '<':
			n = bytes.IndexByte(value[at:], '>') + 1
		default:
			out = append(out, c)
			at++
			continue
		}

		part := value[at : at+max(n, 1)]
		if n > 2 || n == 2 && part[0] == '(' {
			part = fmt.Appendf(nil, "<%X>", s.data(StringBytes(part)))
		}
		out = append(out, part...)
		at += max(n, 1)
	}

	return out
}

// data encrypts b by AES in CBC mode. The result begins with the random initialization vector, as ISO 32000-2, 7.6.3.1
// requires. The padding says its length in each of its 1 to 16 bytes.
func (s *seal) data(b []byte) []byte {
	pad := aes.BlockSize - len(b)%aes.BlockSize
	sealed := make([]byte, aes.BlockSize+len(b)+pad)
	_, _ = rand.Read(sealed[:aes.BlockSize]) // never fails
	copy(sealed[aes.BlockSize:], b)
	copy(sealed[aes.BlockSize+len(b):], bytes.Repeat([]byte{byte(pad)}, pad))
	cipher.NewCBCEncrypter(s.block, sealed[:aes.BlockSize]).CryptBlocks(sealed[aes.BlockSize:], sealed[aes.BlockSize:])

	return sealed
}

// PasswordHash returns 32 bytes by algorithm 2.B of ISO 32000-2, 7.6.4.3.4, which is slow on purpose. revision is that
// of the security handler, 5 or 6. user is the U entry when the owner password is hashed, and nil otherwise.
func PasswordHash(revision int, password, salt, user []byte) []byte {
	sum := sha256.Sum256(bytes.Join([][]byte{password, salt, user}, nil))

	k := sum[:]
	if revision == 5 { // an extension of PDF 1.7 by Adobe without the rounds
		return k
	}

	for round := 1; ; round++ {
		e := bytes.Repeat(bytes.Join([][]byte{password, k, user}, nil), 64)
		cipher.NewCBCEncrypter(newCipher(k[:16]), k[16:32]).CryptBlocks(e, e)

		// The standard takes the first 16 bytes as a number modulo 3. As 256 modulo 3 is 1, the sum of the bytes has
		// the same remainder.
		remainder := 0
		for _, b := range e[:16] {
			remainder += int(b)
		}

		switch remainder % 3 {
		case 0:
			sum := sha256.Sum256(e)
			k = sum[:]
		case 1:
			sum := sha512.Sum384(e)
			k = sum[:]
		case 2:
			sum := sha512.Sum512(e)
			k = sum[:]
		}

		if round >= 64 && int(e[len(e)-1]) <= round-32 {
			return k[:32:32]
		}
	}
}

// wrapKey encrypts the file key with a key derived from a password. The standard requires an initialization vector of
// zeros here: a key is used for this one block chain only.
func wrapKey(with, key []byte) []byte {
	wrapped := make([]byte, len(key))
	cipher.NewCBCEncrypter(newCipher(with), make([]byte, aes.BlockSize)).CryptBlocks(wrapped, key)

	return wrapped
}

// newCipher returns AES with a key of 16 or 32 bytes.
func newCipher(key []byte) cipher.Block {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // only a wrong key length fails
	}

	return block
}
