package markdown

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
)

const (
	// maxImageBytes bounds one image, maxImagesBytes the data URIs of a
	// document, counted wherever they stand: each img element carries its own.
	maxImageBytes  = 20 << 20
	maxImagesBytes = 60 << 20
	// maxRemoteImages bounds the fetches of one document, fetchesAtOnce how
	// many run together.
	maxRemoteImages = 100
	fetchesAtOnce   = 6
	// maxPlatePixels bounds what is unpacked to find the images of a document
	// that need a plate: about a second's work.
	maxPlatePixels = 50_000_000
)

// inlined holds the images of a document by their source.
type inlined struct {
	bySource map[string]*picture
	// written is the length of the data URIs written so far.
	written int
}

// picture is an image as a data URI, or why it is missing.
type picture struct {
	uri string
	err error
	// times is how often it stands in the document, line where it does first.
	times, line int
	// work is what the browser has for it to draw, scaled whether the document
	// gives it a size.
	work   uint64
	scaled bool
	// plate reports that it is hard to see on a dark page without a light ground.
	plate bool
	// cut reports whether a place was left without it because of maxImagesBytes.
	cut bool
}

// inlineImages gets every image the HTML names. Failures are warnings; only an
// ended context and a store that does not answer are errors.
func (d *draft) inlineImages(ctx context.Context, safe []byte) (*inlined, error) {
	images := &inlined{bySource: map[string]*picture{}}
	if !bytes.Contains(safe, []byte("<img")) {
		return images, nil
	}
	sources := images.note(safe)
	// held is the length of the data URIs in memory. It is summed while images
	// arrive: a hundred of the largest would be gigabytes before a later sum.
	var held atomic.Int64
	group := errgroup.Group{}
	group.SetLimit(fetchesAtOnce)
	remote := 0

	for _, src := range sources {
		p := images.bySource[src]
		if isRemote(src) {
			remote++
			if remote > maxRemoteImages {
				p.err = fmt.Errorf("the document has over %d remote images", maxRemoteImages)
				continue
			}
		}
		group.Go(func() error {
			if held.Load() > maxImagesBytes {
				p.err = tooMuch()
				return nil
			}

			data, err := d.open(ctx, src)
			if err == nil {
				p.uri, p.work, err = dataURI(data, p.scaled, &held)
			}
			p.err = err

			return nil
		})
	}
	_ = group.Wait() // failures are kept per picture

	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}

	for _, src := range sources {
		p := images.bySource[src]
		if fault.CodeOf(p.err) == fault.StoreUnavailable {
			return nil, p.err // another try may find the file
		}

		if errors.Is(p.err, imagetype.ErrDeep) {
			return nil, tooComplex(
				"line %d: image %q nests elements or references deeper than %d levels",
				p.line,
				clip(src),
				imagetype.MaxDepth,
			)
		}

		if p.err != nil {
			d.warnImage(src, p.line, p.err)
		}
	}

	if err := images.drawable(sources); err != nil {
		return nil, err
	}

	if d.options.DarkPage {
		return images, images.findPlates(ctx, sources)
	}

	return images, nil
}

// findPlates looks at one image after the other, in their order: what is
// unpacked is large, and a document must come out the same every time.
func (m *inlined) findPlates(ctx context.Context, sources []string) error {
	left := uint64(maxPlatePixels)

	for _, src := range sources {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p := m.bySource[src]
		_, encoded, _ := strings.Cut(p.uri, ",")
		data, err := base64.StdEncoding.DecodeString(encoded)
		p.plate = err == nil && imagetype.DarkOnTransparent(data, &left)
	}

	return nil
}

// drawable refuses images that are more to draw than a page may be.
func (m *inlined) drawable(sources []string) error {
	var sum uint64

	for _, src := range sources {
		p := m.bySource[src]
		if p.work > imagetype.MaxWork {
			return tooComplex(
				"line %d: image %q: the SVG draws %d elements once its references are followed; at most %d are allowed (each copy, layer of a filter or mask, and long path counts as several)",
				p.line,
				clip(src),
				p.work,
				imagetype.MaxWork,
			)
		}
		// Where it stands again, it is drawn from what was made of it.
		if sum += p.work + p.work*uint64(p.times-1)/10; sum > imagetype.MaxWork {
			return tooComplex(
				"line %d: the SVG images up to this one draw %d elements together; at most %d are allowed in a document",
				p.line,
				sum,
				imagetype.MaxWork,
			)
		}
	}

	return nil
}

func (d *draft) warnImage(src string, line int, err error) {
	d.warn(fault.ImageFailed, line, fmt.Sprintf("image %q: %v", clip(src), err))
}

func tooMuch() error {
	return fmt.Errorf("the document's images exceed %d MB together", maxImagesBytes>>20)
}

