package chromium_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"presswork/internal/chromium"
	"presswork/internal/export"
	"presswork/internal/fault"
	"presswork/internal/guard"
	"presswork/internal/test/public"
)

// endlessPicture returns a picture of 9 KB that takes a browser longer than any time limit. Each part consists of
// ten copies of the previous one.
func endlessPicture() string {
	var b strings.Builder
	b.WriteString("<svg><defs><g id=a0><rect width=1 height=1 /></g>")

	for i := range 12 {
		fmt.Fprintf(&b, "<g id=a%d>%s</g>", i+1, strings.Repeat(fmt.Sprintf("<use href='#a%d'/>", i), 10))
	}

	return b.String() + "</defs><use href='#a12'/></svg>"
}

func TestErrorsNameTheTemplateThatFails(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	port := serve(t, pages{"/": "<p>page"})
	e := startExporter(t, chromium.ExporterOptions{Browser: chromium.Options{Dir: dir}},
		guard.Options{Allow: "site.test:" + port, Lookup: resolveToLoopback})
	kill := func() {
		for _, pid := range pids(t, dir, "renderer") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	printError := func(loaded func(), o export.PDFOptions) *fault.Error {
		t.Helper()
		o.DisplayHeaderFooter = new(true)
		_, err := e.PDF(t.Context(), chromium.Visit{URL: "http://site.test:" + port + "/", Loaded: loaded}, o)

		failed, ok := errors.AsType[*fault.Error](err)
		if !ok {
			t.Fatalf("error %v, want a fault.Error", err)
		}

		return failed
	}

	slow := printError(
		nil,
		export.PDFOptions{HeaderTemplate: endlessPicture(), VisitOptions: export.VisitOptions{Timeout: new(10_000)}},
	)
	if slow.Code != fault.PageTimeout || slow.Param != "options.headerTemplate" ||
		!strings.Contains(slow.Message, "printed with headerTemplate") {
		t.Errorf("endless template: %+v, want page_timeout of headerTemplate", slow)
	}

	crashed := printError(kill, export.PDFOptions{FooterTemplate: "<b>x</b>"})
	if crashed.Code != fault.PageError || crashed.Param != "options.footerTemplate" ||
		!strings.Contains(crashed.Message, "printed with footerTemplate") {
		t.Errorf("crash with a template: %+v, want page_error of footerTemplate", crashed)
	}

	bare := printError(kill, export.PDFOptions{})
	if bare.Code != fault.PageError || bare.Param != "" || strings.Contains(bare.Message, "emplate") {
		t.Errorf("crash without a template: %+v, want page_error without a parameter", bare)
	}
}
