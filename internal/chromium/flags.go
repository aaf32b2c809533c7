package chromium

// deadProxy is where every connection goes: nobody listens there.
const deadProxy = "127.0.0.1:9"

// flags are the browser's arguments. rod's own set is not used: it turns site
// isolation off, and the sandbox too inside a container.
func flags(dataDir string, sandbox, smallShm, foreign bool) []string {
	f := []string{
		"--headless",
		"--remote-debugging-pipe",
		"--user-data-dir=" + dataDir,
		// Nothing is kept: a profile on disk is some fifty files, synced forty times,
		// to be deleted when the browser ends.
		"--incognito",
		"--no-startup-window",
		"--no-first-run",
		"--no-default-browser-check",

		// No way out. Names resolve to nothing, and every connection, loopback
		// included (<-loopback>), goes to a proxy that does not exist. Measured:
		// 0 of 50 ways out got through; without <-loopback>, loopback leaks.
		"--host-resolver-rules=MAP * ~NOTFOUND",
		"--proxy-server=" + deadProxy,
		"--proxy-bypass-list=<-loopback>",
		"--disable-quic",
		// Full Chrome reads the first of these two, the headless shell the second.
		"--webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--no-pings",
		"--dns-prefetch-disable",

		// Nothing of its own accord.
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
		"--disable-features=Translate,MediaRouter,DialMediaRouteProvider,OptimizationHints,AutofillServerCommunication",

		// Tabs nobody looks at print at full speed.
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

		// Scripts are ours (Script), and what they work on is not.
		"--js-flags=--max-old-space-size=512",
	}
	if foreign {
		f = forForeignPages(f)
	} else {
		// For tabs that nobody sees (openTab), and for their frames (capture). A
		// browser without a network needs no process for it, which is not sandboxed
		// on Linux either: it starts sooner, and takes 14 MiB less. Nor does it need
		// what draws WebGL, or a second zygote for the one process that draws frames.
		f = append(f, "--enable-begin-frame-control", "--run-all-compositor-stages-before-draw",
			"--enable-features=NetworkServiceInProcess2", "--disable-software-rasterizer", "--no-unsandboxed-zygote")
	}

	if !sandbox {
		f = append(f, "--no-sandbox")
	}

	if smallShm {
		f = append(f, "--disable-dev-shm-usage")
	}

	return f
}
