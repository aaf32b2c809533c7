package chromium

import (
	"cmp"
	"context"
	"encoding/json"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"presswork/internal/export"
)

// command is one CDP command, and the option it carries out.
type command struct {
	method string
	params any
	option string
}

func on(key string) map[string]any { return map[string]any{key: true} }

// preparations are the commands before a page is loaded.
func (v *visit) preparations() []command {
	o, size := v.opts, export.ViewportOf(v.opts)

	commands := append(v.framePreparations(),
		command{"Page.setInterceptFileChooserDialog", on("enabled"), ""},
	)
	if size.DeviceScaleFactor != 1 { // the window has that size
		commands = append(commands, command{"Emulation.setDeviceMetricsOverride", map[string]any{
			"width": size.Width, "height": size.Height, "deviceScaleFactor": size.DeviceScaleFactor, "mobile": false,
		}, "viewport"})
	}

	if o.MediaType != "" {
		commands = append(
			commands,
			command{"Emulation.setEmulatedMedia", map[string]any{"media": o.MediaType}, "mediaType"},
		)
	}

	if isTrue(o.OmitBackground) {
		commands = append(commands, command{
			"Emulation.setDefaultBackgroundColorOverride",
			map[string]any{"color": map[string]any{"r": 0, "g": 0, "b": 0, "a": 0}},
			"omitBackground",
		})
	}

	if len(o.Cookies) > 0 {
		commands = append(commands, command{"Network.setCookies", map[string]any{"cookies": v.cookies()}, "cookies"})
	}

	if isTrue(o.FailOnConsoleExceptions) {
		commands = append(commands, command{"Runtime.enable", nil, ""})
	}

	return commands
}

// framePreparations are those of the tab and of each frame in another process.
func (v *visit) framePreparations() []command {
	commands := append(
		v.workerPreparations(),
		command{"Page.enable", nil, ""},
		command{"Page.setLifecycleEventsEnabled", on("enabled"), ""},
		// A page finds no service workers, as in a private window of some browsers:
		// they would make requests of their own in its place.
		command{
			"Page.addScriptToEvaluateOnNewDocument",
			map[string]any{"source": "delete Navigator.prototype.serviceWorker"},
			"",
		},
	)
	if v.scriptsOff() {
		commands = append(commands, command{"Emulation.setScriptExecutionDisabled", on("value"), "javaScriptEnabled"})
	}

	if len(v.opts.ExtraHTTPHeaders) > 0 {
		// Every request, not those of the origin alone: a redirect elsewhere would
		// take the headers along.
		commands = append(
			commands,
			command{
				"Fetch.enable",
				map[string]any{"patterns": []map[string]any{{"urlPattern": "*"}}},
				"extraHTTPHeaders",
			},
		)
	}

	return commands
}

// workerPreparations are those of everything that makes requests.
func (v *visit) workerPreparations() []command {
	commands := []command{
		// What was not loaded. Events of every request (Network.enable) would make
		// a page of 20 resources take a tenth longer.
		{"Log.enable", nil, ""},
		{
			"Target.setAutoAttach",
			map[string]any{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true},
			"",
		},
	}
	if v.opts.UserAgent != "" {
		commands = append(
			commands,
			command{"Network.setUserAgentOverride", map[string]any{"userAgent": v.opts.UserAgent}, "userAgent"},
		)
	}

	return commands
}

func (v *visit) scriptsOff() bool {
	return v.opts.JavaScriptEnabled != nil && !*v.opts.JavaScriptEnabled
}

// cookies are host-only, and bound to the page's scheme and port by a flag of
// the browser.
func (v *visit) cookies() []map[string]any {
	origin := (&url.URL{Scheme: v.page.Scheme, Host: v.page.Host, Path: "/"}).String()
	_, digits, _ := net.SplitHostPort(hostport(origin))
	port, _ := strconv.Atoi(digits) // guard.Policy.CheckURL checked it
	scheme := map[string]string{"http": "NonSecure", "https": "Secure"}[v.page.Scheme]
	var cookies []map[string]any

	for _, c := range v.opts.Cookies {
		cookie := map[string]any{
			"name": c.Name, "value": c.Value, "url": origin, "path": cmp.Or(c.Path, "/"),
			"sourceScheme": scheme, "sourcePort": port, "secure": isTrue(c.Secure), "httpOnly": isTrue(c.HTTPOnly),
		}
		if c.SameSite != "" {
			cookie["sameSite"] = c.SameSite
		}

		if c.Expires > 0 {
			cookie["expires"] = c.Expires
		}
		cookies = append(cookies, cookie)
	}

	return cookies
}

// adoptTimeout is how long a frame or worker may take over one command: its process
// may have yet to begin, on a busy machine.
const adoptTimeout = 10 * time.Second

// adopt prepares a frame in another process, or a worker, which waits for that.
func (v *visit) adopt(session, kind string) {
	commands := v.workerPreparations()

	switch kind {
	case "iframe":
		commands = v.framePreparations()
	case "service_worker":
		commands = nil // it answers to nothing before it runs
	}

	for _, c := range append(commands, command{"Runtime.runIfWaitingForDebugger", nil, ""}) {
		ctx, cancel := context.WithTimeout(v.ctx, adoptTimeout)
		_, err := v.inst.conn.Call(ctx, session, c.method, c.params)
		cancel()

		if err != nil && (c.option != "" || v.ctx.Err() != nil) {
			return // it has ended, or waits until it does rather than run without the option
		}
	}
}

// pass sends a paused request on, with the extra headers when it goes to the
// page's own origin, and certainly without them when not.
func (v *visit) pass(session string, params json.RawMessage) {
	var e struct {
		RequestID string `json:"requestId"`
		Request   struct {
			URL     string            `json:"url"`
			Headers map[string]string `json:"headers"`
		} `json:"request"`
	}
	if json.Unmarshal(params, &e) != nil {
		return // it stays paused
	}

	headers := e.Request.Headers
	if headers == nil {
		headers = map[string]string{}
	}

	same := sameOrigin(v.page, e.Request.URL)
	for name, value := range v.opts.ExtraHTTPHeaders {
		for present, there := range headers {
			if strings.EqualFold(present, name) && (same || there == value) {
				delete(headers, present)
			}
		}

		if same {
			headers[name] = value
		}
	}

	var entries []map[string]string
	for name, value := range headers {
		entries = append(entries, map[string]string{"name": name, "value": value})
	}
	// An error means that the request is gone.
	_, _ = v.inst.conn.Call(
		v.ctx,
		session,
		"Fetch.continueRequest",
		map[string]any{"requestId": e.RequestID, "headers": entries},
	)
}

func sameOrigin(page *url.URL, raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.Scheme == page.Scheme && hostport(raw) == hostport(page.String())
}

// dismiss closes a dialog: no, but a page may be left.
func (v *visit) dismiss(ctx context.Context, session, kind string) {
	// An error means that the dialog is gone.
	_, _ = v.inst.conn.Call(
		ctx,
		session,
		"Page.handleJavaScriptDialog",
		map[string]any{"accept": kind == "beforeunload"},
	)
}

func isTrue(b *bool) bool { return b != nil && *b }
