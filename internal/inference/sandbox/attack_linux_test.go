//go:build amd64 || arm64

package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/sandbox"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

// attack is code that tries to leave the sandbox, or to take more than its share.
type attack struct {
	name, code string
	// want is part of the output if the sandbox contains the attack.
	want     string
	endless  bool // the code runs until it is interrupted, so it gets a short time limit
	stubborn bool // the code also ignores the interrupt
}

// attacks are the attacks of TestAttacksAreContained. SOCKET, ABSTRACT and PORT stand for the addresses of servers on
// the host. MARK stands for an argument that no command line may contain afterwards.
var attacks = []attack{
	{name: "password file", code: "open('/etc/shadow').read()", want: "FileNotFoundError"},
	{name: "users", code: "open('/etc/passwd').read()", want: "FileNotFoundError"},
	{name: "environment", code: "open('/proc/1/environ').read().split('\\0')[0]", want: "'PATH="},
	{
		name: "environment of all",
		code: "import glob\nany('" + secret + "' in open(f).read() for f in glob.glob('/proc/[0-9]*/environ'))",
		want: "False",
	},
	{
		name: "processes of the host",
		code: "import os\nsorted(p for p in os.listdir('/proc') if p.isdigit())",
		want: "['1', '2']",
	},
	{name: "kernel log", code: "open('/dev/kmsg').read()", want: "FileNotFoundError"},
	{name: "memory of the machine", code: "open('/proc/kcore', 'rb').read(10)", want: "Error"},
	{name: "sysrq", code: "open('/proc/sysrq-trigger', 'w').write('b')", want: "Error"},
	{name: "settings of the kernel", code: "open('/proc/sys/kernel/core_pattern', 'w')", want: "Error"},
	{
		name: "disks",
		code: "import os\n[d for d in os.listdir('/dev') if d[:2] in ('sd', 'vd', 'lo', 'nv', 'dm')]",
		want: "[]",
	},
	{name: "a new terminal", code: "import os\nos.openpty()", want: "Error"},
	{
		name: "terminals",
		code: "import os\n[n for n in ('ptmx', 'pts', 'tty', 'console') if os.path.lexists('/dev/' + n)]",
		want: "[]",
	},
	{
		name: "make a device",
		code: "import os, stat\nos.mknod('disk', stat.S_IFBLK | 0o600, os.makedev(254, 0))",
		want: "PermissionError",
	},
	{
		name: "internet",
		code: "import socket\nsocket.create_connection(('127.0.0.1', PORT))",
		want: "Address family not supported",
	},
	{
		name: "packets",
		code: "import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
		want: "Address family not supported",
	},
	{
		name: "netlink",
		code: "import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
		want: "Address family not supported",
	},
	{
		name: "socket of the host",
		code: "import socket\nsocket.socket(socket.AF_UNIX).connect('SOCKET')",
		want: "FileNotFoundError",
	},
	{
		name: "abstract socket of the host",
		code: "import socket\nsocket.socket(socket.AF_UNIX).connect('\\0ABSTRACT')",
		want: "ConnectionRefusedError",
	},
	{name: "become root", code: "import os\nos.setuid(0)", want: "Error"},
	{name: "become another user", code: "import os\nos.setuid(1000)", want: "Error"},
	{
		name: "a program with the setuid bit",
		code: "import subprocess\nsubprocess.run(['su', '-c', 'id']).returncode != 0",
		want: "True",
	},
	{name: "root directory", code: "import os\nos.chroot('/work')", want: "PermissionError"},
	{name: "write to the system", code: "open('/usr/lib/python3/x.py', 'w')", want: "Error"},
	{name: "write to the root", code: "open('/x', 'w')", want: "Read-only file system"},
	{name: "nice", code: "import os\nos.nice(-10)", want: "PermissionError"},
	{
		name: "raise the limits",
		code: "import resource\nresource.setrlimit(resource.RLIMIT_NPROC, (9999, 9999))",
		want: "Error",
	},

	{name: "fork bomb", code: "import os\nwhile True: os.fork()", want: "BlockingIOError"},
	{
		name:     "stubborn fork bomb",
		code:     "import os, signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:\n    try: os.fork()\n    except OSError: pass",
		want:     "did not end when it was interrupted",
		stubborn: true,
	},
	{
		name: "thread bomb",
		code: "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
		want: "can't start new thread",
	},
	{name: "ten gigabytes", code: "'x' * (10 << 30)", want: "MemoryError"},
	{
		name: "memory of many",
		code: "import os, time\nfor i in range(8): os.fork() or (bytearray(os.urandom(1)) * (200 << 20), time.sleep(1000))\ntime.sleep(1000)",
		want: "more memory than",
	},
	{
		name: "memory in sockets of many",
		code: "import os, socket, time\nfor i in range(45):\n    if os.fork() == 0: break\n" +
			"kept = []\nwhile len(kept) < 50:\n    kept.append(socket.socketpair())\n    for s in kept[-1]:\n        s.setblocking(False)\n        try:\n            while True: s.send(bytes(1 << 16))\n        except BlockingIOError: pass\ntime.sleep(1000)",
		want: "more memory than",
	},
	{
		name: "a million locks",
		code: "import fcntl, struct\nf = open('locked', 'w')\nfor at in range(1 << 40, 0, -2): fcntl.fcntl(f, fcntl.F_SETLK, struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, at, 1, 0))",
		want: "more locks than",
	},
	{
		name: "full disk",
		code: "f = open('big', 'wb')\nwhile True: f.write(bytes(1 << 20))",
		want: "No space left on device",
	},
	{
		name: "full temporary folder",
		code: "f = open('/tmp/big', 'wb')\nwhile True: f.write(bytes(1 << 20))",
		want: "No space left on device",
	},
	{
		name: "full shared memory",
		code: "f = open('/dev/shm/big', 'wb')\nwhile True: f.write(bytes(1 << 20))",
		want: "No space left on device",
	},
	{
		name: "a million files",
		code: "i = 0\nwhile True:\n    open(f'/tmp/{i}', 'w').close()\n    i += 1",
		want: "more files than",
	},
	{name: "endless output", code: "while True: print('spam ' * 100)", want: "it wrote more than"},
	{
		name: "endless output past Python",
		code: "import subprocess\nsubprocess.run(['yes'])",
		want: "it wrote more than",
	},
	{name: "endless loop", code: "while True: pass", want: "KeyboardInterrupt", endless: true},
	{name: "endless sum", code: "sum(range(10 ** 15))", want: "did not end when it was interrupted", stubborn: true},
	{
		name:     "sleep through signals",
		code:     "import signal, time\nfor s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nwhile True: time.sleep(1000)",
		want:     "did not end when it was interrupted",
		stubborn: true,
	},
	{
		name:     "catch everything",
		code:     "import time\nwhile True:\n    try: time.sleep(1000)\n    except BaseException: pass",
		want:     "did not end when it was interrupted",
		stubborn: true,
	},
	{name: "leave a process", code: "import subprocess\nsubprocess.Popen(['sleep', 'MARK'])\n1", want: "1"},
	{
		name: "leave a daemon",
		code: "import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: os.execlp('sleep', 'sleep', 'MARK')\n    os._exit(0)\n1",
		want: "1",
	},

	{name: "kill all", code: "import os\nos.kill(-1, 9)", want: "ProcessLookupError"},
	{name: "kill the first", code: "import os\nos.kill(1, 9)\n1", want: "1"},
	{name: "kill oneself", code: "import os\nos.kill(os.getpid(), 9)", want: "signal 9"},
	{name: "crash", code: "import ctypes\nctypes.string_at(0)", want: "signal 11"},
	{name: "deep recursion", code: "def f(): f()\nf()", want: "RecursionError"},
	{name: "leave at once", code: "import os\nos._exit(0)", want: "exit status 0"},
	{name: "close all files", code: "import os\nos.closerange(0, 256)", want: "The interpreter ended"},
	{name: "close stdout", code: "import sys\nsys.stdout.close()\nsys.stderr.close()", want: ""},
	{name: "write to stdin", code: "import os\nos.write(0, b'x')", want: "Bad file descriptor"},
	{
		name: "a frame that is too long",
		code: frames + "forge(b'\\xff\\xff\\xff\\xff' + b'x' * 100)",
		want: "no readable answer",
	},
	{name: "a frame that is not JSON", code: frames + "forge(b'\\0\\0\\0\\3abc')", want: "no readable answer"},
	{name: "a frame of another kind", code: frames + "forge(frame([1, 2]))", want: "no readable answer"},
	{name: "half a frame", code: frames + "forge(b'\\0\\0\\0\\xffabc')\nos._exit(0)", want: "exit status 0"},
	{
		name: "answers to other cells",
		code: frames + "for i in range(1000): forge(frame({'cell': 99, 'text': 'x'}))",
		want: "no readable answer",
	},
	{
		name: "an answer of its own",
		code: frames + "forge(frame({'cell': 1, 'text': 'mine', 'left_out': -5, 'pictures': ['a', 'AAAA']}))\nos._exit(0)",
		want: "mine\n[Pictures left out: 2",
	},
	{name: "a picture of a million lines", code: frames + "import base64, zlib\n" +
		"def chunk(kind, data): return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))\n" +
		"png = b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 100000, 100000, 8, 0, 0, 0, 0)) + chunk(b'IDAT', zlib.compress(bytes(10000000))) + chunk(b'IEND', b'')\n" +
		"forge(frame({'cell': 1, 'pictures': [base64.b64encode(png).decode()]}))\nos._exit(0)", want: "Pictures left out: 1"},
	{
		name: "a file that is not a picture",
		code: "open('a.png', 'w').write('text')\nNone",
		want: "Pictures left out: 1",
	},
	{name: "a large picture", code: "open('a.png', 'wb').write(bytes(5 << 20))\nNone", want: "Pictures left out: 1"},
	{
		name: "a picture elsewhere",
		code: "import os\nos.symlink('/etc/passwd', 'a.png')\nos.symlink('/proc/1/environ', 'b.png')\nos.mkfifo('c.png')",
		want: "",
	},
	{
		name: "no builtins",
		code: "import builtins\nfor n in ('repr', 'len', 'open', 'isinstance', 'list', 'max', 'print'): delattr(builtins, n)",
		want: "",
	},
	{
		name: "other builtins",
		code: "import builtins, json, os\nbuiltins.repr = builtins.len = builtins.compile = lambda *a, **k: 1 / 0\njson.dumps = os.getpid = None",
		want: "",
	},
	{name: "no modules", code: "import sys\nsys.modules.clear()\ndel sys.stdout", want: ""},
	{name: "failures that fail", code: "class E(Exception):\n    def __str__(self): raise self\nraise E", want: "E"},
	{
		name: "a value that fails",
		code: "class V:\n    def __repr__(self): raise ValueError('no')\nV()",
		want: "ValueError: no",
	},
	{
		name: "a value that lies",
		code: "class S(str):\n    def encode(self, *a): return 5\nclass V:\n    def __repr__(self): return S('x')\nV()",
		want: "",
	},
}

