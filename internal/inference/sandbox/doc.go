// Package sandbox runs programs that are fed by strangers: Python that a model
// wrote, and readers of files that callers sent (ffmpeg, pdftotext). A program
// runs in bubblewrap: namespaces of its own for users, processes, network, mounts,
// IPC and host names; no capabilities and no way to gain any; a seccomp filter
// (seccomp_linux.go); the system's programs and libraries read-only, and nothing
// else of the host's files; limits on memory, CPU time, processes, disk, wall time
// and output. It ends with the process that started it.
//
// docs/security.md says which wall stops what.
package sandbox
