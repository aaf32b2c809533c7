package chromium

import (
	"encoding/json"
	"strings"

	"github.com/go-rod/rod/lib/cdp"

	"presswork/internal/fault"
	"presswork/internal/lazyregexp"
)

// Limits on a page in addition to those of guard.ProxyOptions.
const (
	maxNavigations = 20
	maxFrames      = 300
	maxTargets     = 100 // frames in other processes and workers, all together over time
	maxDialogs     = 100
	maxKeptText    = 1 << 10 // bytes of a page's text in a message
)

// frame is the loading state of a frame's document.
type frame struct {
	loader string
	stages map[string]bool // lifecycle events seen, such as load and networkIdle
}

// eventParams are the parameters of all events that are read. Each kind of event sets some.
type eventParams struct {
	FrameID   string `json:"frameId"`
	LoaderID  string `json:"loaderId"`
	SessionID string `json:"sessionId"`
	URL       string `json:"url"`
	Type      string `json:"type"`
	Name      string `json:"name"`
	Reason    string `json:"reason"`
	Frame     struct {
		ID             string `json:"id"`
		ParentID       string `json:"parentId"`
		LoaderID       string `json:"loaderId"`
		URL            string `json:"url"`
		UnreachableURL string `json:"unreachableUrl"`
	} `json:"frame"`
	Entry struct {
		Source    string `json:"source"`
		Text      string `json:"text"`
		URL       string `json:"url"`
		RequestID string `json:"networkRequestId"` // for a document, its loader
	} `json:"entry"`
	TargetInfo struct {
		Type string `json:"type"`
	} `json:"targetInfo"`
	ExceptionDetails exception `json:"exceptionDetails"`
}

// handleEvent records an event or reacts to it. It runs in the connection's reader and must
// not block.
func (v *visit) handleEvent(e *cdp.Event) {
	// Parse only the events that are used: a page can cause thousands of others a second.
	switch e.Method {
	case "Page.lifecycleEvent", "Page.frameDetached", "Page.frameNavigated", "Page.navigatedWithinDocument",
		"Page.frameStoppedLoading", "Page.javascriptDialogOpening", "Log.entryAdded", "Runtime.exceptionThrown",
		"Target.attachedToTarget", "Target.detachedFromTarget":
	case "Fetch.requestPaused":
		go v.continueRequest(e.SessionID, e.Params)
		return
	default:
		return
	}

	var h eventParams
	if err := json.Unmarshal(e.Params, &h); err != nil {
		v.inst.log.Warn("browser event not readable", "method", e.Method, "error", err)
		return
	}

	switch e.Method {
	case "Page.javascriptDialogOpening":
		v.countUp(&v.dialogs, maxDialogs, "opens more than %d dialogs")
		go v.closeDialog(v.ctx, e.SessionID, h.Type)
	case "Target.attachedToTarget":
		v.addSession(h.SessionID) // before the next event is read
		go v.prepareTarget(h.SessionID, h.TargetInfo.Type)
	case "Target.detachedFromTarget":
		v.removeSession(h.SessionID)
	default:
		v.recordEvent(e.Method, &h)
		v.notify()
	}
}

