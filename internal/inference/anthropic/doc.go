// Package anthropic speaks to model servers in the form of Anthropic's Messages API.
package anthropic
