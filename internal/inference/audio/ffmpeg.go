package audio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"presswork/internal/fault"
	"presswork/internal/inference/sandbox"
)

// Box runs a program in a sandbox: *sandbox.Box.
type Box interface {
	Run(ctx context.Context, c sandbox.Command) (sandbox.Output, error)
}

const (
	// convertTime bounds one conversion; an hour of MP3 takes ten seconds of one CPU.
	convertTime = 10 * time.Minute
	// convertMemory is more memory than any audio decoder needs, in bytes.
	convertMemory = 512 << 20
)

// FFmpeg returns a Convert that runs the ffmpeg of this machine in a sandbox, without a network and without the
// machine's files.
func FFmpeg(box Box) Convert {
	return func(
		ctx context.Context, source io.ReaderAt, size int64, demuxer string, limit time.Duration, w io.Writer,
	) error {
		c := command(demuxer, limit)
		c.StdinFile, c.Stdout = io.NewSectionReader(source, 0, size), w

		out, err := box.Run(ctx, c)
		if exceeded, ok := errors.AsType[*sandbox.LimitError](err); ok {
			return fault.Errorf(fault.ContentTooComplex,
				"the recording cannot be converted within the limits: more %s than %s", exceeded.Limit,
				exceeded.Allowed).
				WithParam("file").WithCause(err)
		}

		if err != nil {
			return err
		}

		if out.ExitCode != 0 {
			return fault.Errorf(fault.InvalidOption,
				"the recording cannot be decoded: it is damaged, or its codec is not supported").WithParam("file").
				WithCause(fmt.Errorf("ffmpeg: exit status %d: %s", out.ExitCode, strings.TrimSpace(string(out.Stderr))))
		}

		return nil
	}
}

// HasFFmpeg returns an error if ffmpeg cannot run in the box: it is not installed, it fails, or the sandbox does not
// start.
func HasFFmpeg(ctx context.Context, box Box) error {
	out, err := box.Run(ctx, sandbox.Command{Program: "ffmpeg", Args: []string{"-version"}})
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("ffmpeg is not installed")
	case err != nil:
		return err
	case out.ExitCode != 0:
		return fmt.Errorf("ffmpeg -version: exit status %d", out.ExitCode)
	}

	return nil
}

// command returns the command that decodes the first track of a recording. It names the demuxer and allows only the
// file protocol, so that ffmpeg never reads a recording as a list of other files. The sandbox has no other files.
func command(demuxer string, limit time.Duration) sandbox.Command {
	return sandbox.Command{
		Program: "ffmpeg",
		Args: []string{
			"-nostdin", "-hide_banner", "-v", "error",
			"-protocol_whitelist", "file", "-f", demuxer, "-i", sandbox.StdinPath,
			// Only the first audio track: no video, subtitles, data or metadata.
			"-map", "0:a:0", "-vn", "-sn", "-dn", "-map_metadata", "-1",
			"-ac", "1", "-ar", strconv.Itoa(speechRate),
			"-t", strconv.FormatFloat(limit.Seconds(), 'f', 3, 64),
			"-f", "s16le", "pipe:1",
		},
		Limits: sandbox.Limits{
			Memory: convertMemory, CPU: convertTime, Wall: convertTime,
			Output: int64(limit.Seconds()+1) * speechBytes,
		},
	}
}
