package filetest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"math/big"
	"regexp"
	"strconv"
	"testing"
)

// Decrypted splits an encrypted PDF into its decrypted objects. It opens the file with password by algorithm 2.A
// of ISO 32000-2, 7.6.4.3.3, independently of package pdffile.
func Decrypted(t testing.TB, data []byte, password string) map[int]string {
	t.Helper()
	return cut(t, data, cipherOf(t, data, password))
}

// cipherOf returns the cipher of the file's key, which the password unlocks.
func cipherOf(t testing.TB, data []byte, password string) cipher.Block {
	t.Helper()

	m := regexp.MustCompile(`/Encrypt (\d+) 0 R`).FindSubmatch(data)
	if m == nil {
		t.Fatal("the PDF is not encrypted")
	}

	_, dict, ok := bytes.Cut(data, []byte("\n"+string(m[1])+" 0 obj\n"))
	if !ok {
		t.Fatal("there is no encryption dictionary")
	}
	entry := func(name string) []byte {
		m := regexp.MustCompile(`/` + name + ` <([0-9A-F]+)>`).FindSubmatch(dict)
		if m == nil {
			t.Fatalf("the encryption dictionary has no %s", name)
		}

		value := make([]byte, hex.DecodedLen(len(m[1])))
		if _, err := hex.Decode(value, m[1]); err != nil {
			t.Fatal(err)
		}

		return value
	}

	user, owner := entry("U"), entry("O")
	if len(user) != 48 || len(owner) != 48 {
		t.Fatalf("U and O are %d and %d bytes", len(user), len(owner))
	}

	if !bytes.Equal(PasswordHash(t, password, user[32:40], nil), user[:32]) ||
		!bytes.Equal(PasswordHash(t, password, owner[32:40], user), owner[:32]) {
		t.Fatal("the password is wrong")
	}
	unlock := func(with []byte, locked []byte) []byte {
		key := make([]byte, 32)
		cipher.NewCBCDecrypter(block(t, with), make([]byte, aes.BlockSize)).CryptBlocks(key, locked)

		return key
	}

	key := unlock(PasswordHash(t, password, user[40:48], nil), entry("UE"))
	if byOwner := unlock(PasswordHash(t, password, owner[40:48], user), entry("OE")); !bytes.Equal(byOwner, key) {
		t.Fatal("the owner password unlocks a different key")
	}
	permissions := make([]byte, aes.BlockSize)
	block(t, key).Decrypt(permissions, entry("Perms"))

	if string(permissions[9:12]) != "adb" || string(permissions[:8]) != "\xfc\xff\xff\xff\xff\xff\xff\xff" {
		t.Fatalf("the permissions are %q", permissions)
	}

	return block(t, key)
}

// PasswordHash hashes a password by algorithm 2.B of ISO 32000-2, 7.6.4.3.4.
func PasswordHash(t testing.TB, password string, salt, user []byte) []byte {
	t.Helper()
	first := sha256.Sum256([]byte(password + string(salt) + string(user)))

	k := first[:]
	for round := 0; ; round++ {
		k1 := bytes.Repeat([]byte(password+string(k)+string(user)), 64)
		e := make([]byte, len(k1))
		cipher.NewCBCEncrypter(block(t, k[:16]), k[16:32]).CryptBlocks(e, k1)

		switch new(big.Int).Mod(new(big.Int).SetBytes(e[:16]), big.NewInt(3)).Int64() {
		case 0:
			sum := sha256.Sum256(e)
			k = sum[:]
		case 1:
			sum := sha512.Sum384(e)
			k = sum[:]
		default:
			sum := sha512.Sum512(e)
			k = sum[:]
		}

		if round >= 63 && int(e[len(e)-1]) <= round-31 {
			return k[:32]
		}
	}
}

// block returns the AES cipher for a key, or fails the test.
func block(t testing.TB, key []byte) cipher.Block {
	t.Helper()

	b, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}

	return b
}

// decryptStream returns a stream object with its content decrypted.
func decryptStream(t testing.TB, key cipher.Block, object string) string {
	t.Helper()
	dict, content, ok := bytes.Cut([]byte(object), []byte(" stream\n"))

	content, ended := bytes.CutSuffix(content, []byte("\nendstream"))
	if !ok || !ended || len(content)%aes.BlockSize != 0 || len(content) < 2*aes.BlockSize {
		t.Fatalf("%.80q is not an encrypted stream", object)
	}
	plain := make([]byte, len(content)-aes.BlockSize)
	cipher.NewCBCDecrypter(key, content[:aes.BlockSize]).CryptBlocks(plain, content[aes.BlockSize:])

	padding := int(plain[len(plain)-1])
	if padding < 1 || padding > aes.BlockSize {
		t.Fatalf("a stream is padded by %d bytes", padding)
	}
	plain = plain[:len(plain)-padding]
	length := regexp.MustCompile(`/Length \d+`)

	dict = length.ReplaceAll(dict, []byte("/Length "+strconv.Itoa(len(plain))))

	return string(dict) + " stream\n" + string(plain) + "\nendstream"
}
