package studio_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/input"

	"presswork/internal/test/browsertest"
	"presswork/internal/test/e2e"
)

// shared has a server and a browser that several tests use at the same time.
type shared struct {
	client  *e2e.Client
	visitor *browsertest.Visitor
}

// open opens the studio in a new browser session. The results fail t.
func (h *shared) open(t *testing.T) (*browsertest.Visitor, *browsertest.Visit, *e2e.Client) {
	t.Helper()
	v := h.visitor.For(t)
	p := v.Open(h.client.Base+"/", 1280, 800, false)
	p.See(".cm-content")

	return v, p, h.client.For(t)
}

func TestStudio(t *testing.T) {
	t.Parallel()
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": writeModels(t), "EXPORT_ALLOW_PRIVATE": "true", "OUTBOUND_ALLOW_PRIVATE": "true",
	})

	h := &shared{c, browsertest.NewVisitor(t)}
	for name, visit := range map[string]func(*testing.T, *shared){
		"PasteConvertDownload":     checkPasteConvertDownload,
		"Findings":                 checkFindings,
		"PrintedFindings":          checkPrintedFindings,
		"PageAndText":              checkPageAndText,
		"ThemeChoice":              checkThemeChoice,
		"PastedHTML":               checkPastedHTML,
		"DroppedFiles":             checkDroppedFiles,
		"PicturePlacement":         checkPicturePlacement,
		"PastedPagePlacement":      checkPastedPagePlacement,
		"PicturesAfterReload":      checkPicturesAfterReload,
		"UnsavedTextAfterReload":   checkUnsavedTextAfterReload,
		"DroppedTexts":             checkDroppedTexts,
		"DocumentList":             checkDocumentList,
		"SecondTab":                checkSecondTab,
		"ShareLink":                checkShareLink,
		"HugePicture":              checkHugePicture,
		"LongDocument":             checkLongDocument,
		"Versions":                 checkVersions,
		"ImportedFolder":           checkImportedFolder,
		"ImportedArchive":          checkImportedArchive,
		"HostileArchives":          checkHostileArchives,
		"Outline":                  checkOutline,
		"FindAndReplace":           checkFindAndReplace,
		"FormatButtons":            checkFormatButtons,
		"SlashMenu":                checkSlashMenu,
		"Shortcuts":                checkShortcuts,
		"DuplicateAndExport":       checkDuplicateAndExport,
		"ManyFilesOffline":         checkManyFilesOffline,
		"FullStorage":              checkFullStorage,
		"OptionFields":             checkOptionFields,
		"EssentialsAndFilter":      checkEssentialsAndFilter,
		"WrongHiddenOption":        checkWrongHiddenOption,
		"Presets":                  checkPresets,
		"SavedPresets":             checkSavedPresets,
		"FirstVisitSize":           checkFirstVisitSize,
		"SpacesInScaledPage":       checkSpacesInScaledPage,
		"NoScriptsInPreview":       checkNoScriptsInPreview,
		"JobAfterReload":           checkJobAfterReload,
		"KeyboardUse":              checkKeyboardUse,
		"NarrowScreen":             checkNarrowScreen,
		"SlowNetwork":              checkSlowNetwork,
		"Offline":                  checkOffline,
		"DocumentationRequests":    checkDocumentationRequests,
		"DocumentationLanguage":    checkDocumentationLanguage,
		"CopiedProgram":            checkCopiedProgram,
		"Chat":                     checkChat,
		"AnswerDetails":            checkAnswerDetails,
		"EditedQuestion":           checkEditedQuestion,
		"Conversations":            checkConversations,
		"StoppedAnswer":            checkStoppedAnswer,
		"Programs":                 checkPrograms,
		"PageExport":               checkPageExport,
		"Transcription":            checkTranscription,
		"LongPasteAndMicrophone":   checkLongPasteAndMicrophone,
		"MonitorHasNoForeignLinks": checkMonitorHasNoForeignLinks,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			visit(t, h)
		})
	}
}