// frames is a prelude: frame encodes a message of the interpreter, and forge writes it to all descriptors except
// stdin, stdout and stderr.
const frames = `import os, json, struct
def frame(v):
    b = json.dumps(v).encode()
    return struct.pack('>I', len(b)) + b
def forge(data):
    for fd in range(3, 64):
        try: os.write(fd, data)
        except OSError: pass
`

// host holds servers on this machine that code must not reach.
type host struct {
	socket, abstract string
	port             int
}

// newHost starts servers on this machine that sandboxed code must not reach.
func newHost(t *testing.T) host {
	t.Helper()
	dir := public.Dir(t)

	h := host{socket: filepath.Join(dir, "socket"), abstract: filepath.Base(dir)}
	for _, address := range [][2]string{{"unix", h.socket}, {"unix", "@" + h.abstract}, {"tcp", "127.0.0.1:0"}} {
		l, err := net.Listen(address[0], address[1])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })

		if a, ok := l.Addr().(*net.TCPAddr); ok {
			h.port = a.Port
		}
	}

	if err := os.Chmod(h.socket, 0o777); err != nil {
		t.Fatal(err)
	}

	return h
}

// codeFor returns the code of the attack with the addresses of h and with mark.
func (a attack) codeFor(h host, mark string) string {
	return strings.NewReplacer("SOCKET", h.socket, "ABSTRACT", h.abstract, "PORT", fmt.Sprint(h.port), "MARK", mark).
		Replace(a.code)
}

