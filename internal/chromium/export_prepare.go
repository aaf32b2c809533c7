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

// command is one CDP command.
type command struct {
	method string
	params any
	option string // the option that it implements, "" for none
}

// on returns parameters that set one flag.
func on(key string) map[string]any { return map[string]any{key: true} }

// preparations returns the commands that precede the loading of a page.
func (v *visit) preparations() []command {
	o, size := v.opts, export.ViewportOf(v.opts)

	commands := append(v.framePreparations(), command{"Page.setInterceptFileChooserDialog", on("enabled"), ""})
	if size.DeviceScaleFactor != 1 { // the window already has the size
		commands = append(commands, command{"Emulation.setDeviceMetricsOverride", map[string]any{
			"width": size.Width, "height": size.Height, "deviceScaleFactor": size.DeviceScaleFactor, "mobile": false,
		}, "viewport"})
	}

	if o.MediaType != "" {
		commands = append(commands,
			command{"Emulation.setEmulatedMedia", map[string]any{"media": o.MediaType}, "mediaType"})
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

// framePreparations returns the commands for the tab and for each frame in another process.
func (v *visit) framePreparations() []command {
	commands := append(v.workerPreparations(),
		command{"Page.enable", nil, ""},
		command{"Page.setLifecycleEventsEnabled", on("enabled"), ""},
		// Pages find no service workers, as in private windows of some browsers. A service
		// worker would send requests that do not belong to the page.
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
		// Pause every request, not only those to the page's origin: a redirect to another
		// origin would keep the headers.
		patterns := map[string]any{"patterns": []map[string]any{{"urlPattern": "*"}}}
		commands = append(commands, command{"Fetch.enable", patterns, "extraHTTPHeaders"})
	}

	return commands
}

// workerPreparations returns the commands for every target that sends requests.
func (v *visit) workerPreparations() []command {
	commands := []command{
		// Log entries name the resources that failed to load. Network.enable reports every
		// request and makes a page of 20 resources a tenth slower.
		{"Log.enable", nil, ""},
		{
			"Target.setAutoAttach",
			map[string]any{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true},
			"",
		},
	}
	if v.opts.UserAgent != "" {
		commands = append(commands,
			command{"Network.setUserAgentOverride", map[string]any{"userAgent": v.opts.UserAgent}, "userAgent"})
	}

	return commands
}

// scriptsOff reports whether the options turn JavaScript off.
func (v *visit) scriptsOff() bool {
	return v.opts.JavaScriptEnabled != nil && !*v.opts.JavaScriptEnabled
}

// cookies returns the cookies of the options for Network.setCookies. They are host-only, and
// flags of the browser bind them to the page's scheme and port.
func (v *visit) cookies() []map[string]any {
	origin := (&url.URL{Scheme: v.page.Scheme, Host: v.page.Host, Path: "/"}).String()
	_, digits, _ := net.SplitHostPort(hostPort(origin))
	port, _ := strconv.Atoi(digits) // guard.Policy.CheckURL has checked it
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

// targetTimeout is how long a frame or worker may take for one command. On a busy machine
// its process may not have started yet.
const targetTimeout = 10 * time.Second

// prepareTarget prepares a frame in another process, or a worker, and lets it run.
func (v *visit) prepareTarget(session, kind string) {
	commands := v.workerPreparations()

	switch kind {
	case "iframe":
		commands = v.framePreparations()
	case "service_worker":
		commands = nil // it answers no command before it runs
	}

	for _, c := range append(commands, command{"Runtime.runIfWaitingForDebugger", nil, ""}) {
		ctx, cancel := context.WithTimeout(v.ctx, targetTimeout)
		_, err := v.inst.conn.Call(ctx, session, c.method, c.params)
		cancel()

		if err != nil && (c.option != "" || v.ctx.Err() != nil) {
			return // it has ended, or it stays paused: it must not run without the option
		}
	}
}

// continueRequest continues a paused request. A request to the page's own origin gets the extra headers. They are
// removed from any other, because they may hold secrets and a redirect keeps them.
func (v *visit) continueRequest(session string, params json.RawMessage) {
	var e struct {
		RequestID string `json:"requestId"`
		Request   struct {
			URL     string            `json:"url"`
			Headers map[string]string `json:"headers"`
		} `json:"request"`
	}
	if json.Unmarshal(params, &e) != nil {
		return // the request stays paused
	}

	headers := e.Request.Headers
	if headers == nil {
		headers = map[string]string{}
	}

	same := sameOrigin(v.page, e.Request.URL)
	for name, value := range v.opts.ExtraHTTPHeaders {
		// Remove what the page's scripts set here. On another origin, remove only our value after a redirect.
		for header, held := range headers {
			if strings.EqualFold(header, name) && (same || held == value) {
				delete(headers, header)
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
	// An error means that the request has ended.
	_, _ = v.inst.conn.Call(v.ctx, session, "Fetch.continueRequest",
		map[string]any{"requestId": e.RequestID, "headers": entries})
}

// sameOrigin reports whether a URL has the scheme, host and port of the page.
func sameOrigin(page *url.URL, raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.Scheme == page.Scheme && hostPort(raw) == hostPort(page.String())
}

// closeDialog answers a dialog with no, or with yes if it asks whether to leave the page.
func (v *visit) closeDialog(ctx context.Context, session, kind string) {
	// An error means that the dialog is closed already.
	_, _ = v.inst.conn.Call(ctx, session, "Page.handleJavaScriptDialog",
		map[string]any{"accept": kind == "beforeunload"})
}

// isTrue reads an option that is false by default.
func isTrue(b *bool) bool { return b != nil && *b }
