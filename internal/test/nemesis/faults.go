package nemesis

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"presswork/internal/test/redistest"
)

// injection is a kind of fault.
type injection struct {
	name string
	// targets lists the possible targets. Two faults never have the same target at a time.
	targets []string
	// longest is the longest duration; 0 for a fault that ends at once.
	longest time.Duration
	inject  func(f *fleet, target string)
	// heal ends the fault; nil for a fault that ends at once.
	heal func(f *fleet, target string)
}

// killStoringWorkers is the name of the fault of killWorkersThatStore.
const killStoringWorkers = "kill storing workers"

var (
	allNodes   = []string{"api1", "api2", "worker1", "worker2", "worker3"}
	allWorkers = allNodes[apis:]
)

// faults lists the faults that this fleet supports.
func (f *fleet) faults(smallDisk bool) []injection {
	list := []injection{
		// A node may be killed as any node or as a worker, so workers are killed more often.
		{"kill", allNodes, 2 * time.Second, func(f *fleet, at string) { f.node(at).kill() }, (*fleet).startKilled},
		{
			"kill a worker",
			allWorkers,
			2 * time.Second,
			func(f *fleet, at string) { f.node(at).kill() },
			(*fleet).startKilled,
		},
		// The lease of a paused node ends.
		{"pause", allNodes, 16 * time.Second, (*fleet).pause, (*fleet).resume},
		{"restart", allNodes, 0, (*fleet).restart, nil},
		{"kill the browsers", allWorkers, 0, (*fleet).killBrowsers, nil},
		{
			"fill redis",
			[]string{"redis"},
			4 * time.Second,
			(*fleet).fillRedis,
			func(f *fleet, _ string) { f.commandRedis("config", "set", "maxmemory", "0") },
		},
		{"forget scripts", []string{"redis"}, 0, func(f *fleet, _ string) { f.commandRedis("script", "flush") }, nil},
		{"cut connections", []string{"redis"}, 0, (*fleet).cutConnections, nil},
		{
			"kill the store",
			[]string{"store"},
			5 * time.Second,
			func(f *fleet, _ string) { f.store.Kill() },
			func(f *fleet, _ string) { f.store.Restart() },
		},
		{
			"pause the store",
			[]string{"store"},
			6 * time.Second,
			func(f *fleet, _ string) { f.store.Signal(syscall.SIGSTOP) },
			func(f *fleet, _ string) { f.store.Signal(syscall.SIGCONT) },
		},
		{killStoringWorkers, []string{"store"}, time.Second, (*fleet).killWorkersThatStore, (*fleet).resumeStore},
	}
	list = append(list, f.onWires("part", silent, 16*time.Second), f.onWires("lose answers", oneWay, 16*time.Second),
		f.onWires("slow down", slow, 16*time.Second), f.onWires("break answers", broken, time.Second))

	list = append(list, f.redis.faults...)
	if smallDisk {
		list = append(
			list,
			injection{
				"fill the disk",
				[]string{"redis", "store"},
				4 * time.Second,
				(*fleet).fillDisk,
				(*fleet).emptyDisk,
			},
		)
	}

	if f.clock != "" {
		list = append(
			list,
			injection{
				"set clocks",
				[]string{"clock"},
				20 * time.Second,
				(*fleet).stepClock,
				func(f *fleet, _ string) { f.setClock(0) },
			},
		)
	}

	return list
}

// onWires returns a fault of the network between a node and a server. The targets are all wires.
func (f *fleet) onWires(name string, s state, longest time.Duration) injection {
	return injection{
		name, slices.Sorted(maps.Keys(f.wires)), longest,
		func(f *fleet, at string) { f.wires[at].set(s) }, func(f *fleet, at string) { f.wires[at].set(whole) },
	}
}

// killAndPauseRedis returns the faults of a single primary. In a Cluster a replica replaces a primary that pauses for
// long. The last writes of the old primary are then lost, which Presswork does not promise to survive.
func killAndPauseRedis() []injection {
	primary := func(f *fleet) *redistest.Server { return f.redis.primaries()[0] }

	return []injection{
		{
			"kill redis",
			[]string{"redis"},
			3 * time.Second,
			func(f *fleet, _ string) { primary(f).Kill() },
			func(f *fleet, _ string) { primary(f).Restart() },
		},
		{
			"pause redis",
			[]string{"redis"},
			4 * time.Second,
			func(f *fleet, _ string) { primary(f).Signal(syscall.SIGSTOP) },
			func(f *fleet, _ string) { primary(f).Signal(syscall.SIGCONT) },
		},
	}
}

