// Package audio prepares recordings for models that transcribe, and puts what
// they say together: it identifies a recording by its content, has ffmpeg
// convert it in a sandbox, cuts a long one at silences ([Options.Read]), joins
// the transcripts of the parts ([Join]), and writes a transcript in the formats
// of the inference API ([Render]).
package audio
