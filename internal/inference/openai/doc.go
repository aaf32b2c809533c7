// Package openai speaks the wire format of OpenAI to model servers. [New] opens an inference.Engine on any server
// with this format; the differences of engines are in the table of engines.go.
//
// Package wire has the format as callers of Presswork see it.
package openai
