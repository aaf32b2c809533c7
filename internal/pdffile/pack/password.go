package pack

import (
	"bytes"
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

	"presswork/internal/pdffile"
)

// maxPassword is the longest password that the format allows, in bytes of UTF-8.
const maxPassword = 127

// CheckPassword returns an error for a password that no reader accepts. The error text continues a sentence that
// begins with the name of the setting: "is longer than 127 bytes".
func CheckPassword(password string) error {
	if !utf8.ValidString(password) {
		return errors.New("is not valid UTF-8")
	}

	if len(normalPassword(password)) > maxPassword {
		return fmt.Errorf("is longer than %d bytes", maxPassword)
	}

	for _, r := range password {
		if unicode.IsControl(r) {
			return errors.New("contains a control character, which PDF readers cannot accept")
		}
	}

	return nil
}

// normalPassword maps passwords that look equal to the same bytes, as readers do. It uses NFKC, a part of SASLprep
// (RFC 4013).
func normalPassword(password string) []byte { return norm.NFKC.Bytes([]byte(password)) }

// seal encrypts the streams of a file with AES-256, by revision 6 of the standard security handler in ISO 32000-2,
// 7.6.4. It does not encrypt strings on their own, because all of them are in object streams.
type seal struct {
	block cipher.Block
	// dict is the object number of the encryption dictionary.
	dict int
}

// encrypted writes the file with encryption. The password is both the user's and the owner's, so a reader who
// opens the file has all permissions. Keys, salts and the file's id are random: equal inputs give different files.
func (w *writer) encrypted(password string) error {
	var key [32]byte
	var salts [32]byte
	var padding [4]byte

	w.id = make([]byte, aes.BlockSize)
	for _, b := range [][]byte{key[:], salts[:], padding[:], w.id} {
		_, _ = rand.Read(b) // never fails
	}
	word := normalPassword(password)
	user := append(passwordHash(word, salts[0:8], nil), salts[0:16]...)
	userKey := wrapKey(passwordHash(word, salts[8:16], nil), key[:])
	owner := append(passwordHash(word, salts[16:24], user), salts[16:32]...)
	ownerKey := wrapKey(passwordHash(word, salts[24:32], user), key[:])
	const allPermissions = -4 // the two lowest bits are reserved
	permissions := binary.LittleEndian.AppendUint32(nil, uint32(0xffffffff+allPermissions+1))
	permissions = append(append(permissions, "\xff\xff\xff\xffTadb"...), padding[:]...)
	block := newCipher(key[:])
	block.Encrypt(permissions, permissions)

	for n, o := range w.file.Objects {
		if !pdffile.IsStream(o) {
			continue
		}

		if d, _, err := pdffile.ReadDict(o); err != nil || bytes.ContainsAny(d.Bytes(), "(") {
			return fmt.Errorf("stream %d: %w", n, pdffile.ErrObject)
		}
	}
	w.seal = &seal{block: block, dict: len(w.offsets)}
	w.offsets = append(w.offsets, location{})
	w.header()
	w.object(
		w.seal.dict,
		fmt.Appendf(
			nil,
			"<</Filter /Standard\n/V 5\n/R 6\n/Length 256\n/P %d\n/O <%X>\n/U <%X>\n/OE <%X>\n/UE <%X>\n/Perms <%X>\n"+
				"/CF <</StdCF <</AuthEvent /DocOpen\n/CFM /AESV3\n/Length 32>>>>\n/StmF /StdCF\n/StrF /StdCF>>",
			allPermissions,
			owner,
			user,
			ownerKey,
			userKey,
			permissions,
		),
	)
	w.compressed()

	return nil
}

// stream returns an encrypted stream object. A nil seal returns the object unchanged.
func (s *seal) stream(object []byte) []byte {
	if s == nil {
		return object
	}

	d, content, err := pdffile.ReadDict(object)
	if err != nil {
		panic(err) // this package has read or written every stream
	}
	content = bytes.TrimSuffix(bytes.TrimPrefix(content, []byte(" stream\n")), []byte("\nendstream"))
	pad := aes.BlockSize - len(content)%aes.BlockSize
	sealed := make([]byte, aes.BlockSize+len(content)+pad)
	_, _ = rand.Read(sealed[:aes.BlockSize]) // never fails
	copy(sealed[aes.BlockSize:], content)
	copy(sealed[aes.BlockSize+len(content):], bytes.Repeat([]byte{byte(pad)}, pad))
	cipher.NewCBCEncrypter(s.block, sealed[:aes.BlockSize]).CryptBlocks(sealed[aes.BlockSize:], sealed[aes.BlockSize:])
	d.Set("Length", fmt.Sprint(len(sealed)))

	return bytes.Join([][]byte{d.Bytes(), []byte(" stream\n"), sealed, []byte("\nendstream")}, nil)
}

// passwordHash is algorithm 2.B of ISO 32000-2, 7.6.4.3.4. It is slow on purpose.
func passwordHash(password, salt, user []byte) []byte {
	sum := sha256.Sum256(bytes.Join([][]byte{password, salt, user}, nil))

	k := sum[:]
	for round := 1; ; round++ {
		e := bytes.Repeat(bytes.Join([][]byte{password, k, user}, nil), 64)
		cipher.NewCBCEncrypter(newCipher(k[:16]), k[16:32]).CryptBlocks(e, e)

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

// wrapKey encrypts the file key with a key derived from a password.
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
