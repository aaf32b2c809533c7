package document_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"presswork/internal/chromium"
	"presswork/internal/chromium/fonts"
	"presswork/internal/test/browsertest"
	"presswork/internal/test/wait"
	"presswork/themes"
)

// shared starts the browser that most tests share. It has the bundled fonts.
var shared = sync.OnceValues(func() (*chromium.Browser, error) {
	config, err := fonts.Install("")
	if err != nil {
		return nil, err
	}

	b := chromium.New(chromium.Options{FontConfig: config})
	if err := b.Start(context.Background()); err != nil {
		return nil, err
	}
	started.Store(b)

	return b, nil
})

// started is the shared browser, or nil until the first test needs it.
var started atomic.Pointer[chromium.Browser]

// embedded returns the built-in themes.
var embedded = sync.OnceValue(func() *themes.Catalogue { return themes.Open(themes.Options{}) })

func TestMain(m *testing.M) {
	code := m.Run()

	if b := started.Load(); b != nil {
		ctx, cancel := context.WithTimeout(context.Background(), wait.Patience)
		if err := b.Stop(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the browser:", err)
			code = 1
		}
		cancel()
	}
	os.Exit(code)
}

// printer returns the shared browser. In short mode it skips the test.
func printer(t testing.TB) *chromium.Browser {
	t.Helper()
	needsBrowser(t)

	b, err := shared()
	if err != nil {
		t.Fatal(err)
	}

	return b
}

// printerWith starts a browser for this test alone, with the fonts of a fontconfig file. In short mode it skips the
// test.
func printerWith(t testing.TB, fontConfig string) *chromium.Browser {
	t.Helper()
	needsBrowser(t)

	return browsertest.Start(t, chromium.Options{Tabs: 1, FontConfig: fontConfig})
}

func needsBrowser(t testing.TB) {
	t.Helper()

	if testing.Short() {
		t.Skip("needs Chromium and poppler; `make test` runs this test")
	}
}

// catalogue returns the built-in themes.
func catalogue(t testing.TB) *themes.Catalogue {
	t.Helper()

	return embedded()
}
