// Package minio is the artifact store on MinIO or any other S3: Store implements storage.Store.
//
// A Put is one request with the condition that the key has no object, so that it is atomic and replaces nothing. Start
// finds out whether the server honours the condition. The SHA-256 of an object is in its user metadata.
package minio

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"presswork/storage"
)

// Options selects a bucket and the credentials for it.
type Options struct {
	// Endpoint is host:port, or a URL whose scheme overrides UseTLS. Mandatory.
	Endpoint string
	// PublicEndpoint is the address at which clients reach the store, for presigned URLs.
	// Default: none; Presign returns ErrNotSupported.
	PublicEndpoint string
	// Bucket is created by Start if it does not exist. Default "presswork".
	Bucket string
	// AccessKey and SecretKey are the credentials for the bucket. Mandatory.
	AccessKey, SecretKey string
	// Region is the region in signatures. Default "us-east-1".
	Region string
	// UseTLS selects https for both endpoints.
	UseTLS bool
	// CallTimeout bounds every call. In a Get and a List it bounds each wait for data
	// instead. A Put gets one more second per MiB. Default 10 s.
	CallTimeout time.Duration
	// HealthTimeout bounds Health. Default 2 s.
	HealthTimeout time.Duration
	// Log gets a warning when the server ignores If-None-Match. Default: discard.
	Log *slog.Logger
}

// Store is a storage.Store on S3.
type Store struct {
	Options
	// client sends all requests. public only signs addresses: nothing is sent to PublicEndpoint from here.
	client minio.Core
	public *minio.Client // nil without a PublicEndpoint
	// overwrites is set when the server ignores If-None-Match. A Put then calls Stat
	// first, and two simultaneous Puts of one key may both succeed.
	overwrites bool
}

var _ storage.Store = (*Store)(nil)

// New returns a Store with defaults for unset options. It sends nothing. Errors: a missing or invalid option.
func New(o Options) (*Store, error) {
	if o.Bucket == "" {
		o.Bucket = "presswork"
	}

	if o.Region == "" {
		o.Region = "us-east-1"
	}

	if o.CallTimeout == 0 {
		o.CallTimeout = 10 * time.Second
	}

	if o.HealthTimeout == 0 {
		o.HealthTimeout = 2 * time.Second
	}

	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	if o.AccessKey == "" || o.SecretKey == "" {
		return nil, errors.New("storage/minio: AccessKey and SecretKey must be set")
	}

	if err := s3utils.CheckValidBucketName(o.Bucket); err != nil {
		return nil, fmt.Errorf("storage/minio: bucket %q: %w", o.Bucket, err)
	}
	s := &Store{Options: o}

	client, err := s.connect(o.Endpoint)
	if err != nil {
		return nil, err
	}

	s.client = minio.Core{Client: client}
	if o.PublicEndpoint != "" {
		if s.public, err = s.connect(o.PublicEndpoint); err != nil {
			return nil, err
		}
	}

	return s, nil
}

// connect returns a client for an endpoint. Because the region is given, the client
// never asks for it: it can sign URLs for a public endpoint that it cannot reach.
func (s *Store) connect(endpoint string) (*minio.Client, error) {
	secure := s.UseTLS

	if scheme, rest, ok := strings.Cut(endpoint, "://"); ok {
		if scheme != "http" && scheme != "https" {
			return nil, fmt.Errorf("storage/minio: endpoint %q: the scheme may be http or https", endpoint)
		}
		endpoint, secure = strings.TrimSuffix(rest, "/"), scheme == "https"
	}

	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, fmt.Errorf("storage/minio: %w", err)
	}
	transport.DialContext = (&net.Dialer{Timeout: min(s.CallTimeout, 3*time.Second)}).DialContext
	transport.ResponseHeaderTimeout = s.CallTimeout
	transport.MaxIdleConnsPerHost = 128 // more than the simultaneous calls of a worker and an API

	client, err := minio.New(endpoint, &minio.Options{
		Creds:     credentials.NewStaticV4(s.AccessKey, s.SecretKey, ""),
		Secure:    secure,
		Region:    s.Region,
		Transport: skewDetector{transport},
		// With the default of 10 a call would last half a minute during an outage; the
		// queue retries tasks anyway.
		MaxRetries: 3,
	})
	if err != nil {
		return nil, fmt.Errorf("storage/minio: endpoint %q: %w", endpoint, err)
	}

	return client, nil
}

