package parse

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rc4"
	"encoding/binary"
	"strconv"

	"golang.org/x/text/encoding/charmap"

	"presswork/internal/pdffile"
)

// decryption is the standard security handler of a file (ISO 32000-2, 7.6.4) with its key.
type decryption struct {
	name        string // of the cipher for users, such as "AES-128"
	fileKey     []byte
	streams     method
	strings     method
	permissions uint32
	owner       bool // the password was that of the owner
	// metadata is true if the metadata stream is encrypted.
	metadata bool
}

// method is how strings or streams are encrypted.
type method int

const (
	identity method = iota
	rc4Method
	aes128
	aes256
)

// unlock reads the encryption dictionary, if there is one, and derives the key of the file from the password. It sets
// r.cipher. Errors: ErrEncryption, ErrPassword.
func (r *reader) unlock(password string) error {
	value := r.trailer.Get("Encrypt")
	if value == nil {
		return nil
	}

	if n, ok := pdffile.Reference(value); ok {
		if n >= len(r.table) || r.table[n].offset <= 0 {
			return ErrEncryption
		}

		var err error
		// The encryption dictionary itself is never encrypted.
		if _, value, _, err = r.objectAt(r.table[n].offset, false); err != nil {
			return ErrEncryption
		}
	}

	d, _, err := pdffile.ReadDict(value)
	if err != nil || string(d.Get("Filter")) != "/Standard" {
		return ErrEncryption
	}
	h := handler{dict: d, metadata: string(d.Get("EncryptMetadata")) != "false"}
	h.version, _ = strconv.Atoi(string(d.Get("V")))
	h.revision, _ = strconv.Atoi(string(d.Get("R")))
	h.owner, h.user = pdffile.StringBytes(d.Get("O")), pdffile.StringBytes(d.Get("U"))
	p, _ := strconv.ParseInt(string(d.Get("P")), 10, 64) // some programs write it unsigned
	h.permissions = uint32(p)

	if ids, err := pdffile.ReadArray(r.trailer.Get("ID")); err == nil && len(ids) > 0 {
		h.id = pdffile.StringBytes(ids[0])
	}
	c := &decryption{permissions: h.permissions, metadata: h.metadata}

	if c.streams, c.strings, err = h.methods(); err != nil {
		return err
	}
	c.name = map[method]string{identity: "none", rc4Method: "RC4", aes128: "AES-128", aes256: "AES-256"}[c.streams]

	if c.fileKey, c.owner = h.key(password); c.fileKey == nil {
		return ErrPassword
	}
	r.cipher = c

	return nil
}

// methods returns how streams and strings are encrypted. Versions 1 and 2 use RC4 for both. Versions 4 and 5 name a
// crypt filter for each. Errors: ErrEncryption.
func (h *handler) methods() (streams, strings method, err error) {
	switch h.version {
	case 1, 2:
		return rc4Method, rc4Method, nil
	case 4, 5:
	default:
		return 0, 0, ErrEncryption
	}

	filters, _, err := pdffile.ReadDict(h.dict.Get("CF"))
	if err != nil && h.dict.Get("CF") != nil {
		return 0, 0, ErrEncryption
	}
	of := func(key string) (method, error) {
		name := string(bytes.TrimPrefix(h.dict.Get(key), []byte("/")))
		if name == "" || name == "Identity" {
			return identity, nil
		}

		filter, _, err := pdffile.ReadDict(filters.Get(name))
		if err != nil {
			return 0, ErrEncryption
		}

		switch string(filter.Get("CFM")) {
		case "/V2":
			return rc4Method, nil
		case "/AESV2":
			return aes128, nil
		case "/AESV3":
			return aes256, nil
		case "/None", "":
			return identity, nil
		}

		return 0, ErrEncryption
	}

	if streams, err = of("StmF"); err == nil {
		strings, err = of("StrF")
	}

	return streams, strings, err
}

// objectKey decrypts one object. stream also accepts a nil objectKey, that of a file without encryption.
type objectKey struct {
	*decryption
	short []byte // the key for RC4 and AES-128, which is different for each object
}

