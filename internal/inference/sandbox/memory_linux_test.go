//go:build amd64 || arm64

package sandbox_test

import (
	"strings"
	"testing"

	"presswork/internal/test/hostmemory"
	"presswork/internal/test/wait"
)

// TestMemoryOutsideProcessesIsLimited runs code that takes 1.5 GB and more while its resident set stays small. It is not
// parallel, because it measures the whole machine.
func TestMemoryOutsideProcessesIsLimited(t *testing.T) {
	const unmapped = `import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
size = 100 << 20
for i in range(15):
    p = libc.mmap(None, size, 3, FLAGS, FD, 0)
    if p == ctypes.c_void_p(-1).value: raise OSError(ctypes.get_errno(), 'mmap')
    ctypes.memset(p, 1, size)
    libc.munmap(ctypes.c_void_p(p + 4096), ctypes.c_size_t(size - 4096))
`

	box := openBox(t)
	for _, test := range []struct{ name, code, want string }{
		{"buffers of sockets", `import socket
pairs = []
while len(pairs) < 110:
    try: pair = socket.socketpair()
    except OSError: break
    pairs.append(pair)
    for s in pair:
        s.setblocking(False)
        try: s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 26)
        except OSError: pass
        try:
            while True: s.send(bytes(1 << 16))
        except BlockingIOError: pass
`, ""},
		{"sockets of many processes", `import os, socket, time
r, w = os.pipe()
for i in range(50):
    if os.fork() == 0:
        pairs = []
        while True:
            try: pair = socket.socketpair()
            except OSError: break
            pairs.append(pair)
            for s in pair:
                s.setblocking(False)
                try:
                    while True: s.send(bytes(1 << 16))
                except BlockingIOError: pass
        os.write(w, b'1')
        time.sleep(1000)
for i in range(50): os.read(r, 1)
`, "more memory than 512 MiB"},
		{"unmapped shared memory", strings.NewReplacer("FLAGS", "0x21", "FD", "-1").Replace(unmapped), ""},
		{"shared memory of /dev/zero", strings.NewReplacer("FLAGS", "0x01", "FD", "os.open('/dev/zero', os.O_RDWR)").Replace(unmapped), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSession(t, newPool(t, box, longTimeout))
			run(t, s, "1")
			before := hostmemory.MiB(t)

			got := run(t, s, test.code)
			// The kernel reclaims the memory of a killed interpreter a little later.
			wait.Until(t, "the machine has at most 600 MiB less than before", func() bool {
				return hostmemory.MiB(t)-before <= 600
			})

			if !strings.Contains(got.Output, test.want) {
				t.Errorf("output is %.300s, want %q", got.Output, test.want)
			}
		})
	}
}