func TestAttacksAreContained(t *testing.T) {
	t.Parallel()
	box := openBox(t)
	h := newHost(t)

	pool := newPool(t, box, longTimeout)
	for i, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()

			p := pool
			if a.endless || a.stubborn {
				p = newPool(t, box, longTimeout)
			}
			mark := fmt.Sprintf("%d.%d", 1000+i, os.Getpid())
			// A session with a file has its own interpreter, so the file name identifies it.
			s := newSession(t, p, sandbox.File{Name: "mark-" + mark})
			var got inference.ToolResult

			switch {
			case a.stubborn:
				got = runStubborn(t, p, s, a.codeFor(h, mark))
			case a.endless:
				p.SetTimes(shortTimeout, longTimeout)
				got = run(t, s, a.codeFor(h, mark))
				p.SetTimes(longTimeout, longTimeout)
			default:
				got = run(t, s, a.codeFor(h, mark))
			}

			if !strings.Contains(got.Output, a.want) {
				t.Errorf("output is\n%.2000s\nwant %q", got.Output, a.want)
			}
			// A killed process ends when the kernel next schedules it.
			wait.Until(t, "the processes of the call have ended",
				func() bool { return commandLineWith(t, "sleep\x00"+mark) == "" })
			// An attack may damage the interpreter so that the first call after it fails.
			got = run(t, s, "40 + 2")
			if !strings.HasSuffix(got.Output, "42") {
				got = run(t, s, "40 + 2")
			}

			if !strings.HasSuffix(got.Output, "42") {
				t.Errorf("the next call's output is\n%s\nwant 42", got.Output)
			}

			if err := s.Close(); err != nil {
				t.Error(err)
			}

			if left := commandLineWith(t, mark); left != "" {
				t.Errorf("after the session runs %s, want no process of it", left)
			}
		})
	}
}

// commandLineWith returns the command line of a process that contains mark, or "".
func commandLineWith(t *testing.T, mark string) string {
	t.Helper()

	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}

	for _, line := range lines {
		if b, err := os.ReadFile(line); err == nil && strings.Contains(string(b), mark) {
			return strings.ReplaceAll(string(b), "\x00", " ")
		}
	}

	return ""
}
