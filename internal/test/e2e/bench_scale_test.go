package e2e_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/tasks"
	"presswork/tasks/record"
)

// A machine of the scale benchmark prints four documents at a time, each in 50 ms. The reference document takes 30 ms.
const (
	machineSlots = 4
	machineDelay = 50 * time.Millisecond
	// machineRedis is an environment variable with the address of Redis. It makes the test binary run as a machine.
	machineRedis = "PRESSWORK_BENCH_REDIS"
)

// runMachine runs a worker that waits instead of rendering. It reports and completes jobs as the real worker does, and
// needs no store. It prints "ready", starts when it reads a line, and stops at the end of its standard input.
func runMachine(address string) error {
	// A task server takes two more jobs than it has slots, so the handler has its own limit.
	slots := make(chan struct{}, machineSlots)

	server, err := tasks.NewServer(address,
		tasks.Options{RenderSlots: machineSlots, Queues: []tasks.Queue{tasks.Render}})
	if err != nil {
		return err
	}
	tasks.Handle(server, tasks.ConvertPDF, func(ctx context.Context, run *tasks.Run, _ tasks.Convert) error {
		run.Step(presswork.StageRendering, 20, "")
		slots <- struct{}{}
		run.Step(presswork.StagePrinting, 50, "")
		time.Sleep(machineDelay) // the renderer
		<-slots
		run.Step(presswork.StageStoring, 90, "")

		return run.Complete(ctx, presswork.Artifact{ID: run.ID, ContentType: "application/pdf", Size: 1}, false)
	})
	fmt.Println("ready")

	in := bufio.NewReader(os.Stdin)
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}

	if err := server.Start(context.Background()); err != nil {
		return err
	}

	if _, err := in.WriteTo(io.Discard); err != nil {
		return err
	}

	return server.Stop(context.Background())
}

// hosts is a list of network namespaces on one bridge. Each has its own address.
type hosts struct {
	address string // of the bridge, where Redis listens. It is loopback if the kernel allows no namespaces.
	names   []string
}

// kind describes the machines in the report.
func (h *hosts) kind() string {
	if len(h.names) == 0 {
		return "processes"
	}

	return "network namespaces"
}

// openHosts creates n namespaces, or none if the kernel does not allow it.
func openHosts(b *testing.B, n int) *hosts {
	b.Helper()
	const bridge, address = "pwbench0", "10.213.0.1"

	ip := func(args ...string) error { return exec.CommandContext(b.Context(), "ip", args...).Run() }
	if ip("link", "add", bridge, "type", "bridge") != nil {
		return &hosts{address: "127.0.0.1"}
	}
	h := &hosts{address: address}
	b.Cleanup(func() {
		for _, name := range h.names {
			_ = exec.Command("ip", "netns", "delete", name).Run()
		}
		_ = exec.Command("ip", "link", "delete", bridge).Run()
	})
	must := func(args ...string) {
		if err := ip(args...); err != nil {
			b.Fatalf("ip %s: %v", strings.Join(args, " "), err)
		}
	}
	must("address", "add", address+"/16", "dev", bridge)
	must("link", "set", bridge, "up")

	for i := range n {
		name := fmt.Sprintf("pwbench%d", i)
		must("netns", "add", name)
		h.names = append(h.names, name)
		must("link", "add", "pwb"+fmt.Sprint(i), "type", "veth", "peer", "name", "eth0", "netns", name)
		must("link", "set", "pwb"+fmt.Sprint(i), "master", bridge, "up")
		must("-n", name, "address", "add", fmt.Sprintf("10.213.%d.%d/16", 1+i/200, 1+i%200), "dev", "eth0")
		must("-n", name, "link", "set", "eth0", "up")
	}

	return h
}

// start starts machine i on its host. begin lets it take jobs, and stop ends it.
func (h *hosts) start(b *testing.B, i int, redisURL string) (begin, stop func()) {
	b.Helper()

	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}

	args := []string{self}
	if len(h.names) > 0 {
		args = []string{"ip", "netns", "exec", h.names[i], self}
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), machineRedis+"="+redisURL, "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr

	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}

	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}

	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}

	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		b.Fatalf("machine %d printed %q (%v), want ready", i, line, err)
	}

	return func() { fmt.Fprintln(in) }, func() {
		in.Close()

		if err := cmd.Wait(); err != nil {
			b.Errorf("machine %d: %v", i, err)
		}
	}
}

