package chromium

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

// TraceEvent is one span of work of a browser's thread, in its own trace format
// (https://chromium.googlesource.com/catapult, "Trace Event Format").
type TraceEvent struct {
	Name  string  `json:"name"`
	Phase string  `json:"ph"`
	PID   int     `json:"pid"`
	TID   int     `json:"tid"`
	Start float64 `json:"ts"`   // microseconds
	Wall  float64 `json:"dur"`  // microseconds
	CPU   float64 `json:"tdur"` // microseconds
	Args  struct {
		Name string `json:"name"`
	} `json:"args"`
}

// Trace returns the spans of the browser's threads during work.
func (r *Raw) Trace(ctx context.Context, work func() error) ([]TraceEvent, error) {
	browser := r.inst.rod.Context(ctx)
	mode := proto.TracingStartTransferModeReturnAsStream

	err := proto.TracingStart{TransferMode: mode, TraceConfig: &proto.TracingTraceConfig{
		IncludedCategories: []string{
			"devtools.timeline",
			"disabled-by-default-devtools.timeline",
			"blink",
			"printing",
			"cc",
			"viz",
			"toplevel",
		},
		ExcludedCategories: []string{"*"},
	}}.Call(browser)
	if err != nil {
		return nil, err
	}
	worked := work()
	var end proto.TracingTracingComplete

	ended := browser.WaitEvent(&end)
	if err := (proto.TracingEnd{}).Call(browser); err != nil {
		return nil, err
	}
	ended()

	if worked != nil {
		return nil, worked
	}
	var text strings.Builder

	for {
		piece, err := proto.IORead{Handle: end.Stream}.Call(browser)
		if err != nil {
			return nil, err
		}
		text.WriteString(piece.Data)

		if piece.EOF {
			break
		}
	}

	var trace struct {
		Events []TraceEvent `json:"traceEvents"`
	}
	if err := json.Unmarshal([]byte(text.String()), &trace); err != nil {
		return nil, fmt.Errorf("the browser's trace: %w", err)
	}

	return trace.Events, nil
}

// CPU returns the CPU time that the browser's running processes have used.
func (r *Raw) CPU() time.Duration {
	const ticks = 100 // to the second, on every Linux that Go runs on
	var sum time.Duration

	entries, _ := os.ReadDir("/proc") // a partial list is better than none
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue // not a process
		}

		if group, err := syscall.Getpgid(pid); err != nil || group != r.inst.proc.PID {
			continue
		}

		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // the process has ended
		}
		// The third field follows the name in brackets.
		f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		for _, field := range f[11:13] { // utime, stime
			n, _ := strconv.ParseInt(field, 10, 64)
			sum += time.Duration(n) * time.Second / ticks
		}
	}

	return sum
}