// note makes a picture for each distinct source and lists them in order.
func (m *inlined) note(safe []byte) (sources []string) {
	z := html.NewTokenizer(bytes.NewReader(safe))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken || !bytes.HasPrefix(z.Raw(), []byte("<img")) {
			continue
		}

		t := z.Token()
		if t.DataAtom != atom.Img {
			continue
		}

		src := attr(t, "src")
		if m.bySource[src] == nil {
			m.bySource[src] = &picture{line: lineOf(t)}
			sources = append(sources, src)
		}

		m.bySource[src].times++
		if attr(t, "width") != "" || attr(t, "height") != "" {
			m.bySource[src].scaled = true
		}
	}

	return sources
}

func isRemote(src string) bool {
	s := strings.ToLower(src)
	return strings.HasPrefix(s, "http:") || strings.HasPrefix(s, "https:") || strings.HasPrefix(s, "//")
}

// open reads an image from where its source points.
func (d *draft) open(ctx context.Context, src string) ([]byte, error) {
	switch {
	case src == "":
		return nil, errors.New("it names no source, or one that is not allowed")
	case isRemote(src):
		if d.options.Fetch == nil {
			return nil, errors.New("remote images are turned off")
		}

		if strings.HasPrefix(src, "//") {
			src = "https:" + src
		}
		data, _, err := d.options.Fetch(ctx, src)

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

	if d.options.Asset == nil {
		return nil, errors.New("no such file came with the document")
	}

	data, err := d.options.Asset(path.Clean(name))
	if fault.CodeOf(err) == fault.StoreUnavailable {
		return nil, err
	}

	return data, public(err, "no such file came with the document")
}

// dataURI checks an image by its bytes, never by its declared type, and
// writes it if the limit allows it beside what is held. It also returns what there is
// to draw.
func dataURI(data []byte, scaled bool, held *atomic.Int64) (uri string, work uint64, err error) {
	if len(data) > maxImageBytes {
		return "", 0, fmt.Errorf("it is larger than %d MB", maxImageBytes>>20)
	}

	img, err := imagetype.Inspect(data)
	if err != nil {
		return "", 0, err
	}

	if img.Pixels() > imagetype.MaxPixels {
		return "", 0, fmt.Errorf(
			"it has %d × %d pixels; at most %d million are allowed",
			img.Width,
			img.Height,
			imagetype.MaxPixels/1_000_000,
		)
	}

	if n := imagetype.Frames(data, img.ContentType); n > imagetype.MaxFrames {
		return "", 0, fmt.Errorf(
			"it is animated in %d frames; at most %d are allowed: use fewer, or one of them as a still image",
			n,
			imagetype.MaxFrames,
		)
	}

	if err := imagetype.Whole(data, img.ContentType); err != nil {
		return "", 0, err
	}

	if work, err = imagetype.Work(data, img.ContentType, scaled); err != nil {
		return "", 0, err
	}

	head := "data:" + img.ContentType + ";base64,"
	if held.Add(int64(len(head)+base64.StdEncoding.EncodedLen(len(data)))) > maxImagesBytes {
		return "", 0, tooMuch()
	}

	return head + base64.StdEncoding.EncodeToString(data), work, nil
}

// public keeps the words of a coined error and replaces any other's, which may
// speak of addresses and paths.
func public(err error, instead string) error {
	if err == nil {
		return nil
	}

	if e, ok := errors.AsType[*fault.Error](err); ok && e.Code != fault.Internal {
		return errors.New(e.Message)
	}

	return errors.New(instead)
}

// renderImage writes an img element, or the text that stands for it. One
// warning is about all the places that are left without an image for its size.
func (d *draft) renderImage(images *inlined, t html.Token) string {
	src := attr(t, "src")

	p, uri := images.bySource[src], ""
	if p != nil {
		uri = p.uri
	}

	if images.written+len(uri) > maxImagesBytes {
		uri = ""

		if !p.cut {
			p.cut = true
			d.warnImage(
				src,
				lineOf(t),
				fmt.Errorf("left out from here on: %w, each counted wherever it stands", tooMuch()),
			)
		}
	}
	images.written += len(uri)

	t.Attr = keepAttrs(t.Attr, func(a html.Attribute) bool { return a.Key != attrLine && a.Key != "src" })
	if uri == "" {
		text := attr(t, "alt")
		if text == "" {
			text = "image"
		}

		return `<span class="image-missing">` + html.EscapeString(text) + `</span>`
	}

	if p.plate {
		class := strings.TrimSpace(attr(t, "class") + " image-plate")
		t.Attr = append(
			keepAttrs(t.Attr, func(a html.Attribute) bool { return a.Key != "class" }),
			html.Attribute{Key: "class", Val: class},
		)
	}
	t.Attr = append([]html.Attribute{{Key: "src", Val: uri}}, t.Attr...)
	t.Type = html.StartTagToken

	return t.String()
}

// size is how much longer the images make the document.
func (m *inlined) size() int {
	n := 0
	for _, p := range m.bySource {
		n += len(p.uri) * p.times
	}

	return min(n, maxImagesBytes)
}
