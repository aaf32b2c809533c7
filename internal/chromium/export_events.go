package chromium

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/go-rod/rod/lib/cdp"

	"presswork/internal/fault"
)

// What a page may do at most, beyond what guard.ProxyOptions bound.
const (
	maxMoves    = 20
	maxFrames   = 300
	maxTargets  = 100 // frames in processes of their own, and workers, over time
	maxDialogs  = 100
	maxKeptText = 1 << 10
)

// frame is how far a frame's document is.
type frame struct {
	loader string
	stages map[string]bool // lifecycle events by name: load, networkIdle
}

// happening is what is read of an event; each kind fills a part.
type happening struct {
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
		RequestID string `json:"networkRequestId"` // of a document its loader
	} `json:"entry"`
	TargetInfo struct {
		Type string `json:"type"`
	} `json:"targetInfo"`
	ExceptionDetails exception `json:"exceptionDetails"`
}

// see takes an event in. It runs in the connection's reader and does not block.
func (v *visit) see(e *cdp.Event) {
	switch e.Method {
	case "Page.lifecycleEvent",
		"Page.frameDetached",
		"Page.frameNavigated",
		"Page.navigatedWithinDocument",
		"Page.frameStoppedLoading",
		"Page.javascriptDialogOpening",
		"Log.entryAdded",
		"Runtime.exceptionThrown",
		"Target.attachedToTarget",
		"Target.detachedFromTarget":
	case "Fetch.requestPaused":
		go v.pass(e.SessionID, e.Params)
		return
	default:
		return
	}

	var h happening
	if err := json.Unmarshal(e.Params, &h); err != nil {
		v.inst.log.Warn("browser event not understood", "method", e.Method, "error", err)
		return
	}

	switch e.Method {
	case "Page.javascriptDialogOpening":
		v.count(&v.dialogs, maxDialogs, "opens more than %d dialogs")
		go v.dismiss(v.ctx, e.SessionID, h.Type)
	case "Target.attachedToTarget":
		v.follow(h.SessionID) // before any event of it is read
		go v.adopt(h.SessionID, h.TargetInfo.Type)
	case "Target.detachedFromTarget":
		v.unfollow(h.SessionID)
	default:
		v.note(e.Method, &h)
		v.notify()
	}
}

// note keeps what the waits and the verdict need.
func (v *visit) note(method string, h *happening) {
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
		// Some documents never load to the end: a link to a download stops them.
		if f := v.frames[h.FrameID]; isMain && f != nil && v.moves > 0 && f.loader == v.main.loader {
			f.stages["DOMContentLoaded"], f.stages["load"] = true, true
		}
	case "Page.frameDetached":
		if h.Reason != "swap" {
			delete(v.frames, h.FrameID)
		}
	case "Page.frameNavigated":
		if h.Frame.ID == v.tab.target {
			v.arrive(h)
		}
	case "Page.navigatedWithinDocument":
		if isMain && v.main.failed == "" {
			v.main.url = h.URL
		}
	case "Log.entryAdded":
		// Not of what was given up because the page moves on; of what was answered,
		// it is the status.
		failure := netError.FindString(h.Entry.Text)
		switch {
		case h.Entry.Source != "network" || failure == "":
		case h.Entry.RequestID == v.main.loader: // broken off
			v.main.failed = failure
		case v.lost == "" && !strings.HasPrefix(failure, "net::ERR_BLOCKED_BY_"): // by the page's own policy
			v.lost = clipText(h.Entry.URL) + " (" + failure + ")"
		}
	case "Runtime.exceptionThrown":
		if v.thrown == "" {
			v.thrown = clipText(h.ExceptionDetails.text())
		}
	}
}

// netError is how Chromium names why something was not loaded.
var netError = regexp.MustCompile(`net::ERR_[A-Z0-9_]+`)

// unexplained is the failure of a document that nobody gave a reason for.
const unexplained = "net::ERR_FAILED"

// arrive notes that the main frame shows another document. The lock is held.
func (v *visit) arrive(h *happening) {
	v.main = document{loader: h.Frame.LoaderID, url: h.Frame.URL}
	if h.Frame.UnreachableURL != "" {
		v.main.url, v.main.failed = h.Frame.UnreachableURL, unexplained
	}

	if v.moves++; v.moves > maxMoves {
		v.giveUp(tooMany("navigates more than %d times", maxMoves))
	}

	switch scheme, _, _ := strings.Cut(h.Frame.URL, ":"); scheme {
	case "http", "https", "about", "blob", "chrome-error":
	default:
		v.giveUp(
			fault.Errorf(
				fault.AddressNotAllowed,
				"the page leads to %s:, and only http and https are exported",
				clipText(scheme),
			),
		)
	}
}

func (v *visit) count(n *int, most int, complaint string) {
	v.mu.Lock()
	defer v.mu.Unlock()

	if *n++; *n > most {
		v.giveUp(tooMany(complaint, most))
	}
}

func tooMany(complaint string, most int) error {
	return fault.Errorf(fault.PageError, "the page "+complaint, most)
}

// notify wakes the one who waits.
func (v *visit) notify() {
	select {
	case v.changed <- struct{}{}:
	default:
	}
}

// exception is CDP's Runtime.ExceptionDetails, as far as it is shown.
type exception struct {
	Text      string `json:"text"`
	Exception struct {
		ClassName   string `json:"className"`
		Description string `json:"description"`
		Value       any    `json:"value"`
	} `json:"exception"`
}

func (x exception) text() string {
	if line, _, _ := strings.Cut(x.Exception.Description, "\n"); line != "" {
		return line
	}

	return x.Text
}

// clipText keeps a page's text short.
func clipText(s string) string {
	if len(s) > maxKeptText {
		return strings.ToValidUTF8(s[:maxKeptText], "") + "…"
	}

	return s
}
