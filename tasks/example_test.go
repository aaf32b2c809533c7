package tasks_test

import (
	"context"
	"log"

	"presswork"
	"presswork/tasks"
)

// A worker: one handler per kind of task, then Start.
func ExampleHandle() {
	server, err := tasks.NewServer("redis://localhost:6379", tasks.Options{RenderSlots: 4})
	if err != nil {
		log.Fatal(err)
	}
	tasks.Handle(server, tasks.ConvertPDF, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		if err := run.Progress(ctx, presswork.StageRendering, 30, "rendering "+c.Theme); err != nil {
			return err
		}
		// Print, store the result under a key made from run.ID, then:
		return run.Complete(ctx, presswork.Artifact{ID: run.ID, Filename: c.Filename}, false)
	})
	tasks.HandlePlain(server, tasks.DeliverWebhook, func(ctx context.Context, w tasks.Webhook) error {
		return nil // POST w.Body to w.URL
	})

	ctx := context.Background()
	if err := server.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer server.Stop(ctx)
}
