package sandbox_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"presswork/internal/inference/sandbox"
	"presswork/internal/test/public"
)

// TestAttacksSucceedWithoutTheirLayer removes one layer of the sandbox at a time. The attacks that this layer stops must
// then succeed.
func TestAttacksSucceedWithoutTheirLayer(t *testing.T) {
	t.Parallel()
	openBox(t) // skips the test if this machine has no sandbox

	h := newHost(t)
	for layer, test := range map[string]struct {
		edit    string            // cases of a shell's case statement that edit the arguments of bwrap
		attacks map[string]string // part of the output of each attack
	}{
		"the file system": {
			`--chdir) args+=(--ro-bind /etc /etc --bind ` + filepath.Dir(h.socket) + ` ` + filepath.Dir(h.socket) + ` --chdir);; --remount-ro) shift;;`,
			map[string]string{"users": "root:", "socket of the host": "", "write to the root": "<_io.TextIOWrapper"},
		},
		"the network and the filter": {
			`--unshare-all) args+=(--unshare-all --share-net);; --seccomp) shift;;`,
			map[string]string{"internet": "<socket.socket", "netlink": "<socket.socket"},
		},
		"the network": {
			`--unshare-all) args+=(--unshare-all --share-net);;`,
			map[string]string{"abstract socket of the host": ""},
		},
		"the filter": {`--seccomp) shift;;`, map[string]string{"netlink": "<socket.socket"}},
	} {
		t.Run(layer, func(t *testing.T) {
			t.Parallel()

			box, err := sandbox.Open(t.Context(), sandbox.Options{Bubblewrap: weakened(t, test.edit)})
			if err != nil {
				t.Fatal(err)
			}
			s := newSession(t, newPool(t, box, longTimeout))

			for name, want := range test.attacks {
				for _, a := range attacks {
					if a.name != name {
						continue
					}

					got := run(t, s, a.codeFor(h, ""))
					if a.want != "" && strings.Contains(got.Output, a.want) || !strings.Contains(got.Output, want) {
						t.Errorf("%s: output is\n%s\nwant %q, and not %q", name, got.Output, want, a.want)
					}
				}
			}
		})
	}
}

// weakened returns a program that edits its arguments and then runs bwrap.
func weakened(t *testing.T, edit string) string {
	t.Helper()
	script := fmt.Sprintf(`#!/bin/bash
args=()
while [ $# -gt 0 ]; do
  case $1 in
    --) break;;
    %s
    *) args+=("$1");;
  esac
  shift
done
exec bwrap "${args[@]}" "$@"
`, edit)
	name := filepath.Join(public.Dir(t), "bwrap")
	public.Program(t, name, script)

	return name
}

