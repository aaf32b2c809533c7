package process

// DeadProxy is the proxy, as host:port, of each connection that no browser context sends elsewhere. No server listens
// on its port.
const DeadProxy = "127.0.0.1:9"

// Features of Chromium that are off in each browser, and in addition in a foreign one.
const (
	featuresOff = "Translate,MediaRouter,DialMediaRouteProvider,OptimizationHints," +
		"AutofillServerCommunication"
	foreignFeaturesOff = "WebRtcHideLocalIpsWithMdns,Reporting,NetworkErrorLogging,Prerender2"
)

// arguments returns the browser's command line. smallShm says that /dev/shm is too small for the browser. rod, the
// library for the browser's protocol, has a set of arguments, which is not used. It turns site isolation off, and
// inside a container the sandbox as well.
func arguments(dataDir string, o Options, smallShm bool) []string {
	resolverRules, disabledFeatures := "MAP * ~NOTFOUND", featuresOff
	if o.Foreign {
		// Contexts use proxies at this address. The proxies resolve names.
		resolverRules += " , EXCLUDE 127.0.0.1"
		disabledFeatures += "," + foreignFeaturesOff
	}

	args := []string{
		"--headless",
		"--remote-debugging-pipe",
		"--user-data-dir=" + dataDir,
		// Nothing is kept: a profile on disk is about 50 files, which are synced 40 times
		// and deleted when the browser ends.
		"--incognito",
		"--no-startup-window",
		"--no-first-run",
		"--no-default-browser-check",

		// No network. Names resolve to nothing, and each connection goes to a proxy that does not exist. <-loopback>
		// includes connections to loopback, which browsers make without a proxy. Measured: 0 of 50 attempts got
		// through; without <-loopback>, those to loopback did.
		"--host-resolver-rules=" + resolverRules,
		"--proxy-server=" + DeadProxy,
		"--proxy-bypass-list=<-loopback>",
		"--disable-quic",
		// Full Chrome reads the first of these two, the headless shell the second.
		"--webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--no-pings",
		"--dns-prefetch-disable",

		// Nothing that the browser does on its own, such as updates.
		"--disable-background-networking",
		"--disable-component-update",
		"--disable-component-extensions-with-background-pages",
		"--disable-client-side-phishing-detection",
		"--disable-default-apps",
		"--disable-domain-reliability",
		"--disable-extensions",
		"--disable-sync",
		"--disable-breakpad",
		"--disable-crash-reporter",
		"--metrics-recording-only",
		"--password-store=basic",
		"--use-mock-keychain",
		"--deny-permission-prompts",
		"--disable-notifications",
		"--disable-features=" + disabledFeatures,

		// Invisible tabs print at full speed.
		"--disable-background-timer-throttling",
		"--disable-backgrounding-occluded-windows",
		"--disable-renderer-backgrounding",
		"--disable-hang-monitor",

		// The same bytes on every machine.
		"--lang=en-US",
		"--font-render-hinting=none",
		"--force-color-profile=srgb",
		"--hide-scrollbars",
		"--mute-audio",
		"--disable-gpu",

		// Scripts are trusted (Browser.Script), but their input is not. WebAssembly gets 512 MiB (8192 pages of 64 KiB),
		// as JavaScript does. --liftoff-only turns its optimising compiler off. That takes 300 MiB for D2, the diagram
		// program, which has finished before the optimised code is ready.
		"--js-flags=--max-old-space-size=512 --liftoff-only --wasm-max-mem-pages=8192",
	}
	if o.Foreign {
		args = append(args, foreignArguments()...)
	} else {
		args = append(args, printArguments()...)
	}

	if !o.Confinement.Sandbox {
		args = append(args, "--no-sandbox")
	}

	if smallShm {
		args = append(args, "--disable-dev-shm-usage")
	}

	return args
}

// printArguments are for a browser that prints composed pages in invisible tabs and draws frames on command. Without
// a network it needs no network process, which on Linux has no sandbox. Thus the browser starts sooner and takes
// 14 MiB less. Nor does it need the process that draws WebGL. A zygote is a process from which Chromium forks others;
// a second one, for the process that draws frames, is not needed either.
func printArguments() []string {
	return []string{
		"--enable-begin-frame-control",
		"--run-all-compositor-stages-before-draw",
		"--enable-features=NetworkServiceInProcess2",
		"--disable-software-rasterizer",
		"--no-unsandboxed-zygote",
	}
}

// foreignArguments are for a browser that shows pages of other people.
func foreignArguments() []string {
	return []string{
		// A cookie goes to its origin, not to every port and scheme of its host.
		"--enable-features=EnablePortBoundCookies,EnableSchemeBoundCookies",
		"--block-new-web-contents",
		"--autoplay-policy=user-gesture-required",
		// Images below the window's edge are printed.
		"--blink-settings=lazyLoadEnabled=false",
		"--js-flags=--max-old-space-size=1024",
	}
}