// redisCost is the work that a Redis has done since its start.
type redisCost struct {
	cpu      time.Duration
	commands int64 // including those of scripts
	in, out  int64 // bytes
	log      int64 // bytes of the append-only file
}

// costOf returns the work that a Redis has done since its start.
func costOf(b *testing.B, client *redis.Client) (c redisCost) {
	b.Helper()

	info, err := client.Info(b.Context(), "cpu", "stats", "persistence").Result()
	if err != nil {
		b.Fatal(err)
	}
	var user, system float64

	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "used_cpu_user":
			fmt.Sscan(value, &user)
		case "used_cpu_sys":
			fmt.Sscan(value, &system)
		case "total_commands_processed":
			fmt.Sscan(value, &c.commands)
		case "total_net_input_bytes":
			fmt.Sscan(value, &c.in)
		case "total_net_output_bytes":
			fmt.Sscan(value, &c.out)
		case "aof_current_size":
			fmt.Sscan(value, &c.log)
		}
	}
	c.cpu = time.Duration((user + system) * float64(time.Second))

	return c
}

// since describes the cost of one of n jobs between before and c.
func (c redisCost) since(before redisCost, n int) string {
	each := func(x int64) float64 { return float64(x) / float64(n) }

	return fmt.Sprintf("%.0f commands, %.2f ms of CPU, %.1f KB in, %.1f KB out, %.1f KB of append-only file",
		each(c.commands-before.commands), (c.cpu-before.cpu).Seconds()*1000/float64(n), each(c.in-before.in)/1000,
		each(c.out-before.out)/1000, each(c.log-before.log)/1000)
}

// BenchmarkMachines prints jobs on 1 to 64 machines that share one durable Redis.
func BenchmarkMachines(b *testing.B) {
	const maxMachines = 64
	hosts := openHosts(b, maxMachines)
	url, client := listeningRedis(b, hosts.address)

	queue, err := tasks.NewClient(url, tasks.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { queue.Stop(context.WithoutCancel(b.Context())) })

	for b.Loop() {
		for machines := 1; machines <= maxMachines; machines *= 2 {
			ideal := float64(machines*machineSlots) / machineDelay.Seconds()
			jobs := min(int(8*ideal), 8000)
			before := costOf(b, client)
			submitAll(b, queue, jobs)
			submitted := costOf(b, client)
			var begin, stop []func()

			for i := range machines {
				beginOne, stopOne := hosts.start(b, i, url)
				begin, stop = append(begin, beginOne), append(stop, stopOne)
			}
			began := time.Now()

			for _, f := range begin {
				f()
			}

			for client.ZCard(b.Context(), record.LedgerKey).Val() > 0 {
				time.Sleep(5 * time.Millisecond) // polling a condition
			}
			rate := float64(jobs) / time.Since(began).Seconds()
			after := costOf(b, client)

			var wg sync.WaitGroup
			for _, f := range stop {
				wg.Go(f)
			}
			wg.Wait()
			report(
				b,
				fmt.Sprintf("%d machines (%s) of %d slots, each job %s", machines, hosts.kind(), machineSlots,
					machineDelay),
				fmt.Sprintf("%.0f jobs/s of %.0f, Redis busy %.0f %%", rate, ideal,
					100*(after.cpu-submitted.cpu).Seconds()/(float64(jobs)/rate)),
				"stated",
			)

			if machines == 8 {
				report(b, "what a submission costs Redis", submitted.since(before, jobs), "stated")
				report(b, "what the run of a job costs Redis", after.since(submitted, jobs), "stated")
			}
		}
	}
}

// submitAll submits n conversions.
func submitAll(b *testing.B, queue *tasks.Client, n int) {
	b.Helper()
	const submitters = 8

	var wg sync.WaitGroup
	for i := range submitters {
		wg.Go(func() {
			for range (n + i) / submitters {
				id := tasks.NewID()

				task, err := tasks.ConvertPDF.Task(tasks.Convert{Content: "# Document " + id, Theme: "light"})
				if err == nil {
					_, _, err = queue.Submit(b.Context(), tasks.Submission{
						ID: id, Kind: presswork.KindConversion, Theme: "light", Owner: "bench", Task: task,
					})
				}

				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
