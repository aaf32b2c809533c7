package storage

import "path"

// Prefixes of the key layout.
const (
	Artifacts = "artifacts/"
	Sources   = "sources/"
	Renders   = "renders/"
)

// ArtifactKey is where the result of a job lies.
func ArtifactKey(jobID string) string { return Artifacts + jobID + ".pdf" }

// SourceKey is where the Markdown of a job lies when its payload is too large.
func SourceKey(jobID string) string { return Sources + jobID + "/content.md" }

// AssetKey is where asset number n of a job lies. The asset's own name comes
// from outside, so it travels in the payload and never in a key.
func AssetKey(jobID string, n string) string { return path.Join(Sources+jobID, "assets", n) }

// RenderKey is where the render cache keeps the PDF of a page with this hash.
func RenderKey(hash string) string { return Renders + hash + ".pdf" }
