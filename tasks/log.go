package tasks

import (
	"fmt"
	"log/slog"
)

// asynqLog is Asynq's logger over ours. Asynq's notices of start and stop are
// ours to write, so they are left out.
type asynqLog struct{ log *slog.Logger }

func (l asynqLog) Debug(args ...any) { l.log.Debug(fmt.Sprint(args...)) }
func (l asynqLog) Info(args ...any)  { l.log.Debug(fmt.Sprint(args...)) }
func (l asynqLog) Warn(args ...any)  { l.log.Warn(fmt.Sprint(args...)) }
func (l asynqLog) Error(args ...any) { l.log.Error(fmt.Sprint(args...)) }

// Fatal does not end the process: only main may. Asynq 0.26 never calls it.
func (l asynqLog) Fatal(args ...any) { l.log.Error(fmt.Sprint(args...)) }
