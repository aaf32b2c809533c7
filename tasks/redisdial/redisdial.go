// Package redisdial connects to Redis: to one server, to a cluster, or to the primary that
// sentinels name. It reads the addresses of the configuration.
package redisdial

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// addressForms is the part of every error that lists the valid addresses. An error never
// repeats the address: it may hold a password.
const addressForms = "allowed are redis://[user:password@]host:port[/db], rediss://… (TLS), " +
	"unix:///path/to/socket[?db=n], " +
	"redis-sentinel://[:password@]host:port,host:port/master[/db], or several redis:// addresses separated by " +
	"commas (a cluster)"

// IOTimeout bounds each read and write of a connection. It is short, so that an outage is noticed soon.
const IOTimeout = time.Second

const (
	dialTimeout = 2 * time.Second
	// bufferSize is the size of each of the two buffers of a connection. go-redis' own size, 32 KiB, is for large values.
	bufferSize = 8 << 10
	// maxRetries is small, so that a command fails within seconds of an outage.
	maxRetries = 2
)

// Dial returns a client for a Redis address, in one of the forms of addressForms. It does not connect. poolSize bounds
// the connections to each server; 0 means 64. Errors: the address is invalid; the error lists the valid forms.
func Dial(address string, poolSize int) (redis.UniversalClient, error) {
	return dial(address, func(o *redis.UniversalOptions) { o.PoolSize = cmp.Or(poolSize, 64) })
}

// DialBlocking is Dial for commands that wait in Redis for up to maxWait. The client sends no command twice: a
// repeated blocking command would wait again.
func DialBlocking(address string, poolSize int, maxWait time.Duration) (redis.UniversalClient, error) {
	return dial(address, func(o *redis.UniversalOptions) {
		o.PoolSize = poolSize
		o.ReadTimeout = maxWait + IOTimeout
		o.MaxRetries = -1
	})
}

// Hosts returns the host:port of every server that a Redis address names, in its order; none for a unix socket. A
// cluster and sentinels lead to further servers, which Nodes returns. Errors: the address is invalid.
func Hosts(address string) ([]string, error) {
	o, err := readAddress(address)
	if err != nil || o.unix {
		return nil, err
	}

	return o.Addrs, nil
}

// dial returns a client for the address. adjust may change its options.
func dial(address string, adjust func(*redis.UniversalOptions)) (redis.UniversalClient, error) {
	o, err := readAddress(address)
	if err != nil {
		return nil, err
	}
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = dialTimeout, IOTimeout, IOTimeout
	o.ReadBufferSize, o.WriteBufferSize = bufferSize, bufferSize
	o.MaxRetries = maxRetries
	// By default, go-redis ignores the deadline of a context while it reads and writes.
	o.ContextTimeoutEnabled = true
	// Do not send CLIENT SETINFO: Redis before 7.2 answers it with an error on each connection.
	o.DisableIdentity = true
	adjust(&o.UniversalOptions)

	if o.unix {
		return redis.NewClient(o.single()), nil
	}

	return redis.NewUniversalClient(&o.UniversalOptions), nil
}

// address is a parsed Redis address. It exists because go-redis' UniversalOptions have no unix sockets.
type address struct {
	redis.UniversalOptions
	unix bool
}

// single returns the options of a client for one unix socket.
func (a *address) single() *redis.Options {
	o := a.Simple()
	o.Network = "unix"

	return o
}

// readAddress parses an address. Its error lists the valid forms.
func readAddress(s string) (*address, error) {
	a, err := parseAddress(s)
	if err != nil {
		return nil, fmt.Errorf("redis address: %w; %s", err, addressForms)
	}

	return a, nil
}

// parseAddress reads an address: one server, a socket, a Cluster or Sentinels.
func parseAddress(s string) (*address, error) {
	scheme, rest, found := strings.Cut(strings.TrimSpace(s), "://")
	if !found || rest == "" {
		return nil, errors.New("it has no scheme or no host")
	}

	switch scheme {
	case "redis", "rediss":
		if strings.Contains(rest, ",") {
			return parseCluster(scheme, rest)
		}

		return parseOne(scheme, rest)
	case "unix":
		return parseOne(scheme, rest)
	case "redis-sentinel":
		return parseSentinel(rest)
	}

	return nil, fmt.Errorf("the scheme %q is unknown", scheme)
}

