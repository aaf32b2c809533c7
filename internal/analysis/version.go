package analysis

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"strconv"
	"sync"
)

//go:embed data
var dataFiles embed.FS

// generation is raised by hand when code alone changes what Analyze answers.
const generation = 4

// Version names what Analyze would answer: it changes with the code's
// generation and with every byte of the data. Caches have it in their keys.
func Version() string { return version() }

var version = sync.OnceValue(func() string {
	sum := sha256.New()

	err := fs.WalkDir(dataFiles, "data", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := dataFiles.ReadFile(name)
		sum.Write([]byte(name))
		sum.Write(b)

		return err
	})
	if err != nil {
		panic("analysis: embedded data: " + err.Error())
	}

	return strconv.Itoa(generation) + "-" + hex.EncodeToString(sum.Sum(nil)[:8])
})

// FeatureVersion names the definition of DocumentFeatures: it changes with the
// code's generation, the names of features and the lexicon.
func FeatureVersion() string {
	sum := sha256.New()
	for _, part := range append(featureNames(), typeLexiconData, typeLanguageData) {
		sum.Write([]byte(part))
		sum.Write([]byte{0})
	}

	return strconv.Itoa(generation) + "-" + hex.EncodeToString(sum.Sum(nil)[:8])
}
