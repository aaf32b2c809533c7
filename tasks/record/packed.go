package record

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// packVersion is the first byte of a packed job: the version of its format.
const packVersion = 1

// packDictionary is text that most jobs contain, as a dictionary for the compression. It must never change, because
// packed jobs cannot be decompressed with another one. A new dictionary needs another packVersion.
const packDictionary = `"cached":"1","error":"{\"code\":\"render_failed\",\"message\":\"",` +
	`"warnings":"{\"code\":\"image_failed\",\"message\":\"` +
	`","status":"failed","status":"cancelled","cancelled by request","kind":"export","kind":"transcription",` +
	`"webhook":"https://` +
	`","stage":"transcribing",` +
	`{"artifact":"{\"id\":\"01K\",\"url\":\"\",\"size\":0,\"pages\":1,\"sha256\":\"\",` +
	`\"content_type\":\"application/pdf\",` +
	`\"filename\":\"document.pdf\",\"expires_at\":\"2026-12-31T00:00:00.000000000Z\"}","attempts":"1","created":"2026-` +
	`","filename":".pdf","finished":"2026-","id":"01K","kind":"conversion","message":"done","owner":"",` +
	`"progress":"100",` +
	`"queue":"render","request_id":"01K","seq":"8","stage":"done","started":"2026-","status":"completed",` +
	`"theme":"light",` +
	`"traceparent":"00-","updated":"2026-"}` + "\n" +
	`[{"type":"progress","job_id":"01K","seq":1,"status":"queued","stage":"queued","progress":0,"message":"waiting ` +
	`for a worker","at":"2026-` +
	`Z"},{"type":"progress","job_id":"01K","seq":2,"status":"processing","stage":"analyzing","progress":0,` +
	`"message":"a worker has begun","at":"2026-` +
	`"seq":3,"status":"processing","stage":"analyzing","progress":10,"message":"reading the document","at":"2026-` +
	`"seq":4,"status":"processing","stage":"rendering","progress":20,"message":"typesetting the Markdown","at":"2026-` +
	`"seq":5,"status":"processing","stage":"printing","progress":40,"message":"printing","at":"2026-` +
	`"seq":6,"status":"processing","stage":"storing","progress":90,"message":"storing the result","at":"2026-` +
	`"seq":7,"status":"completed","stage":"done","progress":100,"message":"done","at":"2026-` +
	`Z","artifact":{"id":"01K","url":"","size":0,"pages":1,"sha256":"","content_type":"application/pdf",` +
	`"filename":"document.pdf","expires_at":"2026-`

// packer packs jobs one after another. Many jobs share one, because the tables of its compressor are large.
type packer struct {
	// out is the packed job, which w writes compressed.
	out bytes.Buffer
	w   *flate.Writer
}

// newPacker returns a packer.
func newPacker() (*packer, error) {
	p := new(packer)
	w, err := flate.NewWriterDict(&p.out, flate.BestCompression, []byte(packDictionary))
	p.w = w

	return p, err
}

// pack returns a job as one value: the fields of its record, then its events, which a reader of the record alone
// need not decode. The value is valid until the next call. Errors: an event that is not JSON.
func (p *packer) pack(fields map[string]string, events []string) ([]byte, error) {
	p.out.Reset()
	p.out.WriteByte(packVersion)
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

// Unpack decodes a packed job. Without withEvents, events is nil. Errors: an unknown version, damaged data.
func Unpack(blob []byte, withEvents bool) (fields map[string]string, events []string, err error) {
	if len(blob) == 0 || blob[0] != packVersion {
		return nil, nil, errors.New("the packed record has an unknown form")
	}

	dec := json.NewDecoder(flate.NewReaderDict(bytes.NewReader(blob[1:]), []byte(packDictionary)))
	if err := dec.Decode(&fields); err != nil {
		return nil, nil, fmt.Errorf("packed record: %w", err)
	}

	if !withEvents {
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

// packScript replaces the keys of a job. KEYS: those of keysOf; ARGV: the packed job. An ended job does not change, so
// the script only checks that the job has not expired since it was read.
var packScript = redis.NewScript(`
local ttl = redis.call('PTTL', KEYS[1])
if ttl <= 0 then return 0 end
redis.call('SET', KEYS[4], ARGV[1], 'PX', ttl)
return redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
`)

// Unpacked are ended jobs that were read to be packed.
type Unpacked struct {
	// ids are those of the jobs, in the order of hashes and logs, which have the answers of Redis.
	ids    []string
	hashes []*redis.MapStringStringCmd
	logs   []*redis.StringSliceCmd
}

// ReadUnpacked reads ended jobs to be packed, in one round trip. A job that does not exist is left out by Jobs and
// Pack.
func (r *Records) ReadUnpacked(ctx context.Context, ids []string) (Unpacked, error) {
	u := Unpacked{ids, make([]*redis.MapStringStringCmd, len(ids)), make([]*redis.StringSliceCmd, len(ids))}

	_, err := r.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, id := range ids {
			u.hashes[i] = p.HGetAll(ctx, JobKey(id))
			u.logs[i] = p.LRange(ctx, LogKey(id), 0, -1)
		}

		return nil
	})
	if err != nil && !IsReply(err) {
		return Unpacked{}, err
	}

	return u, nil
}

// Jobs decodes the jobs, in the order of the ids. Job is nil for a job that does not exist.
func (u Unpacked) Jobs() []Lookup {
	jobs := make([]Lookup, len(u.ids))
	for i, hash := range u.hashes {
		jobs[i].Job, jobs[i].Err = decodeRecord(hash.Val())
	}

	return jobs
}

// Pack packs the jobs, and removes them from SettledKey. It calls failed for a job that cannot be
// packed. The record of that job stays as it is.
func (r *Records) Pack(ctx context.Context, u Unpacked, failed func(id string, err error)) error {
	packer, err := newPacker()
	if err != nil {
		return err
	}

	_, err = r.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, id := range u.ids {
			fields := u.hashes[i].Val()
			if fields[fieldID] == "" {
				continue // the record has expired or cannot be read
			}
			// Drop fields by name, so that the fields of a newer release stay.
			for _, field := range transitionFields() {
				delete(fields, field)
			}

			blob, err := packer.pack(fields, u.logs[i].Val())
			if err != nil {
				failed(id, err)
				continue
			}
			packScript.Eval(ctx, p, keysOf(id), string(blob))
		}

		return nil
	})
	if err != nil {
		return err
	}

	members := make([]any, len(u.ids))
	for i, id := range u.ids {
		members[i] = id
	}

	return r.rdb.ZRem(ctx, SettledKey, members...).Err()
}
