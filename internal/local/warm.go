package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"presswork/internal/chromium/fonts"
)

// WarmStep is the result of one preparation.
type WarmStep struct {
	Name, Detail string
	Elapsed      time.Duration
}

// Warm prepares what the first conversion would wait for: themes, fonts and the browser, and analyses and theme
// choices of the given documents. It calls done after each step. A failed step does not prevent the next. The
// error joins all errors.
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

// warmThemes reads the themes and returns their number as text.
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

// warmFonts installs the fonts and returns the number of families as text.
func warmFonts() (string, error) {
	_, err := fonts.Install("")
	return fmt.Sprintf("%d families", len(fonts.Families())), err
}

// warmBrowser starts the browser and returns its version as text.
func (c *Converter) warmBrowser(ctx context.Context) (string, error) {
	if err := c.browser.Health(ctx); err != nil {
		return "", err
	}

	return "version " + c.browser.Version(), nil
}