// pasteText replaces the text of the document by a paste of a media type. Ctrl+A selects in the editor's state at once. A
// selection by the browser would be lost if the editor drew first.
func pasteText(p *browsertest.Visit, kind, text string) {
	p.See(".cm-content")
	p.Eval(`(kind, text) => {
		const editor = document.querySelector(".cm-content");
		editor.focus();
		const keys = {key: "a", keyCode: 65, ctrlKey: true, bubbles: true, cancelable: true};
		editor.dispatchEvent(new KeyboardEvent("keydown", keys));
		const data = new DataTransfer();
		data.setData(kind, text);
		editor.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
	}`, kind, text)
}

// page is JavaScript for the document in the preview.
const page = `document.querySelector("iframe.sheet").contentDocument`

// waitForPreview waits until the preview contains text.
func waitForPreview(p *browsertest.Visit, text string) {
	p.Until("the preview shows "+text, `text => `+page+`.body.innerText.includes(text)`, text)
}

// convert converts the document and waits until the job is completed.
func convert(p *browsertest.Visit) {
	p.Click("Convert Ctrl")
	p.See(".job[data-status=completed]")
}

// checkLastJobHasNoWarnings reads the job from the API: the page gets the warnings only after the end of the job.
func checkLastJobHasNoWarnings(t *testing.T, p *browsertest.Visit, c *e2e.Client) {
	t.Helper()

	job := c.Job(p.Eval(`() => JSON.parse(localStorage.getItem("presswork.jobs"))[0].id`))
	if len(job.Warnings) > 0 {
		t.Errorf("warnings %v, want none and the picture in the PDF", job.Warnings)
	}
}

// checkNoScriptRan checks window.ran, which the scripts of hostile documents set.
func checkNoScriptRan(t *testing.T, p *browsertest.Visit) {
	t.Helper()

	if ran := p.Eval(`() => String(window.ran)`); ran != "undefined" {
		t.Errorf("window.ran = %s, want undefined: a script of the document ran", ran)
	}
}

// checkKeyIsNotStored checks that the browser keeps the key only for the session of the tab.
func checkKeyIsNotStored(t *testing.T, p *browsertest.Visit, key string) {
	t.Helper()

	if kept := p.Eval(`() => JSON.stringify(localStorage) + document.cookie`); strings.Contains(kept, key) {
		t.Errorf("localStorage and cookies have %s, want them without the key", kept)
	}
}

// recordDownloads sets window.saved to the first five characters of each file that the page saves.
func recordDownloads(p *browsertest.Visit) {
	p.Eval(`() => {
		const real = URL.createObjectURL.bind(URL);
		URL.createObjectURL = blob => { blob.text().then(x => window.saved = x.slice(0, 5)); return real(blob) };
	}`)
}

// checkPasteConvertDownload pastes a text, converts it with a progress bar, and downloads the PDF.
func checkPasteConvertDownload(t *testing.T, h *shared) {
	_, p, c := h.open(t)
	// window.widths gets each value of the progress bar.
	p.Eval(`() => {
		window.widths = [];
		new MutationObserver(() => {
			const now = document.querySelector("[role=progressbar]")?.getAttribute("aria-valuenow");
			if (now !== undefined && window.widths.at(-1) !== now) window.widths.push(now);
		}).observe(document.body, {subtree: true, childList: true, attributes: true});
	}`)
	// The document is so long that the page opens its socket before the job has ended.
	pasteText(p, "text/plain", "# A pasted report\n\n![gone](missing.png)\n\n"+
		strings.Repeat("A paragraph with *some* words in it, of one line or two.\n\n", 4000))
	waitForPreview(p, "A pasted report")
	convert(p)

	var widths []string
	if err := json.Unmarshal([]byte(p.Eval(`() => JSON.stringify(window.widths)`)), &widths); err != nil {
		t.Fatal(err)
	}

	if len(widths) < 3 || widths[len(widths)-1] != "100" {
		t.Errorf("values of the progress bar %v, want at least three that end with 100", widths)
	}
	p.Reads(".says", "A pasted report", " pages, ")
	// The warning leads to its line.
	p.Press(".job button.warning")
	p.Reads(".cm-activeLine", "missing.png")
	recordDownloads(p)
	p.Click("Download")
	p.Until("the PDF is saved", `() => window.saved === "%PDF-"`)
	// The button "Copy as" shows a program with the same request.
	p.Click("Copy as")
	p.Reads(".program", c.Base+"/api/conversion", "text/markdown")
	// The progress comes over the socket, so the page does not poll.
	for _, r := range p.Requests() {
		if strings.Contains(r, "wait=") {
			t.Errorf("the page sent %s, want no poll for progress", r)
		}
	}
}

