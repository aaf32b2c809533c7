// Command fakemodel is the scripted model server of inferencetest, for trying
// Presswork without a model: `make demo-inference` starts it.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"presswork/internal/inference/inferencetest"
)

func main() { os.Exit(run()) }

func run() int {
	addr := flag.String("addr", "127.0.0.1:8100", "listen address")
	list := flag.Bool("list", false, "list the scenarios and exit")
	flag.Parse()

	if *list {
		for _, name := range inferencetest.Scenarios() {
			fmt.Println(name)
		}

		return 0
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := &http.Server{
		Addr: *addr, Handler: inferencetest.NewServer(), ReadHeaderTimeout: 5 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	context.AfterFunc(ctx, func() { server.Close() })
	fmt.Printf("scripted model server on http://%s/v1\n", *addr)

	if err := server.ListenAndServe(); ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}

	return 0
}
