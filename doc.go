// Package presswork is the dictionary of the Presswork system: the nouns that
// unrelated packages exchange (Job, Event, Artifact, Options, Error) and nothing
// that acts on them. It imports the standard library and packages of plain types only.
//
// A caller hands in a document; the API writes a durable Job and puts a typed task
// on the queue; a worker takes the task and reports each step as an Event; the
// result is an Artifact in an object store.
package presswork
