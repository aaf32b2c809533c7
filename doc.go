// Package presswork defines the types that unrelated packages exchange: Job, Event, Artifact, Options and Error.
// It has no behaviour, and imports only the standard library and packages of plain types.
//
// A caller submits a document. The API writes a durable Job and puts a typed task on the queue. A worker takes the
// task and reports each step as an Event. The result is an Artifact in an object store.
package presswork
