// Package sandbox runs programs on untrusted input: Python that a model wrote, and readers of files from callers
// (ffmpeg, pdftotext). A program runs in bubblewrap:
//   - It has its own namespaces for users, processes, network, mounts, IPC and host names.
//   - It has no capabilities and cannot gain any. A seccomp filter applies (seccomp_linux.go).
//   - It can read the programs and libraries of the system, and no other files of the host.
//   - Memory, CPU time, processes, disk, wall time and output are limited.
//   - It ends with the process that started it.
//
// A [Box] runs one program to its end. A [Pool] holds Python interpreters for [Session], whose variables stay from call
// to call. Each sandbox is started in these steps:
//  1. bwrap creates the namespaces and waits at a gate.
//  2. This process sets the limits, moves the sandbox into a control group, and opens the gate.
//  3. A watch ends the sandbox when its processes together exceed a limit.
//
// docs/security.md says which layer stops which attack.
package sandbox
