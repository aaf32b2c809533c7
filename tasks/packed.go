package tasks

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// packAfter is how long after its end a job stays unpacked: most reads of an ended job
	// come in that time.
	packAfter = time.Hour
	// packBatch is how many jobs are packed at a time.
	packBatch = 100
	// packForm is the first byte of what is packed by this release.
	packForm = 1
)

// packDictionary is what packed jobs have in common: they refer to it instead of
// repeating it. Another text is another form.
const packDictionary = `"cached":"1","error":"{\"code\":\"render_failed\",\"message\":\"","warnings":"{\"code\":\"image_failed\",\"message\":\"` +
	`","status":"failed","status":"cancelled","cancelled by request","kind":"export","kind":"transcription","webhook":"https://` +
	`","stage":"transcribing",` +
	`{"artifact":"{\"id\":\"01K\",\"url\":\"\",\"size\":0,\"pages\":1,\"sha256\":\"\",\"content_type\":\"application/pdf\",` +
	`\"filename\":\"document.pdf\",\"expires_at\":\"2026-12-31T00:00:00.000000000Z\"}","attempts":"1","created":"2026-` +
	`","filename":".pdf","finished":"2026-","id":"01K","kind":"conversion","message":"done","owner":"","progress":"100",` +
	`"queue":"render","request_id":"01K","seq":"8","stage":"done","started":"2026-","status":"completed","theme":"light",` +
	`"traceparent":"00-","updated":"2026-"}` + "\n" +
	`[{"type":"progress","job_id":"01K","seq":1,"status":"queued","stage":"queued","progress":0,"message":"waiting for a worker","at":"2026-` +
	`Z"},{"type":"progress","job_id":"01K","seq":2,"status":"processing","stage":"analyzing","progress":0,"message":"a worker has begun","at":"2026-` +
	`"seq":3,"status":"processing","stage":"analyzing","progress":10,"message":"reading the document","at":"2026-` +
	`"seq":4,"status":"processing","stage":"rendering","progress":20,"message":"typesetting the Markdown","at":"2026-` +
	`"seq":5,"status":"processing","stage":"printing","progress":40,"message":"printing","at":"2026-` +
	`"seq":6,"status":"processing","stage":"storing","progress":90,"message":"storing the result","at":"2026-` +
	`"seq":7,"status":"completed","stage":"done","progress":100,"message":"done","at":"2026-` +
	`Z","artifact":{"id":"01K","url":"","size":0,"pages":1,"sha256":"","content_type":"application/pdf","filename":"document.pdf","expires_at":"2026-`

// packer packs one job after the other: what it needs for that is large.
type packer struct {
	out bytes.Buffer
	w   *flate.Writer
}

// newPacker makes a packer.
func newPacker() (*packer, error) {
	p := new(packer)
	w, err := flate.NewWriterDict(&p.out, flate.BestCompression, []byte(packDictionary))
	p.w = w

	return p, err
}

// pack makes one value of a job: the fields of its record, then its events, which
// a reader of the record alone does not come to. It holds until the next call.
func (p *packer) pack(fields map[string]string, events []string) ([]byte, error) {
	p.out.Reset()
	p.out.WriteByte(packForm)
	p.w.Reset(&p.out)

	log := make([]json.RawMessage, len(events))
	for i, e := range events {
		log[i] = json.RawMessage(e)
	}
	enc := json.NewEncoder(p.w)
	enc.SetEscapeHTML(false)

	if err := errors.Join(enc.Encode(fields), enc.Encode(log), p.w.Close()); err != nil {
		return nil, err
	}

	return p.out.Bytes(), nil
}

// unpack reads what pack made, the events only where they are wanted.
func unpack(blob []byte, wanted bool) (fields map[string]string, events []string, err error) {
	if len(blob) == 0 || blob[0] != packForm {
		return nil, nil, errors.New("the packed record is of a form that this release does not know")
	}

	dec := json.NewDecoder(flate.NewReaderDict(bytes.NewReader(blob[1:]), []byte(packDictionary)))
	if err := dec.Decode(&fields); err != nil {
		return nil, nil, fmt.Errorf("packed record: %w", err)
	}

	if !wanted {
		return fields, nil, nil
	}

	var log []json.RawMessage
	if err := dec.Decode(&log); err != nil {
		return nil, nil, fmt.Errorf("packed events: %w", err)
	}

	for _, e := range log {
		events = append(events, string(e))
	}

	return fields, events, nil
}

// packScript: KEYS those of keysOf; ARGV what is packed. An ended job does not
// change any more, so it is as it was read, or gone.
var packScript = redis.NewScript(`
local ttl = redis.call('PTTL', KEYS[1])
if ttl <= 0 then return 0 end
redis.call('SET', KEYS[4], ARGV[1], 'PX', ttl)
return redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
`)

// pack packs the jobs whose time has come by then, counted from now.
func (s *Server) pack(ctx context.Context, ahead time.Duration) error {
	for {
		ids, err := dueScript.Run(ctx, s.rdb, []string{settledKey},
			ahead.Milliseconds(), ledgerAgain.Milliseconds(), packBatch).StringSlice()
		if err != nil || len(ids) == 0 {
			return err
		}

		if err := s.packAll(ctx, ids); err != nil {
			return err
		}

		if len(ids) < packBatch {
			return nil
		}
	}
}

func (s *Server) packAll(ctx context.Context, ids []string) error {
	hashes, logs := make([]*redis.MapStringStringCmd, len(ids)), make([]*redis.StringSliceCmd, len(ids))

	_, err := s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, id := range ids {
			hashes[i] = p.HGetAll(ctx, jobKey(id))
			logs[i] = p.LRange(ctx, logKey(id), 0, -1)
		}

		return nil
	})
	if err != nil && !isAnswer(err) {
		return err
	}
	s.clearLate(ctx, hashes)

	packer, err := newPacker()
	if err != nil {
		return err
	}

	_, err = s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, id := range ids {
			fields := hashes[i].Val()
			if fields[fieldID] == "" {
				continue // expired, or not to be read: it stays as it is
			}
			// A newer release may have written fields that this one does not know: they stay.
			for _, done := range transitionFields() {
				delete(fields, done)
			}

			blob, err := packer.pack(fields, logs[i].Val())
			if err != nil {
				s.log.Error("the record of an ended job cannot be packed; it stays as it is", "job_id", id, "err", err)
				continue
			}
			packScript.Eval(ctx, p, keysOf(id), string(blob))
		}

		return nil
	})
	if err != nil {
		return err
	}

	done := make([]any, len(ids))
	for i, id := range ids {
		done[i] = id
	}

	return s.rdb.ZRem(ctx, settledKey, done...).Err()
}

// clearLate deletes what a store has taken for a job after the first deletion: a
// request that its sender has given up, or died of, may still be done.
func (s *Server) clearLate(ctx context.Context, hashes []*redis.MapStringStringCmd) {
	var ended []*stored

	for _, hash := range hashes {
		job, err := decodeRecord(hash.Val())
		if err != nil {
			s.log.Warn(
				"an ended job was not looked at again for an artifact that it shall not have",
				"job_id",
				hash.Val()[fieldID],
				"err",
				err,
			)
		}

		if job != nil {
			ended = append(ended, job)
		}
	}
	s.storeWork(ctx, ended, func(ctx context.Context, job *stored) {
		if err := s.outbox.clear(ctx, job); err != nil {
			s.log.Warn(
				"an ended job was not looked at again for an artifact that it shall not have",
				"job_id",
				job.ID,
				"err",
				err,
			)
		}
	})
}