// key returns the key of an object (ISO 32000-2, algorithm 1). AES-256 uses the key of the file for all objects.
func (c *decryption) key(number, generation int) *objectKey {
	k := &objectKey{decryption: c}
	if c.streams == aes256 || c.strings == aes256 {
		return k
	}
	seed := bytes.Clone(c.fileKey)
	seed = append(seed, byte(number), byte(number>>8), byte(number>>16), byte(generation), byte(generation>>8))

	// The standard adds this constant for AES-128 only.
	if c.streams == aes128 || c.strings == aes128 {
		seed = append(seed, "sAlT"...)
	}
	sum := md5.Sum(seed)
	k.short = sum[:min(len(c.fileKey)+5, len(sum))]

	return k
}

// text decrypts a string.
func (k *objectKey) text(in []byte) []byte { return k.open(k.strings, in) }

// stream decrypts the content of a stream. Without a key, the content is returned as it is. So is the metadata stream
// of a file that does not encrypt it.
func (k *objectKey) stream(d pdffile.Dict, in []byte) []byte {
	if k == nil || string(d.Get("Type")) == "/Metadata" && !k.metadata {
		return in
	}

	if bytes.HasPrefix(bytes.TrimLeft(d.Get("Filter"), "[ "), []byte("/Crypt")) {
		return in // named filters other than Identity are not in use
	}

	return k.open(k.streams, in)
}

// open decrypts a string or a stream. AES data begins with a block that is the initialization vector and ends with
// padding of 1 to 16 bytes. open returns nil for data that is too short.
func (k *objectKey) open(how method, in []byte) []byte {
	key := k.short

	switch how {
	case identity:
		return in
	case rc4Method:
		c, err := rc4.NewCipher(key)
		if err != nil {
			return in
		}
		out := make([]byte, len(in))
		c.XORKeyStream(out, in)

		return out
	case aes256:
		key = k.fileKey
	}

	block, err := aes.NewCipher(key)
	if err != nil || len(in) < 2*aes.BlockSize {
		return nil
	}
	out := make([]byte, (len(in)-aes.BlockSize)/aes.BlockSize*aes.BlockSize)
	cipher.NewCBCDecrypter(block, in[:aes.BlockSize]).CryptBlocks(out, in[aes.BlockSize:aes.BlockSize+len(out)])

	// Data without valid padding is kept whole instead of failing.
	if pad := int(out[len(out)-1]); pad > 0 && pad <= aes.BlockSize {
		out = out[:len(out)-pad]
	}

	return out
}

// handler is the encryption dictionary of a file, from which a password unlocks the key.
type handler struct {
	dict              pdffile.Dict
	version, revision int
	owner, user, id   []byte // entries of the encryption dictionary
	permissions       uint32
	metadata          bool
}

// key returns the key of the file, or nil if the password is wrong. owner is true if the password is the owner's. The
// password may be empty: many files restrict printing or copying without asking for a password.
func (h *handler) key(password string) (key []byte, owner bool) {
	if h.revision >= 5 {
		const maxPassword = 127 // bytes by the standard; the hash reads the password thousands of times
		normal := pdffile.NormalPassword(password)

		return h.longKey(normal[:min(maxPassword, len(normal))])
	}

	if len(h.owner) < 32 || len(h.user) < 32 {
		return nil, false
	}
	encoded := [][]byte{[]byte(password)} // the encodings to try

	// The standard asks for PDFDocEncoding, which is Latin-1 for most letters; some programs write UTF-8.
	if latin, err := charmap.ISO8859_1.NewEncoder().Bytes(encoded[0]); err == nil {
		encoded = append(encoded, latin)
	}

	for _, p := range encoded {
		// Try the owner password first, because it grants all permissions. The O entry holds the user password,
		// encrypted with the owner password.
		if key = h.userKey(h.userPassword(p)); key != nil {
			return key, true
		}

		if key = h.userKey(p); key != nil {
			return key, false
		}
	}

	return nil, false
}

