// Package minio is the artifact store on MinIO or any other S3.
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

// Options are which bucket of which S3 to use.
type Options struct {
	// Endpoint is host:port, or a URL whose scheme then decides over UseTLS.
	// Mandatory.
	Endpoint string
	// PublicEndpoint is Endpoint as callers reach it, for presigned URLs.
	// Default: Presign is not supported.
	PublicEndpoint string
	// Bucket is made when missing. Default "presswork".
	Bucket string
	// AccessKey and SecretKey open the bucket. Mandatory.
	AccessKey, SecretKey string
	// Region is what requests are signed for. Default "us-east-1".
	Region string
	// UseTLS speaks https to both endpoints.
	UseTLS bool
	// CallTimeout bounds every call, and of a Get the wait for its first byte.
	// A Put gets a second more per MiB. Default 10 s.
	CallTimeout time.Duration
	// HealthTimeout bounds Health. Default 2 s.
	HealthTimeout time.Duration
	// Log gets a warning about a server that cannot create if absent.
	// Default: discard.
	Log *slog.Logger
}

// Store is a storage.Store on S3.
type Store struct {
	Options
	client minio.Core
	public *minio.Client // nil without a PublicEndpoint
	// overwrites is set when the server ignores If-None-Match: a Put then asks
	// first, and two at the same moment may both win.
	overwrites bool
}

var _ storage.Store = (*Store)(nil)

// New wires a Store; nothing is sent.
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

// connect makes a client. With the region given it never asks for it, so one
// for the public endpoint signs without being able to reach it.
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
	transport.MaxIdleConnsPerHost = 128 // a worker's and an API's calls at a time, and to spare

	client, err := minio.New(endpoint, &minio.Options{
		Creds:     credentials.NewStaticV4(s.AccessKey, s.SecretKey, ""),
		Secure:    secure,
		Region:    s.Region,
		Transport: clocked{transport},
		// The default of 10 keeps a caller for half a minute when the store is
		// away; the queue tries again by itself.
		MaxRetries: 3,
	})
	if err != nil {
		return nil, fmt.Errorf("storage/minio: endpoint %q: %w", endpoint, err)
	}

	return client, nil
}

// Start makes the bucket when it is missing, and finds out whether the server
// can create an object only if it is absent.
func (s *Store) Start(ctx context.Context) error {
	ctx, cancel := s.bounded(ctx, s.CallTimeout)
	defer cancel()

	exists, err := s.client.BucketExists(ctx, s.Bucket)
	if err = ended(ctx, err); err != nil {
		return fmt.Errorf("storage/minio: bucket %s at %s: %w", s.Bucket, s.Endpoint, err)
	}

	if !exists {
		err := s.client.MakeBucket(ctx, s.Bucket, minio.MakeBucketOptions{Region: s.Region})
		// Another node may have been faster.
		if code := minio.ToErrorResponse(
			err,
		).Code; err != nil && code != "BucketAlreadyOwnedByYou" &&
			code != "BucketAlreadyExists" {
			return fmt.Errorf("storage/minio: make bucket %s at %s: %w", s.Bucket, s.Endpoint, err)
		}
	}

	return s.probe(ctx)
}

// Refused reports whether the server answered that it will not do this, because
// of a wrong key, for example, as opposed to not answering or not being up yet.
func Refused(err error) bool {
	r, ok := errors.AsType[minio.ErrorResponse](err)
	return ok && r.StatusCode >= 400 && r.StatusCode < 500
}

// Stop does nothing: a Store has nothing to drain.
func (s *Store) Stop(context.Context) error { return nil }

// probe puts an object twice under conditions that the second must fail.
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
		s.Log.WarnContext(
			ctx,
			"the object store ignores If-None-Match: two writers of one object may both succeed",
			"endpoint",
			s.Endpoint,
		)
	case first != nil:
		return fmt.Errorf("storage/minio: bucket %s at %s: %w", s.Bucket, s.Endpoint, first)
	case !errors.Is(second, storage.ErrExists):
		return fmt.Errorf("storage/minio: bucket %s at %s: %w", s.Bucket, s.Endpoint, second)
	}

	return s.Delete(ctx, key)
}

func notImplemented(err error) bool {
	r, ok := errors.AsType[minio.ErrorResponse](err)
	return ok && r.StatusCode == http.StatusNotImplemented
}

// Health implements storage.Store: it writes, so that a full store shows.
func (s *Store) Health(ctx context.Context) error {
	ctx, cancel := s.bounded(ctx, s.HealthTimeout)
	defer cancel()

	key := "probe/" + rand.Text()
	if _, err := s.send(ctx, key, strings.NewReader("health"), 6, "", storage.Attrs{}); err != nil {
		return fmt.Errorf("storage/minio: bucket %s: %w", s.Bucket, err)
	}

	return s.Delete(ctx, key)
}

// Presign implements storage.Store.
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
		return "", failed("presign", key, err)
	}

	return u.String(), nil
}

// extValue writes a header parameter as RFC 8187 wants it.
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

// bounded gives a call its time-out, with the reason.
func (s *Store) bounded(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(
		ctx,
		d,
		fmt.Errorf("the object store at %s did not answer within %s", s.Endpoint, d),
	)
}

// failed names what the contract names; everything else is an outage.
func failed(call, key string, err error) error {
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
