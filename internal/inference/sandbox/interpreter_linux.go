//go:build amd64 || arm64

package sandbox

import (
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

//go:embed harness.py
var harness string

// maxFrame is the largest answer in bytes: four pictures in base64, and texts.
const maxFrame = maxPictures*maxPictureBytes*4/3 + 1<<20

// interpreter is one Python in a sandbox. It is not safe for concurrent use.
type interpreter struct {
	p *process
	// python is the process of the interpreter, for interrupts. It is nil if the kernel does not list child
	// processes.
	python *os.Process
	// This process writes code to commands and reads the results from answers. output has stdout and stderr.
	commands, answers, output *os.File
	lifetime                  *time.Timer // set by endAfter
	// use starts the watch of limits. It must be called before the first code runs.
	use func()
	// fonts means that it has matplotlib's list of fonts.
	fonts bool
}

// startInterpreter starts an interpreter and waits until it is ready.
func (p *Pool) startInterpreter(ctx context.Context, files []File) (_ *interpreter, err error) {
	s, err := p.interpreterOptions(files)
	if err != nil {
		return nil, err
	}
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}

		return r, w
	}
	commandsR, commandsW := pipe()
	answersR, answersW := pipe()
	outputR, outputW := pipe()

	theirs, ours := []*os.File{commandsR, answersW, outputW}, []*os.File{commandsW, answersR, outputR}
	if err != nil {
		closeAll(append(theirs, ours...))
		return nil, err
	}
	used := make(chan struct{})
	s.stdin, s.stdout, s.stderr, s.more, s.used = commandsR, outputW, outputW, []*os.File{answersW}, used

	proc, err := p.opt.Box.start(ctx, s)
	closeAll(theirs)

	if err != nil {
		err = withStderr(err, outputR)
		closeAll(ours)

		return nil, err
	}
	in := &interpreter{
		p: proc, commands: commandsW, answers: answersR, output: outputR, fonts: len(s.scratch) > 0,
		use: sync.OnceFunc(func() { close(used) }),
	}

	if err = in.awaitReady(ctx); err == nil {
		return in, nil
	}
	in.p.kill()
	<-in.p.exited // stderr has an end only now
	err = withStderr(err, outputR)
	in.stop()

	return nil, err
}

// interpreterOptions returns the options of a new interpreter without its pipes.
func (p *Pool) interpreterOptions(files []File) (s startOptions, err error) {
	python, err := findProgram(p.opt.Python)
	if err != nil {
		return s, fmt.Errorf("%s: %w", p.opt.Setting, err)
	}
	s = startOptions{
		program: python, argv: []string{python, "-I", "-B", "-c", harness}, inputs: files,
		env: []string{
			"MPLBACKEND=module://presswork_figures", "MPLCONFIGDIR=" + fontsDir,
			// Threads of linear algebra reserve much memory and would wait for each other.
			"OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1",
		},
	}
	p.mu.Lock()
	if p.fonts != nil {
		s.scratch = []File{{Name: path.Join(fontsDir, p.fonts.Name), Data: p.fonts.Data}}
	}
	p.mu.Unlock()

	s.limits, err = Limits{Memory: p.opt.Memory, CPU: sessionTime, Wall: maxWait}.withDefaults()

	return s, err
}

const (
	// maxWait bounds the life of an interpreter.
	maxWait = 24 * time.Hour
	// fontsDir is matplotlib's folder, in a writable place.
	fontsDir = "/tmp/matplotlib"
)

// awaitReady waits until the harness is ready for code.
func (in *interpreter) awaitReady(ctx context.Context) error {
	defer context.AfterFunc(ctx, in.p.kill)()

	if _, err := in.readAnswer(0); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}

		return fmt.Errorf("sandbox: the interpreter did not start: %w", err)
	}

	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", in.p.pid, in.p.pid))
	if err != nil {
		return nil // the kernel keeps no such list
	}

	if pid, err := strconv.Atoi(strings.TrimSpace(string(children))); err == nil {
		if in.python, err = os.FindProcess(pid); err != nil {
			return err
		}
	}

	return nil
}

// run runs one cell. The error is that of ctx.
func (in *interpreter) run(ctx context.Context, cell int, code string, timeout, grace time.Duration) (answer, error) {
	defer context.AfterFunc(ctx, in.p.kill)()

	timer := time.NewTimer(timeout)
	defer timer.Stop()

	output := limitedBuffer{limit: maxOutput, full: make(chan struct{})}
	var copied sync.WaitGroup
	copied.Go(func() { output.readAll(in.output) })
	type reading struct {
		a   answer
		err error
	}
	read := make(chan reading, 1)

	go func() {
		err := in.sendCode(cell, code, timeout)

		var a answer
		if err == nil {
			a, err = in.readAnswer(cell)
		}
		read <- reading{a, err}
	}()

	var interrupted string
	var killed <-chan time.Time
	full := output.full
	interrupt := func(why string) {
		interrupted, full = why, nil
		timer.Stop()

		if in.python == nil {
			in.p.kill()
			return
		}
		in.python.Signal(syscall.SIGINT)
		t := time.NewTimer(grace)
		killed = t.C
	}
	var r reading

	// Interrupted code may still answer. It is killed if it has not answered after grace.
	for done := false; !done; {
		select {
		case r = <-read:
			done = true
		case <-timer.C:
			interrupt(fmt.Sprintf("it ran for %s", timeout))
		case <-full:
			interrupt("it wrote more than " + size(maxOutput))
		case <-killed:
			in.p.kill()
			killed = nil
		}
	}

	if r.err != nil {
		in.awaitEnd(r.err, grace)
	} else {
		_ = in.output.SetReadDeadline(time.Unix(1, 0)) // ends readAll; readAvailable reads the rest
	}
	copied.Wait()
	_ = in.output.SetReadDeadline(time.Time{})

	if ctx.Err() != nil {
		return answer{}, context.Cause(ctx)
	}
	output.readAvailable(in.output)

	r.a.output, r.a.interrupted = output.bytes(), interrupted
	if r.err != nil {
		r.a.ended, r.a.endReason = true, in.endReason(r.err, interrupted != "")
	}

	return r.a, nil
}

