package asynqext

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// errUnfit is returned when the dequeued task cannot be run and was set aside.
var errUnfit = errors.New("the dequeued task cannot be run")

// whyUnfit returns the reason why Asynq would not pass this message to the task's handler, or nil. It decodes the
// message with Asynq's own type.
func whyUnfit(q Queue, id, message string) error {
	kind, err := protoregistry.GlobalTypes.FindMessageByName("asynq.TaskMessage")
	if err != nil {
		return err
	}

	m := kind.New()
	if err := proto.Unmarshal([]byte(message), m.Interface()); err != nil {
		return fmt.Errorf("its message cannot be decoded: %w", err)
	}

	get := func(field protoreflect.Name) protoreflect.Value {
		return m.Get(kind.Descriptor().Fields().ByName(field))
	}
	switch {
	case get("id").String() != id || get("queue").String() != string(q):
		return fmt.Errorf("its message is that of task %q of queue %q", get("id").String(), get("queue").String())
	case get("deadline").Int() != 0 || get("timeout").Int() < 0:
		// Asynq ends a task by its deadline before the handler begins.
		return errors.New("its message has a deadline, but tasks of Presswork have none")
	}

	return nil
}