// node returns the node with a name.
func (f *fleet) node(name string) *node {
	for _, n := range f.nodes {
		if n.name == name {
			return n
		}
	}

	return nil
}

// startKilled starts a node that has ended, with a random version of the program.
func (f *fleet) startKilled(name string) {
	n := f.node(name)
	if !n.ended() {
		return
	}
	version := f.rng.IntN(len(f.programs))
	n.start(f.programOf(n, version), version > 0)
}

// pause stops a node without ending it.
func (f *fleet) pause(name string) {
	n := f.node(name)
	n.paused = true
	n.signal(syscall.SIGSTOP)
}

// resume continues a paused node.
func (f *fleet) resume(name string) {
	n := f.node(name)
	n.paused = false
	n.signal(syscall.SIGCONT)
}

// restart stops a node and starts it, perhaps with another version, as in an upgrade or a downgrade.
func (f *fleet) restart(name string) {
	f.node(name).stop()
	f.startKilled(name)
}

// killBrowsers kills the browsers of a node.
func (f *fleet) killBrowsers(name string) {
	n := f.node(name)
	if n.ended() {
		return
	}

	for _, pid := range children(n.cmd.Process.Pid, "--headless") {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// killWorkersThatStore stops the store until workers wait for it with their artifacts, and then kills the workers. The
// store receives the artifacts when it continues.
func (f *fleet) killWorkersThatStore(string) {
	f.store.Signal(syscall.SIGSTOP)
	time.Sleep(time.Second) // workers print documents and wait for the store

	for _, n := range f.nodes[apis:] {
		if !n.ended() && !n.paused {
			n.kill()
			f.victims = append(f.victims, n.name)
		}
	}
}

// resumeStore continues the store, and starts the workers that killWorkersThatStore has killed.
func (f *fleet) resumeStore(string) {
	f.store.Signal(syscall.SIGCONT)

	for _, name := range f.victims {
		f.startKilled(name)
	}
	f.victims = nil
}

// commandRedis sends a command to each server of Redis. It ignores errors.
func (f *fleet) commandRedis(args ...any) {
	ctx, cancel := context.WithTimeout(f.t.Context(), 5*time.Second)
	defer cancel()

	for _, s := range f.redis.all {
		client := s.Client()
		client.Do(ctx, args...)
		client.Close()
	}
}

// fillRedis sets maxmemory to the memory in use, so that a submission does not fit.
func (f *fleet) fillRedis(string) {
	for _, s := range f.redis.primaries() {
		client := s.Client()
		for line := range strings.Lines(client.Info(f.t.Context(), "memory").Val()) {
			if used, ok := strings.CutPrefix(strings.TrimSpace(line), "used_memory:"); ok {
				client.ConfigSet(f.t.Context(), "maxmemory", used)
			}
		}
		client.Close()
	}
}

// cutConnections closes all connections of clients.
func (f *fleet) cutConnections(string) {
	f.commandRedis("client", "kill", "type", "pubsub")
	f.commandRedis("client", "kill", "type", "normal")
}

// filler is the name of the file that fills the disk.
const filler = "filler"

// fillDisk fills the disk that Redis and the store write to.
func (f *fleet) fillDisk(string) {
	out, err := os.Create(filepath.Join(f.disk, filler))
	if err != nil {
		return // the disk is full already
	}
	defer out.Close()

	block := make([]byte, 1<<20)
	for size := len(block); size >= 4096; {
		if _, err := out.Write(block[:size]); err != nil {
			size /= 2
		}
	}
}

// emptyDisk frees the space. A Redis with appendfsync always exits when it cannot write its file, so emptyDisk restarts
// it as an operator would.
func (f *fleet) emptyDisk(string) {
	os.Remove(filepath.Join(f.disk, filler))

	for _, s := range f.redis.all {
		client := s.Client()

		ctx, cancel := context.WithTimeout(f.t.Context(), 5*time.Second)
		if client.Ping(ctx).Err() != nil {
			s.Kill()
			s.Restart()
		}
		cancel()
		client.Close()
	}
}

// stepClock sets the clocks forward or back by 40 s to an hour.
func (f *fleet) stepClock(string) {
	f.setClock([]int{-3600, -300, -40, 40, 300, 3600}[f.rng.IntN(6)])
}
