package finish

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"sync/atomic"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/sync/errgroup"

	"presswork/internal/fault"
	"presswork/internal/imagetype"
	"presswork/internal/input"
	"presswork/internal/markdown/source"
	"presswork/internal/markdown/tree"
)

const (
	// maxImageBytes bounds one image. maxImagesBytes bounds the data URIs of a document; an image counts once for each
	// img element, because each has a copy.
	maxImageBytes  = 20 << 20
	maxImagesBytes = 60 << 20
	// maxRemoteImages is the largest number of downloads of one document. fetchesAtOnce images are read at a time.
	maxRemoteImages = 100
	fetchesAtOnce   = 6
	// maxPlatePixels bounds the pixels that are decoded to find the images that need a plate. It is about a second of
	// work.
	maxPlatePixels = 50_000_000
)

// images are the images of a document.
type images struct {
	bySource map[string]*picture // by the src attribute of the img element
	// ordered are the same pictures in the order of the document.
	ordered []*picture
	// written is the length of the data URIs written so far.
	written int
}

// picture is an image as a data URI, or the reason why it is missing.
type picture struct {
	source string // the src attribute
	uri    string // "" if the image is missing
	err    error  // why the image is missing
	// times counts the img elements with this source; line is that of the first.
	times, line int
	// work is the number of elements that the browser has to draw, as imagetype.Work counts them.
	work uint64
	// scaled reports whether an img element sets the size.
	scaled bool
	// plate reports whether the image needs a light background on a dark page.
	plate bool
	// cut reports whether maxImagesBytes left at least one place without the image.
	cut bool
}

// loadImages loads every image that the HTML names. Errors: ContentTooComplex, StoreUnavailable, the cause of ctx. Any
// other failure becomes a warning.
func (p *pass) loadImages(ctx context.Context, safe []byte) error {
	p.images = findImages(safe)
	if len(p.images.ordered) == 0 {
		return nil
	}
	p.readImages(ctx)

	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	for _, pic := range p.images.ordered {
		switch {
		case pic.err == nil:
		case fault.CodeOf(pic.err) == fault.StoreUnavailable:
			return pic.err // a retry may find the file
		case errors.Is(pic.err, imagetype.ErrDeep):
			return source.TooComplex("line %d: image %q nests elements or references deeper than %d levels",
				pic.line, input.Short(pic.source), imagetype.MaxDepth)
		default:
			p.warnImage(pic.source, pic.line, pic.err)
		}
	}

	if err := p.images.checkWork(); err != nil {
		return err
	}

	if p.DarkPage {
		return p.images.findPlates(ctx)
	}

	return nil
}

// findImages returns the images that the HTML names. Their content is not read yet.
func findImages(safe []byte) *images {
	m := &images{bySource: map[string]*picture{}}
	if !bytes.Contains(safe, []byte("<img")) {
		return m
	}

	z := html.NewTokenizer(bytes.NewReader(safe))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken || !bytes.HasPrefix(z.Raw(), []byte("<img")) {
			continue
		}

		t := z.Token()
		if t.DataAtom != atom.Img {
			continue
		}

		src := attribute(t, "src")

		pic := m.bySource[src]
		if pic == nil {
			pic = &picture{source: src, line: lineOf(t)}
			m.bySource[src] = pic
			m.ordered = append(m.ordered, pic)
		}

		pic.times++
		if attribute(t, "width") != "" || attribute(t, "height") != "" {
			pic.scaled = true
		}
	}

	return m
}

// readImages reads the content of all images. Each picture keeps its own error.
func (p *pass) readImages(ctx context.Context) {
	// held is the length of the data URIs in memory. It grows while images arrive: a sum after the loop would allow a
	// hundred of the largest, gigabytes, in memory at once.
	var held atomic.Int64
	group := errgroup.Group{}
	group.SetLimit(fetchesAtOnce)
	remote := 0

	for _, pic := range p.images.ordered {
		if isRemote(pic.source) {
			remote++
			if remote > maxRemoteImages {
				pic.err = fmt.Errorf("the document has over %d remote images", maxRemoteImages)
				continue
			}
		}
		group.Go(func() error {
			if held.Load() > maxImagesBytes {
				pic.err = tooManyBytes()
				return nil
			}

			data, err := p.openImage(ctx, pic.source)
			if err == nil {
				pic.uri, pic.work, err = dataURI(data, pic.scaled, &held)
			}
			pic.err = err

			return nil
		})
	}
	_ = group.Wait() // each picture has its own error
}

// findPlates finds the images that need a plate. It decodes them one after the other, because decoded images are large,
// and in their order, because maxPlatePixels must always end at the same image. The error is the cause of ctx.
func (m *images) findPlates(ctx context.Context) error {
	left := uint64(maxPlatePixels)

	for _, pic := range m.ordered {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		_, encoded, _ := strings.Cut(pic.uri, ",")
		data, err := base64.StdEncoding.DecodeString(encoded)
		pic.plate = err == nil && imagetype.DarkOnTransparent(data, &left)
	}

	return nil
}

// checkWork returns ContentTooComplex for images that take the browser too long to draw.
func (m *images) checkWork() error {
	var sum uint64

	for _, pic := range m.ordered {
		if pic.work > imagetype.MaxWork {
			return source.TooComplex(
				"line %d: image %q: the SVG draws %d elements once its references are followed; at most %d are "+
					"allowed (each copy, layer of a filter or mask, and long path counts as several)",
				pic.line, input.Short(pic.source), pic.work, imagetype.MaxWork)
		}
		// The browser draws later copies from the first: they cost about a tenth.
		if sum += pic.work + pic.work*uint64(pic.times-1)/10; sum > imagetype.MaxWork {
			return source.TooComplex(
				"line %d: the SVG images up to this one draw %d elements together; at most %d are allowed in a document",
				pic.line,
				sum,
				imagetype.MaxWork,
			)
		}
	}

	return nil
}

