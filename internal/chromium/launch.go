package chromium

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"

	"presswork/internal/chromium/process"
	"presswork/internal/lazyregexp"
)

// ErrNotFound is in the chain of every error that means that no browser is installed.
var ErrNotFound = process.ErrNotFound

// Find returns the program that a Browser with this Options.Path starts. Errors:
// ErrNotFound, with instructions to install a browser.
func Find(path string) (string, error) { return process.Find(path) }

// sandboxTrouble matches the line of Chromium's stderr that says why it cannot confine its
// renderers.
var sandboxTrouble = lazyregexp.New(`(?i)[^\n]*(sandbox|namespace|zygote)[^\n]*`)

// launch starts a browser, confined as far as the machine allows: it tries the strictest confinement first. Only a
// browser for foreign pages has a network: it reaches the filtering proxies. Errors: ErrNotFound, and those of the
// browser with the end of its stderr.
func launch(ctx context.Context, opt Options) (*instance, error) {
	exe, err := process.Find(opt.Path)
	if err != nil {
		return nil, err
	}

	attempts := []process.Confinement{
		{Sandbox: true, Unprivileged: true},
		{Sandbox: true},
		{Unprivileged: true},
	}
	if process.CanIsolate && !opt.foreign {
		isolated := process.Confinement{Sandbox: true, Unprivileged: true, Isolated: true}
		attempts = slices.Insert(attempts, 0, isolated)
	}
	var i *instance
	var reason string

	for _, c := range attempts {
		var stderr string
		if i, stderr, err = launchOnce(ctx, exe, c, opt); err == nil {
			i.isolated = c.Isolated
			switch {
			case !c.Sandbox:
				i.noSandbox = reason
				opt.Log.Warn("Chromium runs without its sandbox, which does not work on this machine", "reason", reason)
			case reason != "":
				opt.Log.Warn("the browser is confined by Chromium's own sandbox only",
					"reason", reason, "network_isolated", c.Isolated, "no_new_privileges", c.Unprivileged)
			}

			return i, nil
		}
		// If the kernel refuses a namespace, the program does not start and writes nothing.
		trouble := sandboxTrouble().FindString(stderr)
		if trouble == "" && c.Isolated && stderr == "" {
			trouble = err.Error()
		}

		if trouble == "" || ctx.Err() != nil {
			return nil, err
		}
		reason = trouble
	}

	return nil, err
}

// launchOnce starts a browser and opens its first tab. After an error, stderr is the end of
// the browser's output.
func launchOnce(ctx context.Context, exe string, c process.Confinement,
	opt Options,
) (i *instance, stderr string, err error) {
	p, err := process.Start(exe, process.Options{
		Confinement: c, Foreign: opt.foreign, UID: opt.UID, Dir: opt.Dir, FontConfig: opt.FontConfig, Log: opt.Log,
	})
	if err != nil {
		return nil, "", err
	}

	i = &instance{
		proc: p, log: opt.Log.With("pid", p.PID), started: time.Now(),
		tabs: map[string]*tab{}, visits: map[string]*visit{}, maxIdle: opt.Tabs, openTimeout: opt.StartTimeout,
		frameControl: !opt.foreign && runtime.GOOS != "darwin", // where Chromium does not support it
	}
	if opt.foreign {
		i.maxIdle = 0 // each page gets a context of its own
	}

	i.conn = newConn(p.In, p.Out, opt.messageLimit(), i.watch)
	if err := i.connect(ctx); err != nil {
		p.Kill()
		<-p.Exited

		return nil, p.Stderr(), fmt.Errorf("%s does not answer: %w; its stderr: %q", exe, err, p.StderrEnd())
	}

	return i, "", nil
}

// connect sets up the connection and, for prints, opens the first tab.
func (i *instance) connect(ctx context.Context) error {
	// rod keeps the context of Connect for its events, so ctx must not be that context. The
	// end of ctx closes the connection instead.
	defer context.AfterFunc(ctx, func() { i.conn.close(context.Cause(ctx)) })()
	// Set these: rod reads their defaults from an environment variable named "rod".
	i.rod = rod.New().ControlURL("").Monitor("").Trace(false).SlowMotion(0).NoDefaultDevice().Client(i.conn)
	if err := i.rod.Connect(); err != nil {
		return err
	}

	v, err := proto.BrowserGetVersion{}.Call(i.rod.Context(ctx))
	if err != nil {
		return err
	}
	i.version = v.Product

	err = proto.BrowserSetDownloadBehavior{
		Behavior: proto.BrowserSetDownloadBehaviorBehaviorDeny,
	}.Call(i.rod.Context(ctx))
	if err != nil {
		return err
	}

	if i.maxIdle == 0 {
		return nil
	}

	t, err := i.openTab(ctx)
	if _, refused := errors.AsType[*cdp.Error](err); refused && i.frameControl {
		i.frameControl = false // only the headless shell supports it
		t, err = i.openTab(ctx)
	}

	if err != nil {
		return err
	}
	i.idle = append(i.idle, t)

	return nil
}

// openTabs opens the rest of the tabs before prints need them.
func (i *instance) openTabs(ctx context.Context) {
	for {
		i.mu.Lock()
		enough := i.retired || len(i.tabs) >= i.maxIdle
		i.mu.Unlock()

		if enough {
			return
		}

		t, err := i.openTab(ctx)
		if err != nil {
			if i.usable() {
				i.log.Warn("browser tab not opened", "error", err)
			}

			return
		}
		i.keepTab(t)
	}
}
