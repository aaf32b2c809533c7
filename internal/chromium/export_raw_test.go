package chromium

import (
	"context"
	"encoding/json"
)

// RawExport prints a page by bare commands in a new context without a guard. Benchmarks compare PDF with it.
func (e *Exporter) RawExport(ctx context.Context, url string) ([]byte, error) {
	inst, err := e.browser.current(ctx)
	if err != nil {
		return nil, err
	}
	var made struct {
		ContextID string `json:"browserContextId"`
		TargetID  string `json:"targetId"`
		SessionID string `json:"sessionId"`
	}

	var answer []byte
	for _, step := range []struct {
		method string
		params func() any
	}{
		{"Target.createBrowserContext", func() any { return map[string]any{"proxyServer": "direct://", "proxyBypassList": "*"} }},
		{"Target.createTarget", func() any { return map[string]any{"url": blank, "browserContextId": made.ContextID} }},
		{"Target.attachToTarget", func() any { return map[string]any{"targetId": made.TargetID, "flatten": true} }},
		{"Page.navigate", func() any { return map[string]any{"url": url} }},
		{"Runtime.evaluate", func() any {
			return map[string]any{"awaitPromise": true, "expression": "new Promise(r=>document.readyState=='complete'?r():addEventListener('load',()=>r()))"}
		}},
		{"Page.printToPDF", func() any { return map[string]any{"printBackground": true, "generateTaggedPDF": true} }},
	} {
		if answer, err = inst.conn.Call(ctx, made.SessionID, step.method, step.params()); err != nil {
			return nil, err
		}

		if step.method != "Page.printToPDF" {
			if err := json.Unmarshal(answer, &made); err != nil {
				return nil, err
			}
		}
	}

	_, err = inst.conn.Call(ctx, "", "Target.disposeBrowserContext",
		map[string]any{"browserContextId": made.ContextID})
	if err != nil {
		return nil, err
	}

	return decodeData(answer, 1<<30)
}