// parseOne reads the address of one server or of a socket.
func parseOne(scheme, rest string) (*address, error) {
	u, err := parseURL(scheme + "://" + rest)
	if err != nil {
		return nil, err
	}
	a := &address{unix: scheme == "unix"}

	a.Username, a.Password = credentials(u)
	if a.unix {
		if u.Host != "" || u.Path == "" {
			return nil, errors.New("the socket's path must be absolute")
		}
		a.Addrs = []string{u.Path}
		a.DB, err = database(u.Query().Get("db"))

		return a, err
	}

	if a.Addrs, err = hosts(u.Host, "6379"); err != nil {
		return nil, err
	}

	if scheme == "rediss" {
		a.TLSConfig = &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}
	}
	a.DB, err = database(strings.Trim(u.Path, "/"))

	return a, err
}

// parseCluster parses "h1:p,h2:p" and "redis://h1:p,redis://h2:p". The credentials are those of the first address.
func parseCluster(scheme, rest string) (*address, error) {
	all := &address{}

	for i, part := range strings.Split(rest, ",") {
		one, err := parseOne(scheme, strings.TrimPrefix(strings.TrimSpace(part), scheme+"://"))
		if err != nil {
			return nil, err
		}

		if one.DB != 0 {
			return nil, errors.New("a cluster has only the database 0")
		}

		if i == 0 {
			all.Username, all.Password, all.TLSConfig = one.Username, one.Password, one.TLSConfig
		}
		all.Addrs = append(all.Addrs, one.Addrs...)
	}

	if all.TLSConfig != nil {
		// With "", go-redis checks each certificate against the name of its node.
		all.TLSConfig.ServerName = ""
	}
	all.IsClusterMode = true

	return all, nil
}

// parseSentinel reads "HOST,…/MASTER/DB" of redis-sentinel://.
func parseSentinel(rest string) (*address, error) {
	// url.Parse rejects a list of hosts, so replace the list by one host first.
	userinfo, list := "", rest
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		userinfo, list = rest[:at+1], rest[at+1:]
	}
	list, path, _ := strings.Cut(list, "/")

	u, err := parseURL("redis-sentinel://" + userinfo + "sentinels/" + path)
	if err != nil {
		return nil, err
	}
	a := &address{}

	a.Username, a.Password = credentials(u)
	if a.Addrs, err = hosts(list, "26379"); err != nil {
		return nil, err
	}

	master, db, _ := strings.Cut(strings.Trim(u.Path, "/"), "/")
	if master == "" {
		return nil, errors.New("the master's name is missing")
	}
	a.MasterName = master
	a.DB, err = database(db)

	return a, err
}

// parseURL is url.Parse with an error that does not contain the address. It also rejects query parameters, except db
// of a unix socket.
func parseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, errors.New("it cannot be read (percent-encode special characters of the password)")
	}

	for key := range u.Query() {
		if key != "db" || u.Scheme != "unix" {
			return nil, errors.New("it has an unknown query parameter")
		}
	}

	return u, nil
}

// credentials returns the user name and the password of u, "" without them.
func credentials(u *url.URL) (user, password string) {
	if u.User == nil {
		return "", ""
	}
	password, _ = u.User.Password()

	return u.User.Username(), password
}

// hosts parses a list of hosts separated by commas into host:port pairs.
func hosts(list, defaultPort string) ([]string, error) {
	var out []string

	for hostport := range strings.SplitSeq(list, ",") {
		host, port, err := net.SplitHostPort(hostport)
		if err != nil {
			host, port = strings.Trim(hostport, "[]"), defaultPort
		}

		if n, err := strconv.Atoi(port); host == "" || err != nil || n < 1 || n > 65535 {
			return nil, errors.New("a host or port is missing or wrong")
		}
		out = append(out, net.JoinHostPort(host, port))
	}

	return out, nil
}

// database parses the number of a database; "" is 0.
func database(s string) (int, error) {
	if s == "" {
		return 0, nil
	}

	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, errors.New("the database must be a number of 0 or more")
	}

	return n, nil
}
