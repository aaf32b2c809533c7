package tex

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/dop251/goja"
)

// Temml 0.13.5 and its mhchem extension as published on npm, and the commands that this package adds.
var (
	//go:embed temml/temml.min.js
	temmlJS string
	//go:embed temml/mhchem.min.js
	mhchemJS string
	//go:embed macros.js
	macrosJS string
)

const (
	// maxExpand bounds the macros that one formula expands, maxTokens the tokens of an expansion. Without
	// maxTokens, 20 nested macros that double their argument would fill the memory.
	maxExpand = 2000
	maxTokens = 10_000
	// maxCalls bounds the depth of JavaScript calls. A formula of 8 KiB of nested braces exceeds it and fails.
	maxCalls = 2000
	// maxEm and maxPt bound the sizes in a formula (\rule, \hspace), in em and pt.
	maxEm, maxPt = 50.0, 600.0
)

// Errors of run, whose texts are for the author.
var (
	errTime    = errors.New("the formula takes too long")
	errComplex = errors.New("the formula is too complex")
)

// patches returns the changes to Temml, each a text that must occur once and its replacement. They bound the expansion
// of macros in two places, and allow line breaks in display formulas. As in MathJax, \newcommand may define a name
// again.
func patches() [][2]string {
	bound := func(n string) string {
		return fmt.Sprintf("if(%s>%d)throw new RangeError;", n, maxTokens)
	}

	return [][2]string{
		{"pushTokens(e){", "pushTokens(e){" + bound("this.stack.length+e.length")},
		{"o.splice(t,2,...a[+r.text-1])", bound("o.length+a[+r.text-1].length") + "o.splice(t,2,...a[+r.text-1])"},
		{`n.displayMode||n.annotate?"none":n.wrap`, "n.wrap"},
		{`if(o&&"\\newcommand"===r)`, "if(!1)"},
	}
}

// programs returns the compiled libraries in the order in which they run. All engines share them.
var programs = sync.OnceValues(func() ([]*goja.Program, error) {
	temml := temmlJS
	for _, p := range patches() {
		if strings.Count(temml, p[0]) != 1 {
			return nil, fmt.Errorf("this version of Temml does not contain %q exactly once", p[0])
		}
		temml = strings.Replace(temml, p[0], p[1], 1)
	}

	first, err := goja.Compile("temml", temml, true)
	if err != nil {
		return nil, err
	}

	second, err := goja.Compile("mhchem", mhchemJS, false)
	if err != nil {
		return nil, err
	}
	third, err := goja.Compile("macros", macrosJS, true)

	return []*goja.Program{first, second, third}, err
})

// engine is a JavaScript runtime with Temml. One goroutine uses it at a time. A formula leaves nothing in it: the
// macros that it defines are in its own settings.
type engine struct {
	vm     *goja.Runtime
	render goja.Callable
}

// newEngine returns a JavaScript engine that has loaded Temml.
func newEngine() (*engine, error) {
	libraries, err := programs()
	if err != nil {
		return nil, err
	}
	vm := goja.New()
	vm.SetMaxCallStackSize(maxCalls)

	for _, p := range libraries {
		if _, err := vm.RunProgram(p); err != nil {
			return nil, err
		}
	}

	render, ok := goja.AssertFunction(vm.Get("temml").ToObject(vm).Get("renderToString"))
	if !ok {
		return nil, errors.New("this version of Temml has no function renderToString")
	}

	return &engine{vm: vm, render: render}, nil
}

// run renders a formula in at most maxTime. reusable reports whether the engine may be used again: not after an
// interrupt or an unknown exception. Errors: errTime, errComplex, and the message of Temml for the author.
func (e *engine) run(ctx context.Context, src string, display bool) (mathML string, reusable bool, err error) {
	timer := time.AfterFunc(maxTime, func() { e.vm.Interrupt(errTime) })
	unwatch := context.AfterFunc(ctx, func() { e.vm.Interrupt(errTime) })
	value, err := e.render(goja.Undefined(), e.vm.ToValue(src), e.vm.ToValue(map[string]any{
		"displayMode":  display,
		"throwOnError": true,
		"maxExpand":    maxExpand,
		"maxSize":      e.vm.ToValue([]any{maxEm, maxPt}),
		"wrap":         "tex",
	}))
	timely := timer.Stop()
	timely = unwatch() && timely // an interrupt that comes late would stop the next formula of this engine

	switch {
	case err == nil:
		return value.String(), timely, nil
	case !timely:
		return "", false, errTime
	}

	if thrown, ok := errors.AsType[*goja.Exception](err); ok {
		if message, ok := parseError(thrown.Value()); ok {
			return "", true, errors.New(message)
		}
	}

	return "", false, errComplex
}

// parseError returns the message of a ParseError of Temml, at most 160 characters, without the piece of the formula at
// its end. It returns false for other exceptions.
func parseError(thrown goja.Value) (string, bool) {
	text, ok := strings.CutPrefix(thrown.String(), "ParseError:")
	if !ok {
		return "", false
	}
	text, _, _ = strings.Cut(text, " at position ")
	text, _, _ = strings.Cut(text, " at end of input")
	text, _, _ = strings.Cut(text, ": infinite loop or") // authors cannot change this setting

	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 160 {
		text = string(r[:160]) + "…"
	}

	if text == "" {
		return "", false
	}

	return strings.ToLower(text[:1]) + text[1:], true
}
