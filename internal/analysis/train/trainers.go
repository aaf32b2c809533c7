package main

func trainers() []trainer {
	return []trainer{{"sentiment", trainSentiment}, {"formality", trainFormality}, {"tone", trainTone}, doctypeTrainer, {"themes", trainThemes}}
}
