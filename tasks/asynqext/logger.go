package asynqext

import (
	"fmt"
	"log/slog"
)

// Logger logs Asynq's messages. Asynq's notices of start and stop become debug messages, because the server logs its
// own.
type Logger struct{ Log *slog.Logger }

// Debug implements asynq.Logger.
func (l Logger) Debug(args ...any) { l.Log.Debug(fmt.Sprint(args...)) }

// Info implements asynq.Logger.
func (l Logger) Info(args ...any) { l.Log.Debug(fmt.Sprint(args...)) }

// Warn implements asynq.Logger.
func (l Logger) Warn(args ...any) { l.Log.Warn(fmt.Sprint(args...)) }

// Error implements asynq.Logger.
func (l Logger) Error(args ...any) { l.Log.Error(fmt.Sprint(args...)) }

// Fatal implements asynq.Logger. It does not end the process: only main may. Asynq 0.26 never calls it.
func (l Logger) Fatal(args ...any) { l.Log.Error(fmt.Sprint(args...)) }
