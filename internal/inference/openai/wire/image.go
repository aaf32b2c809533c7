package wire

import (
	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
)

// readImage reads a part of the type image_url. Its field is an object, or only the address, as some clients write it.
func (p *parser) readImage(o jsonbody.Object) *inference.Image {
	img := &inference.Image{}
	path := "image_url"

	if v := o.Raw("image_url"); v != nil && v[0] == '"' {
		img.URL = o.Str("image_url")
	} else {
		in := o.Object("image_url")
		img.URL = in.Str("url")
		img.Detail = in.Enum("detail", "auto", "low", "high")
		path = "image_url.url"
	}
	img.URL = p.limits.ImageURL(o, path, img.URL)

	return img
}