// recordEvent keeps the parts of an event that awaitEvent and pageError need.
func (v *visit) recordEvent(method string, h *eventParams) {
	v.mu.Lock()
	defer v.mu.Unlock()
	isMain := h.FrameID == v.tab.target

	switch method {
	case "Page.lifecycleEvent":
		f := v.frames[h.FrameID]
		if f == nil || f.loader != h.LoaderID {
			f = &frame{loader: h.LoaderID, stages: map[string]bool{}}
			v.frames[h.FrameID] = f
		}
		f.stages[h.Name] = true

		if len(v.frames) > maxFrames {
			v.giveUp(tooMany("has more than %d frames", maxFrames))
		}
	case "Page.frameStoppedLoading":
		// A link to a download stops the loading of a document for good.
		if f := v.frames[h.FrameID]; isMain && f != nil && v.navigations > 0 && f.loader == v.main.loader {
			f.stages["DOMContentLoaded"], f.stages["load"] = true, true
		}
	case "Page.frameDetached":
		// A frame that is swapped moves to another process and stays in the page.
		if h.Reason != "swap" {
			delete(v.frames, h.FrameID)
		}
	case "Page.frameNavigated":
		if h.Frame.ID == v.tab.target {
			v.recordNavigation(h)
		}
	case "Page.navigatedWithinDocument":
		if isMain && v.main.failure == "" {
			v.main.url = h.URL
		}
	case "Log.entryAdded":
		// The entry names an error only for a resource without an answer, and not for one
		// that the page abandoned when it navigated.
		failure := netError().FindString(h.Entry.Text)
		switch {
		case h.Entry.Source != "network" || failure == "":
		case h.Entry.RequestID == v.main.loader: // the document was cut off
			v.main.failure = failure
		case v.lostResource == "" && !strings.HasPrefix(failure, "net::ERR_BLOCKED_BY_"): // the page's own policy blocked it
			v.lostResource = clipText(h.Entry.URL) + " (" + failure + ")"
		}
	case "Runtime.exceptionThrown":
		if v.firstException == "" {
			v.firstException = clipText(h.ExceptionDetails.text())
		}
	}
}

// netError matches Chromium's name for a network error.
var netError = lazyregexp.New(`net::ERR_[A-Z0-9_]+`)

// unexplainedFailure is Chromium's error when it gives no reason.
const unexplainedFailure = "net::ERR_FAILED"

// recordNavigation records that the main frame shows another document. The caller holds the
// lock.
func (v *visit) recordNavigation(h *eventParams) {
	v.main = document{loader: h.Frame.LoaderID, url: h.Frame.URL}
	if h.Frame.UnreachableURL != "" {
		v.main.url, v.main.failure = h.Frame.UnreachableURL, unexplainedFailure
	}

	if v.navigations++; v.navigations > maxNavigations {
		v.giveUp(tooMany("navigates more than %d times", maxNavigations))
	}

	// about: and blob: documents come from the page itself, and chrome-error: stands for a failed load.
	switch scheme, _, _ := strings.Cut(h.Frame.URL, ":"); scheme {
	case "http", "https", "about", "blob", "chrome-error":
	default:
		v.giveUp(fault.Errorf(fault.AddressNotAllowed,
			"the page leads to an address that begins with %s:; only http and https are exported", clipText(scheme)))
	}
}

// countUp counts something that a page may do at most limit times, and ends the visit after that. complaint is for
// tooMany.
func (v *visit) countUp(n *int, limit int, complaint string) {
	v.mu.Lock()
	defer v.mu.Unlock()

	if *n++; *n > limit {
		v.giveUp(tooMany(complaint, limit))
	}
}

// tooMany returns the error of a page that exceeds a limit. complaint is a format with the limit, such as "opens more
// than %d dialogs".
func tooMany(complaint string, limit int) error {
	return fault.Errorf(fault.PageError, "the page "+complaint, limit)
}

// notify wakes awaitEvent. It does not block: one wake-up that is not received yet stands for all later ones.
func (v *visit) notify() {
	select {
	case v.eventSeen <- struct{}{}:
	default:
	}
}

// exception has the fields of CDP's Runtime.ExceptionDetails that messages need.
type exception struct {
	Text      string `json:"text"`
	Exception struct {
		ClassName   string `json:"className"`
		Description string `json:"description"`
		Value       any    `json:"value"`
	} `json:"exception"`
}

// text returns the first line of the description.
func (x exception) text() string {
	if line, _, _ := strings.Cut(x.Exception.Description, "\n"); line != "" {
		return line
	}

	return x.Text
}

// clipText shortens text of a page for a message.
func clipText(s string) string {
	if len(s) > maxKeptText {
		return strings.ToValidUTF8(s[:maxKeptText], "") + "…"
	}

	return s
}
