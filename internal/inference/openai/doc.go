// Package openai speaks the wire format of OpenAI to model servers. [New] opens an inference.Engine on any server
// with this format; the differences of engines are in the table of engines.go.
//
// A [Client] encodes a request, sends it and decodes the chunks of the stream. Most chunks of a stream differ only in
// their text, so a textTemplate decodes them without a JSON parser. Recordings, vectors, images and moderations have a
// file each.
//
// Package wire has the format as callers of Presswork see it.
package openai
