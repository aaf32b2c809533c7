package monitor

import "bytes"

// bar is the bar of /admin above Asynqmon's page. A transformed element contains its fixed descendants, so that
// Asynqmon's own bar stays below this one.
const bar = `<header class="presswork"><a class="brand" href="/">Presswork</a><nav aria-label="Operations">` +
	`<a href="/admin">Overview</a><a href="/admin#jobs">Jobs</a><a href="/admin#dead">Dead letters</a>` +
	`<a href="/admin#webhooks">Webhooks</a><a href="/admin#keys">Keys</a>` +
	`<a href="/monitor" aria-current="page">Monitor</a></nav></header>`

// barStyle is the look of the bar in the colours of the studio. It also hides the links to other sites that the page's
// scripts add.
const barStyle = `<style>a[href^=http]{display:none!important}
body{margin:0}
#root{transform:translate(0)}
.presswork{display:flex;align-items:center;gap:14px;height:53px;padding:0 18px;overflow-x:auto;background:#fffefb;` +
	`color:#1d1b18;border-bottom:1px solid #ddd8cd;font:15px/1.5 ui-sans-serif,system-ui,sans-serif}
.presswork a{color:#57524a;text-decoration:none;white-space:nowrap;padding:6px 8px}
.presswork a:hover{color:#1d1b18;text-decoration:underline}
.presswork .brand{font:600 20px Georgia,serif;color:#1d1b18}
.presswork nav{display:flex;gap:4px}
.presswork [aria-current]{color:#1d1b18;font-weight:600;box-shadow:inset 0 -2px #b3361b}
@media (prefers-color-scheme:dark){.presswork{background:#1d1b17;color:#ece7de;border-color:#37332c}
.presswork a{color:#b8b1a5}.presswork a:hover,.presswork .brand,.presswork [aria-current]{color:#ece7de}}</style>`

var (
	headEnd = []byte("</head>")
	root    = []byte(`<div id="root">`)
)

// withBar returns Asynqmon's page below the bar.
func withBar(page []byte) []byte {
	page = bytes.Replace(page, headEnd, []byte(barStyle+"</head>"), 1)

	return bytes.Replace(page, root, []byte(bar+`<div id="root">`), 1)
}