// awaitEnd returns when the interpreter, which failed with err, has ended. It waits for grace, so that the exit
// status of an interpreter that ends by itself is known.
func (in *interpreter) awaitEnd(err error, grace time.Duration) {
	if !errors.Is(err, errFrame) {
		select {
		case <-in.p.exited:
		case <-time.After(grace):
		}
	}
	in.p.kill()
	<-in.p.exited
}

// endReason returns, for the model, the reason why the interpreter has ended.
func (in *interpreter) endReason(err error, interrupted bool) string {
	switch over := in.p.exceededLimit(); {
	case over != nil:
		return "it had more " + over.Limit + " than " + over.Allowed
	case interrupted:
		return "the code did not end when it was interrupted"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.EPIPE):
		if in.p.code > 128 {
			return fmt.Sprintf("signal %d", in.p.code-128)
		}

		return fmt.Sprintf("exit status %d", in.p.code)
	default:
		return "it sent no readable answer"
	}
}

// sendCode writes a command.
func (in *interpreter) sendCode(cell int, code string, timeout time.Duration) error {
	body, err := json.Marshal(struct {
		Cell int    `json:"cell"`
		Code string `json:"code"`
	}{cell, code})
	if err != nil {
		return err
	}
	in.use()
	_ = in.commands.SetWriteDeadline(time.Now().Add(timeout))
	_, err = in.commands.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))

	return err
}

// errFrame is returned for an answer that the harness cannot have sent. The code has written to its pipe.
var errFrame = errors.New("no frame")

// readAnswer reads the answer to a cell. It skips answers to other cells, which earlier code may have forged.
func (in *interpreter) readAnswer(cell int) (answer, error) {
	// Code could write answers to other cells without end.
	for range 100 {
		var head [4]byte
		if _, err := io.ReadFull(in.answers, head[:]); err != nil {
			return answer{}, err
		}

		n := binary.BigEndian.Uint32(head[:])
		if n > maxFrame {
			return answer{}, errFrame
		}

		body, err := io.ReadAll(io.LimitReader(in.answers, int64(n)))
		if err != nil {
			return answer{}, err
		}

		if len(body) < int(n) {
			return answer{}, io.ErrUnexpectedEOF
		}

		got := struct {
			Cell *int `json:"cell"`
			answer
		}{}
		if err := json.Unmarshal(body, &got); err != nil || got.Cell == nil {
			return answer{}, errFrame
		}

		if *got.Cell == cell {
			return got.answer, nil
		}
	}

	return answer{}, errFrame
}

// ended returns a channel that is closed when the interpreter has ended.
func (in *interpreter) ended() <-chan struct{} { return in.p.exited }

// endAfter ends the interpreter after d.
func (in *interpreter) endAfter(d time.Duration) {
	in.lifetime = time.AfterFunc(d, func() { in.p.killForLimit("time", d.String()) })
}

// restoreLimits restores the limits of the interpreter for a cell.
func (in *interpreter) restoreLimits() { in.p.restoreLimits() }

// limitIdle limits the interpreter to its current memory, which it returns in bytes.
func (in *interpreter) limitIdle() int64 { return in.p.limitIdle() }

// stop ends the interpreter and all that it started.
func (in *interpreter) stop() {
	if in.lifetime != nil {
		in.lifetime.Stop()
	}
	in.p.stop()

	if in.python != nil {
		_ = in.python.Release()
	}
	closeAll([]*os.File{in.commands, in.answers, in.output})
}

// listFonts lets matplotlib build its list of fonts once for all interpreters, which takes seconds. It runs at the
// lowest priority, because many servers never draw a figure. On a busy machine it may take hours.
func (p *Pool) listFonts(ctx context.Context) {
	out, err := p.opt.Box.Run(ctx, Command{
		Program: p.opt.Python,
		Args:    []string{"-I", "-B", "-c", "import os; os.nice(19); import matplotlib.font_manager"},
		Env:     []string{"MPLCONFIGDIR=" + WorkDir},
		Limits:  Limits{Wall: 24 * time.Hour, CPU: 5 * time.Minute},
	})
	if err != nil {
		if ctx.Err() == nil {
			p.opt.Log.Warn("matplotlib cannot list the fonts", "error", err)
		}

		return
	}

	for _, f := range out.Files {
		if strings.HasPrefix(f.Name, "fontlist-") {
			p.mu.Lock()
			p.fonts = &f
			close(p.listed) // so an interpreter without the list ends instead of being taken
			p.mu.Unlock()

			return
		}
	}
}
