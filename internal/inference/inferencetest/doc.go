// Package inferencetest is a scripted model server: it speaks the wire dialect
// of upstreams, and what it answers is chosen by the model's name. It is slow,
// broken or malformed on demand. Tests of any package may start one; the
// program in fakemodel is the same server for a demonstration.
//
// A model name may carry a path before the scenario, such as "acme/hello". The
// scenarios are listed by Scenarios.
package inferencetest