// TestFilterForbidsSystemCalls makes the system calls directly, with the filter and without it.
func TestFilterForbidsSystemCalls(t *testing.T) {
	t.Parallel()
	code := `import ctypes, errno, platform
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
amd = platform.machine() == 'x86_64'
def call(name, amd64, arm64, *args):
    ctypes.set_errno(0)
    r = libc.syscall(amd64 if amd else arm64, *args)
    print(name, errno.errorcode[ctypes.get_errno()] if r < 0 else 'works')
call('ptrace', 101, 117, 0, 0, 0, 0)
call('process_vm_readv', 310, 270, 1, 0, 0, 0, 0, 0)
call('bpf', 321, 280, 0, 0, 0)
call('perf_event_open', 298, 241, 0, 0, -1, -1, 0)
call('userfaultfd', 323, 282, 1)
call('io_uring_setup', 425, 425, 1, 0)
call('keyctl', 250, 219, 0, -3, 0)
call('add_key', 248, 217, b'user', b'a', b'b', 1, -3)
call('personality', 135, 92, 0xffffffff)
call('unshare', 272, 97, 0)
call('setns', 308, 268, -1, 0)
call('mount', 165, 40, 0, b'/work', 0, 32, 0)
call('umount2', 166, 39, b'/work', 0)
call('open_tree', 428, 428, -100, b'/work', 0)
call('fsopen', 430, 430, b'tmpfs', 0)
call('name_to_handle_at', 303, 264, -100, b'/work', 0, 0, 0)
call('open_by_handle_at', 304, 265, -100, 0, 0)
call('kexec_load', 246, 104, 0, 0, 0, 0)
call('memfd_create', 319, 279, b'a', 0)
call('shmget', 29, 194, 0, 4096, 0o1600)
call('open_tree_attr', 467, 467, -100, b'/work', 0, 0, 0)
call('set_sndbuf', 54, 208, -1, 1, 7, ctypes.create_string_buffer(4), 4)
call('force_sndbuf', 54, 208, -1, 1, 32, ctypes.create_string_buffer(4), 4)
call('terminal_input', 16, 29, 0, 0x5412, b'x')
call('terminal_discipline', 16, 29, 0, 0x5423, b'x')
call('terminal_linux', 16, 29, 0, 0x541c, b'x')
call('shared_anonymous', 9, 222, None, ctypes.c_size_t(4096), ctypes.c_long(3), ctypes.c_long(0x21), ctypes.c_long(-1), None)
call('clone_newuser', 56, 220, 0x10000000 | 17, 0, 0, 0, 0)
call('clone3', 435, 435, 0, 0)
call('socket_inet', 41, 198, 2, 1, 0)
call('socket_datagram', 41, 198, 1, 2, 0)
call('socketpair_unix', 53, 199, 1, 1, 0, ctypes.create_string_buffer(8))
call('socketpair_packets', 53, 199, 1, 5, 0, ctypes.create_string_buffer(8))
`
	// The filter returns EPERM for the other calls.
	special := map[string]string{
		"clone3":             "ENOSYS",
		"socket_inet":        "EAFNOSUPPORT",
		"socketpair_unix":    "works",
		"socket_datagram":    "ESOCKTNOSUPPORT",
		"socketpair_packets": "ESOCKTNOSUPPORT",
	}
	filtered := run(t, newSession(t, newPool(t, openBox(t), longTimeout)), code)

	lines := strings.Split(filtered.Output, "\n")
	if want := strings.Count(code, "\ncall("); len(lines) != want {
		t.Errorf("%d system calls have a result, want %d", len(lines), want)
	}

	for _, line := range lines {
		name, got, _ := strings.Cut(line, " ")

		want := special[name]
		if want == "" {
			want = "EPERM"
		}

		if got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}

	box, err := sandbox.Open(t.Context(), sandbox.Options{Bubblewrap: weakened(t, "--seccomp) shift;;")})
	if err != nil {
		t.Fatal(err)
	}
	unfiltered := run(t, newSession(t, newPool(t, box, longTimeout)), code)
	differ := 0

	for i, line := range strings.Split(unfiltered.Output, "\n") {
		if i < len(lines) && line != lines[i] {
			differ++
		}
	}

	if differ < 20 { // the kernel forbids the others
		t.Errorf("without the filter %d calls have another result, want 20 or more:\n%s", differ, unfiltered.Output)
	}
}

// TestFilterRejectsUnknownSystemCalls evaluates the filter itself, because the kernel of this machine may
// not know the calls either.
func TestFilterRejectsUnknownSystemCalls(t *testing.T) {
	t.Parallel()

	for number, want := range map[uint32]unix.Errno{
		unix.SYS_READ:             0,
		unix.SYS_SETSOCKOPT:       0,
		unix.SYS_IOCTL:            0,
		unix.SYS_RSEQ_SLICE_YIELD: 0, // the last system call that the filter knows
		unix.SYS_PTRACE:           unix.EPERM,
		472:                       unix.ENOSYS,
		500:                       unix.ENOSYS,
		1 << 20:                   unix.ENOSYS,
		0x40000000:                unix.ENOSYS, // the first system call of x32
		0xffffffff:                unix.ENOSYS,
	} {
		t.Run(fmt.Sprint("system call ", number), func(t *testing.T) {
			if got, err := sandbox.FilterResult(number); got != want || err != nil {
				t.Errorf("got %v, %v; want %v", got, err, want)
			}
		})
	}
}
