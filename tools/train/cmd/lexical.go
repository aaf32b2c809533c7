package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"presswork/tools/evaluate"
	"presswork/tools/train"
)

// trainLanguages trains on the corpus's texts language/TAG.txt. If the corpus has none, the model stays unchanged.
func trainLanguages(corpus, dir string) error {
	files, err := filepath.Glob(filepath.Join(corpus, "language", "*.txt"))
	if err != nil || len(files) == 0 {
		return err
	}
	texts := map[string]string{}

	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		texts[strings.TrimSuffix(filepath.Base(file), ".txt")] = string(b)
	}

	var model bytes.Buffer
	if err := train.LetterRuns(&model, texts); err != nil {
		return err
	}

	return os.WriteFile(filepath.Join(dir, "lang", "data", "grams.txt"), model.Bytes(), 0o644)
}

// trainSentiment trains on the rated sentences of the corpus.
func trainSentiment(corpus, dir string) error {
	sets, err := evaluate.SentimentSets(corpus)
	if err != nil {
		return err
	}

	var samples []train.SentimentSample
	for _, set := range sets {
		samples = append(samples, set.Samples...)
	}

	return writeModel(filepath.Join(dir, "sentiment", "data", "model.tsv"), train.FitSentiment(samples))
}

// trainFormality trains on the rated sentences of the corpus.
func trainFormality(corpus, dir string) error {
	samples, err := evaluate.FormalitySamples(corpus)
	if err != nil {
		return err
	}

	return writeModel(filepath.Join(dir, "data", "formality_model.tsv"), train.FitFormality(samples))
}

// trainTone measures how often the words of each tone occur in the corpus.
func trainTone(corpus, dir string) error {
	samples, err := evaluate.ToneSamples(corpus)
	if err != nil {
		return err
	}

	return os.WriteFile(filepath.Join(dir, "data", "tone_baselines.tsv"), []byte(train.ToneBaselines(samples)), 0o644)
}

// writeModel writes a model to a file.
func writeModel(path string, model io.WriterTo) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}

	if _, err := model.WriteTo(file); err != nil {
		file.Close()
		return err
	}

	return file.Close()
}
