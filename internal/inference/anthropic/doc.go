// Package anthropic speaks to model servers in the form of Anthropic's Messages API.
//
// [Client] is the inference.Engine. It encodes a request as a Messages body, with the history as alternating messages
// and the reasoning effort as a setting for thinking. A decoder turns the events of the stream into deltas. Fields that
// the caller itself sent in the form of the Messages API are passed on unchanged.
package anthropic
