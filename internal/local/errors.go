package local

import (
	"errors"
	"os"
	"syscall"

	"presswork/internal/fault"
)

// Message returns the text of an error for the user: the message of a fault.Error, or the text of another error.
// It includes why a browser does not start, because the browser is the user's own.
func Message(err error) string {
	e, ok := errors.AsType[*fault.Error](err)
	switch {
	case !ok:
		return err.Error()
	case e.Code == fault.BrowserUnavailable && e.Cause != nil:
		return e.Message + ": " + e.Cause.Error()
	}

	return e.Message
}

// strictError returns the error for warnings under --strict, with their number. The caller lists them.
func strictError(err error, warnings []fault.Warning) error {
	if fault.AsError(err).Code != fault.StrictFindings {
		return err
	}

	many := "s"
	if len(warnings) == 1 {
		many = ""
	}

	return fault.Errorf(fault.StrictFindings, "strict: %d warning%s", len(warnings), many).WithCause(err)
}

// withFile adds to an error the file that it is about, if there are several.
func withFile(path string, err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}

	if path == Std {
		path = "standard input"
	}

	return fault.Errorf(e.Code, "%s: %s", path, e.Message).WithCause(e.Cause)
}

// unreadable returns the public error for a file that cannot be read.
func unreadable(err error) error {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fault.Errorf(fault.NotFound, "there is no such file").WithCause(err)
	case errors.Is(err, os.ErrPermission):
		return fault.Errorf(fault.Forbidden, "permission denied").WithCause(err)
	}

	return fault.Errorf(fault.InvalidRequest, "it cannot be read: %s", reason(err)).WithCause(err)
}

// unwritable returns the public error for a file that cannot be written, or nil.
func unwritable(path string, err error) error {
	if err == nil {
		return nil
	}

	code := fault.StoreUnavailable
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		code = fault.StoreFull
	}

	return fault.Errorf(code, "cannot write %s: %s", path, reason(err)).WithCause(err)
}

// reason returns the system's text of an error, without the path.
func reason(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}

	return err.Error()
}
