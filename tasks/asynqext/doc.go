// Package asynqext contains everything that depends on the internals of Asynq. It reads
// and repairs Asynq's keys in Redis, and changes Asynq's commands by go-redis hooks.
// Package tasks uses Asynq's public API for everything else and none of its keys.
//
// Unless a comment says otherwise, an error comes from Redis.
//
// This page lists the assumptions about Asynq v0.26.0. An upgrade of Asynq fails
// TestDocDescribesThePinnedAsynq. Then compare each point with the new release, and
// check whether a workaround is still needed. File names are those of Asynq; #numbers
// are its issues at https://github.com/hibiken/asynq/issues.
//
// # The keys
//
//  1. A queue's tasks are in asynq:{queue}:pending and active, lists which are
//     taken from on the right, and in lease, retry, scheduled, archived and
//     completed, sorted sets by time in seconds; asynq:{queue}:paused exists while
//     it is paused. A task is the hash asynq:{queue}:t:id with the fields msg, state
//     and, while it waits, pending_since in nanoseconds. Asynq ignores other fields
//     (x_owner, x_crashes). internal/base/base.go, internal/rdb/rdb.go.
//     TestOurScriptsLeaveTheSameStateAsAsynqs, TestKeysAgreeWithAsynqsInspector.
//  2. asynq:queues is written once for each queue and process; asynq:servers holds
//     asynq:servers:{host:pid:server} by the end of its last heartbeat, two beats
//     ahead. heartbeat.go. TestKeysAgreeWithAsynqsInspector.
//  3. The field msg is a protobuf message that is registered as asynq.TaskMessage
//     with the fields id, queue, timeout and deadline, and begins with the task's type. A task past its deadline
//     never reaches the handler, and its slot would stay taken (#751).
//     internal/proto, processor.go. TestUnfitMessagesOfAsynqAreRejected, TestADequeueRunsTheBeginScript,
//     TestUnrunnableTasksAreArchived.
//
// # The commands
//
//  4. Each change of a task is one script, sent by its digest first and whole after
//     NOSCRIPT; a hook sees its keys and arguments, in the order that
//     testdata/asynq.txt lists. None of these is in a pipeline. The Lua of each is
//     known by its digest. internal/rdb/rdb.go.
//     TestCommandsOfThePinnedAsynqAreKnown.
//  5. EnqueueContext hands its context on to Redis, so that the hook of Turns finds
//     the owner in it. client.go. TestOurScriptsLeaveTheSameStateAsAsynqs, TestOwnersTakeTurns.
//  6. A server of one queue dequeues by one script on that queue: nil is "empty",
//     after which it sleeps TaskCheckInterval, and a text is the message. Asynq only
//     polls (#506, #548); the hook of Dequeuer waits instead.
//     processor.go. TestTheDequeueOfThePinnedAsynqIsRecognised,
//     TestAnIdleWorkerSendsFewCommands. A dequeue that is not recognised is
//     Asynq's polling: slower, and without turns, but no task is lost.
//  7. Five scripts end a run: done, complete, retry, archive, requeue. Their context
//     ends with the lease. When one fails, Asynq repeats it with a context that has
//     been cancelled already, so that it never succeeds (syncer.go; compare #642):
//     Completion repeats it instead. A second end is answered by "NOT FOUND", and an
//     end writes nothing more. DoneLua also ends tasks, but only those
//     without retention and unique keys. processor.go.
//     TestEveryEndOfATaskOfThePinnedAsynqIsRecognised,
//     TestWritingTheEndOfATaskIsRetriedDuringAnOutage, TestASecondEndOfATaskIsNotFound,
//     TestOurScriptsLeaveTheSameStateAsAsynqs.
//  8. Times that machines compare are arguments of scripts, at the places that Amend
//     sets again, or the scores of the heartbeat's ZADD; Asynq takes them from the
//     sender's clock. The score of a retry is its third argument.
//     TestCommandsOfThePinnedAsynqAreKnown, TestJobsCompleteOnceDespiteAWrongClock,
//     TestAWorkerWithAWrongClockIsCountedAndRetriesInTime.
//  9. All writes of a task on the queues of calls are such scripts, so that lines put
//     before them keep calls out of the append-only file. The only other writes are
//     the states of servers, every five seconds.
//     TestCallsWriteNothingToTheDisk; docs/adr/0011 has the reasons against a second Redis.
//
// # The times
//
//  10. A lease lasts 30 s and is renewed every 5 s by ZADD XX; once a minute,
//     tasks whose lease ended 30 s ago are put back: 90 to 150 s after their worker's
//     death (#334, #1030). Reap does so after 12 s; that it finds the tasks, in the lists
//     and not in a process's memory, is point 1. recoverer.go, heartbeat.go.
//     TestOurScriptsLeaveTheSameStateAsAsynqs, TestJobOfAKilledWorkerRunsAgainSoon,
//     TestALivingRunKeepsItsLease.
//  11. Asynq forgets an active task that has no lease (#1144): Reconcile finds it.
//     TestActiveTasksWithoutALeaseRunAgain.
//
// Package tasks relies on these surprising points of the public API:
//   - A task is archived after MaxRetry tries, even if no try counted (#1015). So tasks
//     counts itself and sets a higher MaxRetry. TestADependencyOutageDoesNotUseUpARetry.
//   - A Timeout below a second means 30 minutes.
//   - A cancelled task is retried whatever its handler returns (#532, #968). So tasks
//     cancels by its own context. TestObjectsOfACancelledJobAreDiscarded.
package asynqext
