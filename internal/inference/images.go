package inference

import (
	"slices"
	"strings"

	"presswork/internal/imagetype"
)

// ImageTypes returns the media types of images that models accept.
func ImageTypes() []string { return []string{"image/png", "image/jpeg", "image/gif", "image/webp"} }

// MaxImagePixels is the largest width times height of an image. Groq has the same limit.
const MaxImagePixels = 33_177_600

// CheckImage returns an error unless data is an image that models accept. Its bytes must be of a type in ImageTypes,
// and it may have at most MaxImagePixels.
func CheckImage(data []byte) *Error {
	info, err := imagetype.Inspect(data)
	switch {
	case err != nil:
		return Invalidf("", "the image cannot be read: %v", err)
	case !slices.Contains(ImageTypes(), info.ContentType):
		return Invalidf("", "the image is %s; allowed: %s", info.ContentType, strings.Join(ImageTypes(), ", "))
	case info.Pixels() > MaxImagePixels:
		return Invalidf(
			"",
			"the image is %d × %d pixels; at most %d in all are allowed",
			info.Width,
			info.Height,
			MaxImagePixels,
		)
	}

	return nil
}