// Start creates the bucket if necessary and finds out whether the server honours If-None-Match. It bounds both by
// CallTimeout. It returns an error when the server does not answer or refuses a request. Refused reports which
// errors a later try cannot mend.
func (s *Store) Start(ctx context.Context) error {
	ctx, cancel := s.bounded(ctx, s.CallTimeout)
	defer cancel()

	exists, err := s.client.BucketExists(ctx, s.Bucket)
	if err = causeOf(ctx, err); err != nil {
		return fmt.Errorf("storage/minio: bucket %s at %s: %w", s.Bucket, s.Endpoint, err)
	}

	if !exists {
		err := s.client.MakeBucket(ctx, s.Bucket, minio.MakeBucketOptions{Region: s.Region})
		// Ignore that another node has created it in the meantime.
		code := minio.ToErrorResponse(err).Code
		if err != nil && code != "BucketAlreadyOwnedByYou" && code != "BucketAlreadyExists" {
			return fmt.Errorf("storage/minio: make bucket %s at %s: %w", s.Bucket, s.Endpoint, err)
		}
	}

	return s.probe(ctx)
}

// Refused reports whether err is a refusal by the server, for example of wrong
// credentials. It is false for a server that does not answer or is not ready.
func Refused(err error) bool {
	r, ok := errors.AsType[minio.ErrorResponse](err)
	return ok && r.StatusCode >= 400 && r.StatusCode < 500
}

// Stop does nothing: a Store has nothing to drain.
func (s *Store) Stop(context.Context) error { return nil }

// probe puts an object twice on the condition that it does not exist. A server that
// accepts the second Put ignores the condition.
func (s *Store) probe(ctx context.Context) error {
	key := "probe/" + rand.Text()
	put := func() error {
		_, err := s.send(ctx, key, strings.NewReader("probe"), 5, "", storage.Attrs{})
		return err
	}

	first, second := put(), error(nil)
	if first == nil {
		second = put()
	}

	switch {
	case notImplemented(first), first == nil && second == nil:
		s.overwrites = true
		s.Log.WarnContext(ctx, "the object store ignores If-None-Match: two writers of one object may both succeed",
			"endpoint", s.Endpoint)
	case first != nil:
		return fmt.Errorf("storage/minio: bucket %s at %s: %w", s.Bucket, s.Endpoint, first)
	case !errors.Is(second, storage.ErrExists):
		return fmt.Errorf("storage/minio: bucket %s at %s: %w", s.Bucket, s.Endpoint, second)
	}

	return s.Delete(ctx, key)
}

// notImplemented reports whether the server answered that it does not implement a header of the request.
func notImplemented(err error) bool {
	r, ok := errors.AsType[minio.ErrorResponse](err)
	return ok && r.StatusCode == http.StatusNotImplemented
}

// Health implements storage.Store. It writes an object, so that it fails on a full store.
func (s *Store) Health(ctx context.Context) error {
	ctx, cancel := s.bounded(ctx, s.HealthTimeout)
	defer cancel()

	key := "probe/" + rand.Text()
	if _, err := s.send(ctx, key, strings.NewReader("health"), 6, "", storage.Attrs{}); err != nil {
		return fmt.Errorf("storage/minio: bucket %s: %w", s.Bucket, err)
	}

	return s.Delete(ctx, key)
}

// Presign implements storage.Store. It signs for PublicEndpoint without a request. Errors: storage.ErrNotSupported
// without a PublicEndpoint, storage.ErrInvalidKey.
func (s *Store) Presign(ctx context.Context, key, filename string, ttl time.Duration) (string, error) {
	if err := storage.CheckKey(key); err != nil {
		return "", err
	}

	if s.public == nil {
		return "", storage.ErrNotSupported
	}

	u, err := s.public.PresignedGetObject(ctx, s.Bucket, key, ttl, url.Values{
		"response-content-disposition": {"attachment; filename*=UTF-8''" + extValue(filename)},
	})
	if err != nil {
		return "", wrapError("presign", key, err)
	}

	return u.String(), nil
}

// extValue returns s in the encoding of RFC 8187 for header parameters.
func extValue(s string) string {
	var b strings.Builder

	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}

	return b.String()
}

// bounded returns a context with a time-out whose cause names the store.
func (s *Store) bounded(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d,
		fmt.Errorf("the object store at %s did not answer within %s", s.Endpoint, d))
}

// wrapError wraps the error that package storage defines for an S3 error code. Other
// errors are outages.
func wrapError(call, key string, err error) error {
	switch minio.ToErrorResponse(err).Code {
	case minio.NoSuchKey:
		err = storage.ErrNotFound
	case minio.PreconditionFailed:
		err = storage.ErrExists
	case "InvalidRange":
		err = storage.ErrRange
	case "XMinioStorageFull", "QuotaExceeded", "XMinioAdminBucketQuotaExceeded":
		err = fmt.Errorf("%w: %w", storage.ErrFull, err)
	}

	return fmt.Errorf("%s %s: %w", call, key, err)
}
