package analysis

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"strconv"
	"sync"
)

//go:embed data lang/data sentiment/data
var dataFiles embed.FS

// generation must be raised by hand when a change of code alone changes the result of Analyze.
const generation = 8

// Version identifies the results of Analyze. It changes with generation and with every byte of the data. Caches
// use it in their keys.
func Version() string { return version() }

var version = sync.OnceValue(func() string {
	sum := sha256.New()

	err := fs.WalkDir(dataFiles, ".", func(name string, d fs.DirEntry, err error) error {
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

// FeatureVersion identifies the definition of DocumentFeatures. It changes with generation, the feature names, the
// lexicon and the data of languages.
func FeatureVersion() string {
	sum := sha256.New()
	for _, part := range append(featureNames(), typeLexiconData, typeLanguageData) {
		sum.Write([]byte(part))
		sum.Write([]byte{0})
	}

	return strconv.Itoa(generation) + "-" + hex.EncodeToString(sum.Sum(nil)[:8])
}
