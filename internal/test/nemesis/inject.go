package nemesis

import (
	"slices"
	"time"

	"presswork/internal/test/wait"
)

// activeFault is a fault that has not been healed.
type activeFault struct {
	injection
	target string
	began  time.Duration
	until  time.Duration // when the fault must be healed
}

// nemesis injects faults until the time is over and each fault has occurred, then heals the fleet. It returns how often
// each fault occurred. Each occurs once before any occurs again. Few are active at a time, so that the fleet makes
// progress.
func (f *fleet) nemesis(h *history, o Options) (counts map[string]int) {
	counts = map[string]int{}

	list := f.faults(o.SmallDisk)
	if len(o.Faults) > 0 {
		list = slices.DeleteFunc(list, func(c injection) bool { return !slices.Contains(o.Faults, c.name) })
	}

	if len(list) == 0 {
		f.t.Fatalf("none of %q is a fault of this fleet", o.Faults)
	}
	var order []int
	var active []activeFault
	heal := func(s activeFault) {
		s.heal(f, s.target)
		h.add(Entry{Op: opFault, Kind: s.name, Target: s.target, Call: s.began, Return: h.now()})
	}

	next := h.now() + time.Second
	for h.now() < o.Duration || len(counts) < len(list) {
		remaining := active[:0]
		for _, s := range active {
			if h.now() >= s.until {
				heal(s)
			} else {
				remaining = append(remaining, s)
			}
		}
		active = remaining
		f.supervise(active)

		if h.now() >= next && len(active) < 3 {
			if len(order) == 0 {
				order = f.rng.Perm(len(list))
			}
			chosen := list[order[0]]
			order = order[1:]

			if target := f.free(chosen, active); target != "" {
				counts[chosen.name]++
				s := activeFault{injection: chosen, target: target, began: h.now()}
				chosen.inject(f, target)

				if chosen.heal == nil {
					h.add(Entry{Op: opFault, Kind: s.name, Target: target, Call: s.began, Return: h.now()})
				} else {
					s.until = s.began + 200*time.Millisecond +
						time.Duration(f.rng.Int64N(int64(min(chosen.longest, o.LongestFault))))
					active = append(active, s)
				}
			} else { // try this fault again after the others
				order = append(order, slices.IndexFunc(list, func(f injection) bool { return f.name == chosen.name }))
			}
			next = h.now() + o.Gap/4 + time.Duration(f.rng.Int64N(int64(o.Gap)))
		}
		time.Sleep(20 * time.Millisecond) // the resolution of the schedule
	}

	for _, s := range active {
		heal(s)
	}

	for _, n := range f.nodes {
		// Finish the upgrade: jobs that newer nodes accepted may need newer workers.
		if n.program != f.programOf(n, 0) {
			n.stop()
			n.start(f.programOf(n, 0), false)
		}
		// A node that started while Redis or the store was away may exit after they return.
		wait.Until(f.t, n.name+" listens; its logs are in "+n.dir, func() bool {
			f.supervise(nil)
			return n.listens()
		})
	}

	return counts
}

// supervise restarts the nodes that have ended by themselves, as systemd or Kubernetes does. A node may end during its
// start, because Redis or the store does not answer. Later it must not.
func (f *fleet) supervise(active []activeFault) {
	for _, n := range f.nodes {
		if !n.ended() || slices.Contains(f.victims, n.name) ||
			slices.ContainsFunc(active, func(s activeFault) bool { return s.target == n.name }) {
			continue
		}

		if n.listens() {
			f.t.Errorf("%s ended by itself; its log is %s", n.name, n.log)
		}
		n.start(f.programOf(n, 0), false)
	}
}

// free returns a target of the fault that no active fault affects, or "" if there is none.
func (f *fleet) free(chosen injection, active []activeFault) string {
	for _, i := range f.rng.Perm(len(chosen.targets)) {
		target, held := chosen.targets[i], false
		for _, s := range active {
			held = held || s.target == target
			// Redis and the store share the disk, so a full disk is a fault of both.
			held = held || s.name == "fill the disk" && (target == "redis" || target == "store")
			held = held || chosen.name == "fill the disk" && (s.target == "redis" || s.target == "store")
		}

		if !held {
			return target
		}
	}

	return ""
}
