// Package upstream has what the engines of all wire formats need: requests to a model server, its server-sent events,
// and its errors in the form for callers.
package upstream