// longKey is algorithm 2.A of ISO 32000-2 for revisions 5 and 6. The entries O and U have three parts: a hash of 32
// bytes, the salt of the hash, and the salt of the key. Each salt has 8 bytes. OE and UE hold the encrypted key of the
// file.
func (h *handler) longKey(password []byte) (key []byte, owner bool) {
	sealed := func(name string) []byte {
		b := pdffile.StringBytes(h.dict.Get(name))
		return b[:min(32, len(b))]
	}

	if len(h.owner) < 48 || len(h.user) < 48 || len(sealed("OE")) < 32 || len(sealed("UE")) < 32 {
		return nil, false
	}
	hash := func(salt, user []byte) []byte {
		return pdffile.PasswordHash(h.revision, password, salt, user)
	}
	open := func(with, locked []byte) []byte {
		block, err := aes.NewCipher(with)
		if err != nil {
			return nil
		}
		// The standard prescribes an initialization vector of zeros and no padding here.
		key := make([]byte, len(locked))
		cipher.NewCBCDecrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(key, locked)

		return key
	}

	if user := h.user[:48]; bytes.Equal(hash(h.owner[32:40], user), h.owner[:32]) {
		return open(hash(h.owner[40:48], user), sealed("OE")), true
	}

	if bytes.Equal(hash(h.user[32:40], nil), h.user[:32]) {
		return open(hash(h.user[40:48], nil), sealed("UE")), false
	}

	return nil, false
}

// padding completes passwords of revisions 2 to 4.
const padding = "\x28\xbf\x4e\x5e\x4e\x75\x8a\x41\x64\x00\x4e\x56\xff\xfa\x01\x08" +
	"\x2e\x2e\x00\xb6\xd0\x68\x3e\x80\x2f\x0c\xa9\xfe\x64\x53\x69\x7a"

// padded returns the 32 bytes that stand for a password.
func padded(password []byte) []byte { return append(bytes.Clone(password), padding...)[:32] }

// keySize returns the size of the file key in bytes.
func (h *handler) keySize() int {
	n, err := strconv.Atoi(string(h.dict.Get("Length")))
	switch {
	case h.version == 1 || h.version == 2 && err != nil:
		return 5
	case h.version == 4:
		return 16
	}

	return min(max(n/8, 5), 16)
}

// userKey returns the file key for a user password, or nil if the password is wrong (algorithms 2, 4 and 5).
func (h *handler) userKey(password []byte) []byte {
	m := md5.New()
	m.Write(padded(password))
	m.Write(h.owner[:32])
	m.Write(binary.LittleEndian.AppendUint32(nil, h.permissions))
	m.Write(h.id)

	if h.revision >= 4 && !h.metadata {
		m.Write([]byte{0xff, 0xff, 0xff, 0xff})
	}
	key := m.Sum(nil)

	// From revision 3 on, hashing 50 times makes guesses slower.
	if h.revision >= 3 {
		for range 50 {
			sum := md5.Sum(key[:h.keySize()])
			key = sum[:]
		}
	}
	key = key[:h.keySize()]

	// The U entry proves the password. Revision 2 encrypts the padding with the key (algorithm 4).
	if h.revision == 2 {
		check := []byte(padding)
		cryptRC4(key, check, 0)

		if bytes.Equal(check, h.user[:32]) {
			return key
		}

		return nil
	}
	// Later revisions encrypt a hash of the padding and the ID 20 times (algorithm 5). Each time XOR changes the key.
	sum := md5.Sum(append([]byte(padding), h.id...))
	check := sum[:]

	for i := range 20 {
		cryptRC4(key, check, byte(i))
	}

	if bytes.Equal(check, h.user[:16]) {
		return key
	}

	return nil
}

// userPassword returns the user password that an owner password gives (algorithm 7). It is wrong if the owner password
// is wrong.
func (h *handler) userPassword(password []byte) []byte {
	sum := md5.Sum(padded(password))
	key := sum[:]

	if h.revision >= 3 {
		for range 50 {
			sum := md5.Sum(key)
			key = sum[:]
		}
	}
	key = key[:h.keySize()]
	user := bytes.Clone(h.owner[:32])

	if h.revision == 2 {
		cryptRC4(key, user, 0)
		return user
	}

	for i := 19; i >= 0; i-- {
		cryptRC4(key, user, byte(i))
	}

	return user
}

// cryptRC4 encrypts or decrypts b in place, with each byte of the key changed by mix.
func cryptRC4(key, b []byte, mix byte) {
	mixed := bytes.Clone(key)
	for i := range mixed {
		mixed[i] ^= mix
	}

	if c, err := rc4.NewCipher(mixed); err == nil {
		c.XORKeyStream(b, b)
	}
}