// checkThemeChoice checks that a theme that the user chooses in the dialog is in the front matter and the preview.
func checkThemeChoice(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	pasteText(p, "text/plain", "# Minutes of 3 March\n\nPresent: Ada, Bo\n")
	waitForPreview(p, "Minutes")
	p.Press(".theme-now")
	p.See("dialog input[type=search]").MustInput("arctic")
	p.Until("one theme is left", `() => document.querySelectorAll(".card").length === 1`)
	p.Until("its picture is there", `() => document.querySelector(".card img")?.naturalWidth > 0`)
	p.Press(".card")
	p.Until("the front matter has it", `() => document.querySelector(".cm-content").innerText.includes("theme: nord")`)
	p.Until("the preview uses the font of the print",
		`() => [...`+page+`.fonts].some(f => f.family.includes("Source Sans 3") && f.status === "loaded")`)
	p.Until("the page has it", `() => `+page+`.documentElement.dataset.theme === "nord"`)
	// An option is written to the front matter too, and the panel follows the text after an undo.
	p.See("#opt-page_size").MustSelect("A5")
	p.Until("the front matter has it",
		`() => document.querySelector(".cm-content").innerText.includes("page_size: A5")`)
	p.Eval(`() => { const e = document.querySelector(".cm-content"); e.focus() }`)
	p.Page.KeyActions().Press(input.ControlLeft).Type('z').MustDo()
	p.Until("undo takes it back", `() => document.querySelector("#opt-page_size").value === ""`)
	p.Click("Choose for me")

	if advice := p.Reads(".advice", "suits this"); strings.Count(advice, "\n") < 2 {
		t.Errorf("advice %q, want at least three lines", advice)
	}
}

// checkPastedHTML checks that pasted HTML becomes Markdown without scripts.
func checkPastedHTML(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	p.Allow = []string{"Blocked script execution in"} // the preview blocks the pasted script
	waitForPreview(p, "quiet craft")
	pasteText(p, "text/html", `<meta charset=utf-8><h2 style="color:red" onclick="alert(1)">Taken</h2>
		<p>from <b>a page</b> <a href="https://example.com/">there</a></p><script>alert(1)</script>
		<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2|3</td></tr></table>`)

	text := p.Reads(".cm-content", "## Taken", "**a page**", "[there](https://example.com/)", "| a | b |", `2\|3`)
	if strings.Contains(text, "alert") || strings.Contains(text, "<") {
		t.Errorf("text %q, want no script and no HTML", text)
	}
}

