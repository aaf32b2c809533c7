// Package audio prepares recordings for transcription and joins the results. It identifies a recording by its
// content and converts it with ffmpeg in a sandbox. It cuts a long recording at silences ([Options.Read]) and
// joins the transcripts of the parts ([Join]). [Render] writes a transcript in the formats of the inference API.
package audio
