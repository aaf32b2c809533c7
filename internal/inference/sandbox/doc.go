// Package sandbox runs programs on untrusted input: Python that a model wrote, and readers of files from callers
// (ffmpeg, pdftotext). A program runs in bubblewrap:
//   - It has its own namespaces for users, processes, network, mounts, IPC and host names.
//   - It has no capabilities and cannot gain any. A seccomp filter applies
//     (seccomp_linux.go).
//   - It can read the programs and libraries of the system, and no other files of the host.
//   - Memory, CPU time, processes, disk, wall time and output are limited.
//   - It ends with the process that started it.
//
// docs/security.md says which layer stops which attack.
package sandbox