// warnImage adds a warning about an image that is not printed.
func (p *pass) warnImage(src string, line int, err error) {
	p.warn(fault.ImageFailed, line, fmt.Sprintf("image %q: %v", input.Short(src), err))
}

// tooManyBytes returns the error for an image after which a document exceeds maxImagesBytes.
func tooManyBytes() error {
	return fmt.Errorf("the document's images exceed %d MB together", maxImagesBytes>>20)
}

// isRemote reports whether the source of an image is a web address.
func isRemote(src string) bool {
	s := strings.ToLower(src)
	return strings.HasPrefix(s, "http:") || strings.HasPrefix(s, "https:") || strings.HasPrefix(s, "//")
}

// openImage returns the content of an image: a download, the data of a data URI, or a file of the document. Its errors
// are public texts for the author, or StoreUnavailable.
func (p *pass) openImage(ctx context.Context, src string) ([]byte, error) {
	switch {
	case src == "":
		return nil, errors.New("it names no source, or one that is not allowed")
	case isRemote(src):
		if p.Fetch == nil {
			return nil, errors.New("remote images are turned off")
		}

		if strings.HasPrefix(src, "//") {
			src = "https:" + src
		}
		data, _, err := p.Fetch(ctx, src)

		return data, public(err, "it could not be fetched")
	case strings.HasPrefix(strings.ToLower(src), "data:"):
		return imagetype.ReadDataURI(src)
	}

	name, err := url.PathUnescape(src)
	if err != nil {
		return nil, errors.New("its name is not a valid path")
	}
	name, _, _ = strings.Cut(name, "?")

	name, _, _ = strings.Cut(name, "#")
	if strings.Contains(name, ":") || strings.Contains(name, "\\") {
		return nil, errors.New("only paths, http, https and data are allowed")
	}

	if p.Asset == nil {
		return nil, errors.New("no such file came with the document")
	}

	data, err := p.Asset(path.Clean(name))
	if fault.CodeOf(err) == fault.StoreUnavailable {
		return nil, err
	}

	return data, public(err, "no such file came with the document")
}

// dataURI returns an image as a data URI and the work to draw it. It finds the type in the bytes, and trusts neither
// the name nor a Content-Type. It adds the length of the URI to held. Its errors are public texts for the author.
func dataURI(data []byte, scaled bool, held *atomic.Int64) (uri string, work uint64, err error) {
	if len(data) > maxImageBytes {
		return "", 0, fmt.Errorf("it is larger than %d MB", maxImageBytes>>20)
	}

	img, err := imagetype.Inspect(data)
	if err != nil {
		return "", 0, err
	}

	if img.Pixels() > imagetype.MaxPixels {
		return "", 0, fmt.Errorf("it has %d × %d pixels; at most %d million are allowed",
			img.Width, img.Height, imagetype.MaxPixels/1_000_000)
	}

	if n := imagetype.Frames(data, img.ContentType); n > imagetype.MaxFrames {
		return "", 0, fmt.Errorf(
			"it is animated in %d frames; at most %d are allowed: use fewer, or one of them as a still image",
			n, imagetype.MaxFrames)
	}

	if err := imagetype.Whole(data, img.ContentType); err != nil {
		return "", 0, err
	}

	if work, err = imagetype.Work(data, img.ContentType, scaled); err != nil {
		return "", 0, err
	}

	head := "data:" + img.ContentType + ";base64,"
	if held.Add(int64(len(head)+base64.StdEncoding.EncodedLen(len(data)))) > maxImagesBytes {
		return "", 0, tooManyBytes()
	}

	return head + base64.StdEncoding.EncodeToString(data), work, nil
}

// public returns an error with the message of a public error. It replaces any other error by the text instead: the
// message may contain addresses and paths of the server.
func public(err error, instead string) error {
	if err == nil {
		return nil
	}

	if e, ok := errors.AsType[*fault.Error](err); ok && e.Code != fault.Internal {
		return errors.New(e.Message)
	}

	return errors.New(instead)
}

// renderImage returns an img element, or its alternative text if the image is missing. The first
// place that maxImagesBytes leaves without the image gets a warning.
func (p *pass) renderImage(t html.Token) string {
	src := attribute(t, "src")

	pic, uri := p.images.bySource[src], ""
	if pic != nil {
		uri = pic.uri
	}

	if p.images.written+len(uri) > maxImagesBytes {
		uri = ""

		if !pic.cut {
			pic.cut = true
			p.warnImage(src, lineOf(t),
				fmt.Errorf("left out from here on: %w; repeated images count each time", tooManyBytes()))
		}
	}
	p.images.written += len(uri)

	t.Attr = keepAttributes(t.Attr, func(a html.Attribute) bool {
		return a.Key != tree.LineAttribute && a.Key != "src"
	})
	if uri == "" {
		text := attribute(t, "alt")
		if text == "" {
			text = "image"
		}

		return `<span class="image-missing">` + html.EscapeString(text) + `</span>`
	}

	if pic.plate {
		class := strings.TrimSpace(attribute(t, "class") + " image-plate")
		t.Attr = append(
			keepAttributes(t.Attr, func(a html.Attribute) bool { return a.Key != "class" }),
			html.Attribute{Key: "class", Val: class},
		)
	}
	t.Attr = append([]html.Attribute{{Key: "src", Val: uri}}, t.Attr...)
	t.Type = html.StartTagToken

	return t.String()
}

// size returns the length of the data URIs in the finished document, in bytes.
func (m *images) size() int {
	n := 0
	for _, pic := range m.bySource {
		n += len(pic.uri) * pic.times
	}

	return min(n, maxImagesBytes)
}
