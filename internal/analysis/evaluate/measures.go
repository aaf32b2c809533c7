package evaluate

// measures lists what `make eval` measures, in the order it prints.
func measures() []Measure {
	return []Measure{documentTypes, languages, themeGoals, sentiment, formality, tones}
}
