// Package upstream has what the engines of all wire formats need. It sends requests to a model server, reads its
// server-sent events, and translates its errors for callers.
package upstream
