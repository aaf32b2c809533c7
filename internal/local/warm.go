package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"presswork/internal/chromium/fonts"
)

// WarmStep is one thing that was made ready.
type WarmStep struct {
	Name, Detail string
	Elapsed      time.Duration
}

// Warm makes ready what the first conversion would have to wait for: themes,
// fonts and browser, and analyses and theme choices of the documents given. Each
// step is reported as it ends; one that fails does not keep the next from being
// tried. The error joins what failed.
func (c *Converter) Warm(ctx context.Context, documents []string, done func(WarmStep, error)) error {
	var errs []error
	step := func(name string, do func() (detail string, err error)) {
		if ctx.Err() != nil {
			return
		}
		begun := time.Now()
		detail, err := do()
		done(WarmStep{name, detail, time.Since(begun)}, err)
		errs = append(errs, err)
	}
	step("themes", c.warmThemes)
	step("fonts", warmFonts)
	step("browser", func() (string, error) { return c.warmBrowser(ctx) })

	for _, path := range documents {
		step(path, func() (string, error) {
			advice, err := c.Analyze(ctx, path)
			return advice.Recommendation.Primary, err
		})
	}

	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	return errors.Join(errs...)
}

func (c *Converter) warmThemes() (string, error) {
	c.Reload()
	custom := 0

	for _, t := range c.catalogue.List() {
		if t.Custom {
			custom++
		}
	}

	return fmt.Sprintf("%d, %d of them custom", len(c.catalogue.List()), custom), nil
}

func warmFonts() (string, error) {
	_, err := fonts.Install("")
	return fmt.Sprintf("%d families", len(fonts.Families())), err
}

func (c *Converter) warmBrowser(ctx context.Context) (string, error) {
	if err := c.browser.Health(ctx); err != nil {
		return "", err
	}

	return "version " + c.browser.Version(), nil
}