// checkDroppedFiles drops documents, a picture, an archive, a folder and files that the studio rejects.
func checkDroppedFiles(t *testing.T, h *shared) {
	_, p, c := h.open(t)
	drop(p, file{"notes.md", "text/markdown", []byte("# Dropped\n")})
	waitForPreview(p, "Dropped")
	drop(p, file{"red dot.png", "image/png", picture(t)})
	p.Until("the picture is on the page", `() => [...`+page+`.images].some(i => i.naturalWidth === 1)`)
	convert(p)
	checkLastJobHasNoWarnings(t, p, c)
	// A folder and an archive of one become a document each.
	archive := zipOf(t, map[string]string{"book/README.md": "# README.md", "book/more.md": "# more.md"})
	drop(p, file{"book.zip", "application/zip", archive})
	p.Reads("dialog .found", "README", "more")
	p.Click("Convert into one PDF")
	p.Until("the archive is printed",
		`() => document.querySelector(".job[data-status=completed]")?.innerText.includes("book.zip 2 pages")`)

	folder := t.TempDir()
	for _, name := range []string{"README.md", "more.md"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("# "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dropFolder(t, p, folder)
	p.Reads("dialog .found", "README", "more")
	p.Click("Convert into one PDF")
	p.Until("the folder is printed",
		`name => document.querySelector(".job[data-status=completed]")?.innerText.includes(name + " 2 pages")`,
		filepath.Base(folder))
	// The front matter sets slides, and the panel sets HTML as the output.
	pasteText(p, "text/plain", "# A talk\n\n---\n\n## On\n")
	p.Click("Advanced")
	p.See("#opt-as").MustSelect("Slides")
	p.Until("the front matter has it", `() => document.querySelector(".cm-content").innerText.includes("as: slides")`)
	p.See("#opt-output").MustSelect("Web page (HTML)")
	p.Click("Convert Ctrl")
	p.Until("the slides are converted",
		`() => document.querySelector(".job[data-status=completed]")?.innerText.includes("A talk Done")`)
	drop(p, file{"tool.exe", "application/octet-stream", []byte("MZ")})
	p.Reads(".notice", "is not supported")
	drop(p, file{"latin.txt", "text/plain", []byte("\xe9\xf8")})
	p.Reads(".notice", "UTF-8")
}

// checkNoScriptsInPreview checks that neither the document nor its front matter can run scripts.
func checkNoScriptsInPreview(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	pasteText(p, "text/plain", `---
theme: "<img src=x onerror=alert(1)>"
title: "</title><script>parent.ran=1</script>"
---
# Hostile

<img src=x onerror="parent.ran=1"><script>parent.ran=1</script><iframe src="javascript:parent.ran=1"></iframe>

[link](javascript:parent.ran=1) <svg onload="parent.ran=1"></svg>
`)
	waitForPreview(p, "Hostile")
	// The server removes scripts. The preview must also block scripts that the server does not remove.
	p.Eval(`() => {
		const d = ` + page + `, image = d.createElement("img"), script = d.createElement("script");
		image.setAttribute("onerror", "parent.ran=1");
		image.src = "data:,";
		image.addEventListener("error", () => window.failed = true);
		script.textContent = "parent.ran=1";
		d.body.append(image, script);
	}`)
	p.Allow = []string{"Content Security Policy", "Blocked script execution", "about:blank"}
	p.Until("the picture has failed", `() => window.failed`)
	waitForPreview(p, "Hostile")
	checkNoScriptRan(t, p)
}

// checkJobAfterReload checks that the page shows a running job after a reload.
func checkJobAfterReload(t *testing.T, h *shared) {
	v, p, _ := h.open(t)
	const section = "## Section\n\nSome words that fill a line and then another one, so that there are many pages.\n\n"
	pasteText(p, "text/plain", "# Long\n\n"+strings.Repeat(section, 3000))
	p.Reads(".words", "51001 words")
	waitForSave(p)
	p.Click("Convert Ctrl")
	p.See(".job")
	p.Page.MustReload().MustWaitLoad()
	p.See(".cm-content")
	p.Reads(".cm-content", "# Long")
	p.Click("History")
	p.See(".history li[data-status=completed]")
	// The history is shared with another window of the browser.
	second := v.OpenAlso(p, p.Page.MustInfo().URL)
	second.Click("History")
	second.Reads(".history li", "Long")
}

func TestKeyIsKeptForTheTabOnly(t *testing.T) {
	t.Parallel()
	_, c := e2e.Serve(t, map[string]string{"API_KEY": "right-key"})
	v := browsertest.NewVisitor(t)
	p := v.Open(c.Base+"/", 1280, 800, false)
	p.Allow = []string{"401 (Unauthorized)"}
	p.See("#key").MustInput("wrong-key").MustType(input.Enter)
	p.Until("the wrong key is rejected",
		`() => document.querySelector(".sign-in .problem")?.innerText.includes("not valid")`)
	p.See("#key").MustSelectAllText().MustInput("right-key").MustType(input.Enter)
	waitForPreview(p, "quiet craft")
	convert(p)

	checkKeyIsNotStored(t, p, "right-key")
	p.Click("Copy as")

	if program := p.Reads(".program", "$PRESSWORK_KEY"); strings.Contains(program, "right-key") {
		t.Errorf("program %q, want the key as a variable", program)
	}
	second := v.OpenAlso(p, strings.SplitN(p.Page.MustInfo().URL, "#", 2)[0])
	second.Allow = p.Allow
	second.See("#key")
}
