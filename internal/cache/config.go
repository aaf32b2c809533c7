package cache

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"presswork/internal/fault"
	"presswork/internal/input"
)

// The backends of the local converter.
const (
	// BackendMemory keeps entries in the process.
	BackendMemory = "memory"
	// BackendFile keeps one JSON file per entry.
	BackendFile = "file"
	// BackendSQLite keeps one database file. It is the default.
	BackendSQLite = "sqlite"
)

// backends lists the names of the backends, for messages.
func backends() []string { return []string{BackendMemory, BackendFile, BackendSQLite} }

// Config selects the cache of the local converter. A zero field means "not set".
type Config struct {
	// Backend is memory, file or sqlite (default).
	Backend string
	// Path is the folder of the cache. Default: presswork in the user's cache directory, or a memory cache if the
	// user has none.
	Path string
	// TTL is the time to live by kind.
	TTL map[Kind]time.Duration
	// MaxSize is "10000" entries or "64MB". Default: 10000 entries.
	MaxSize string
}

// defaultMaxSize is the cap if none is configured: about 20 MB.
const defaultMaxSize = "10000"

// Origin is the source of a setting's value: "default", the name of the JSON file, the name of the variable, or
// "flag".
type Origin map[string]string

// Load merges the sources of the configuration: flags override environment variables, which override the JSON file
// of PRESSWORK_CACHE_CONFIG, which overrides the defaults. The map gives the origin of backend, path,
// ttl.analysis, ttl.theme and max_size. Errors: InvalidOption with the invalid value and what is allowed.
func Load(flags Config, getenv func(string) string) (Config, Origin, error) {
	c := Config{
		Backend: BackendSQLite,
		Path:    userFolder(getenv),
		MaxSize: defaultMaxSize,
		TTL:     map[Kind]time.Duration{},
	}
	// The user has no cache folder.
	if c.Path == "" {
		c.Backend = BackendMemory
	}

	from := Origin{"backend": "default", "path": "default", "max_size": "default"}
	for _, k := range Kinds() {
		c.TTL[k], from["ttl."+string(k)] = DefaultTTL(k), "default"
	}
	layers := make([]layer, 0, 3)

	if name := getenv("PRESSWORK_CACHE_CONFIG"); name != "" {
		file, err := readConfig(name)
		if err != nil {
			return c, from, err
		}
		layers = append(layers, layer{file, func(string) string { return name }})
	}

	env, err := fromEnvironment(getenv)
	if err != nil {
		return c, from, err
	}

	layers = append(layers, layer{env, variable}, layer{flags, func(string) string { return "flag" }})
	for _, l := range layers {
		l.over(&c, from)
	}

	return c, from, c.Check()
}

// userFolder returns presswork in the user's cache directory. It returns "" if the user has none: a folder that
// other users can write to is not safe for a cache.
func userFolder(getenv func(string) string) string {
	if dir := getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "presswork")
	}

	switch home := getenv("HOME"); {
	case !filepath.IsAbs(home):
		return ""
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Caches", "presswork")
	default:
		return filepath.Join(home, ".cache", "presswork")
	}
}

// layer is one source of settings.
type layer struct {
	Config
	origin func(setting string) string
}

// over writes the settings of this layer over those in c, and records their origin in from.
func (l layer) over(c *Config, from Origin) {
	set := func(setting, value string, into *string) {
		if value != "" {
			*into, from[setting] = value, l.origin(setting)
		}
	}
	set("backend", l.Backend, &c.Backend)
	set("path", l.Path, &c.Path)
	set("max_size", l.MaxSize, &c.MaxSize)

	for kind, ttl := range l.TTL {
		c.TTL[kind], from["ttl."+string(kind)] = ttl, l.origin("ttl")
	}
}

// variable returns the environment variable of a setting.
func variable(setting string) string {
	return map[string]string{
		"backend": "PRESSWORK_CACHE_BACKEND", "path": "PRESSWORK_CACHE_PATH",
		"ttl": "PRESSWORK_CACHE_TTL", "max_size": "PRESSWORK_CACHE_MAX_SIZE",
	}[setting]
}

// fromEnvironment returns the settings that environment variables make.
func fromEnvironment(getenv func(string) string) (Config, error) {
	c := Config{
		Backend: getenv(variable("backend")),
		Path:    getenv(variable("path")),
		MaxSize: getenv(variable("max_size")),
	}
	var err error
	c.TTL, err = ParseTTL(variable("ttl"), getenv(variable("ttl")))

	return c, err
}

// ParseTTL parses a number of seconds and uses it for every kind. For "" it returns nil. Errors: InvalidOption
// with the name of the setting.
func ParseTTL(setting, text string) (map[Kind]time.Duration, error) {
	if text == "" {
		return nil, nil
	}

	ttl, err := seconds(text)
	if err != nil {
		return nil, invalid("%s is %q; allowed: a number of seconds", setting, text)
	}

	return map[Kind]time.Duration{Analysis: ttl, Theme: ttl}, nil
}

// maxTTL is the longest time to live. It is far below the 292 years that a time.Duration can hold.
const maxTTL = 100 * 365 * 24 * time.Hour

// seconds parses a number of seconds, from 0 to maxTTL.
func seconds(text string) (time.Duration, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0 && n <= maxTTL.Seconds()) {
		return 0, errors.New("not a number of seconds")
	}

	return time.Duration(n * float64(time.Second)), nil
}

// configFile is the JSON file of the configuration.
type configFile struct {
	Backend string                 `json:"backend_type"`
	Path    string                 `json:"base_path"`
	TTL     map[string]json.Number `json:"ttl"` // in seconds, by kind
	MaxSize string                 `json:"max_size"`
}

// readConfig reads the JSON file of settings.
func readConfig(name string) (Config, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return Config{}, invalid("PRESSWORK_CACHE_CONFIG: %s", err)
	}

	var f configFile
	if err := input.DecodeJSON(bytes.TrimSpace(b), &f, ""); err != nil {
		return Config{}, invalid("%s: %s", name, fault.AsError(err).Message)
	}

	c := Config{Backend: f.Backend, Path: f.Path, MaxSize: f.MaxSize, TTL: map[Kind]time.Duration{}}
	for kind, text := range f.TTL {
		if kind != string(Analysis) && kind != string(Theme) {
			return c, invalid("%s: ttl.%s does not exist; allowed: ttl.analysis, ttl.theme", name, kind)
		}

		ttl, err := seconds(text.String())
		if err != nil {
			return c, invalid("%s: ttl.%s is %s; allowed: a number of seconds", name, kind, text)
		}
		c.TTL[Kind(kind)] = ttl
	}

	return c, nil
}

// Check rejects values outside the allowed range. Errors: InvalidOption.
func (c Config) Check() error {
	switch c.Backend {
	case BackendMemory, BackendFile, BackendSQLite:
	default:
		return invalid("cache backend %q does not exist%s; allowed: %s", c.Backend,
			input.DidYouMean(c.Backend, backends()), strings.Join(backends(), ", "))
	}

	if c.Path == "" && c.Backend != BackendMemory {
		return invalid("the %s cache has no folder: set HOME or PRESSWORK_CACHE_PATH", c.Backend)
	}
	_, _, err := c.limits()

	return err
}

// limits parses MaxSize. A bare number counts entries, a number with a unit counts bytes.
func (c Config) limits() (entries int, size int64, err error) {
	text := strings.ToUpper(strings.TrimSpace(c.MaxSize))
	wrong := invalid("cache size %q is not allowed; write a number of entries (10000) or a size (64MB, 500KB, 1GB)",
		c.MaxSize)

	for suffix, unit := range map[string]int64{"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30} {
		if number, ok := strings.CutSuffix(text, suffix); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			// The negated comparison also rejects NaN.
			if err != nil || !(n*float64(unit) >= 1 && n <= 1<<20) {
				return 0, 0, wrong
			}

			return 0, int64(n * float64(unit)), nil
		}
	}

	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		return 0, 0, wrong
	}

	return n, 0, nil
}

// invalid returns an InvalidOption.
func invalid(format string, args ...any) error {
	return fault.Errorf(fault.InvalidOption, format, args...)
}

// Open opens the configured cache with the options in o. Errors: those of Check, ErrNewer, or the reason why the
// folder is unusable.
func Open(ctx context.Context, c Config, o Options) (Cache, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}

	o, err := c.options(o)
	if err != nil {
		return nil, err
	}

	switch c.Backend {
	case BackendFile:
		return OpenFile(c.Path, o)
	case BackendSQLite:
		return OpenSQLite(ctx, c.Path, o)
	}

	return NewMemory(o), nil
}

// OpenOrMemory is Open for a run that must not fail because of its cache. It replaces an unusable cache by a
// memory cache and logs a warning to o.Log. Errors: those of Check.
func OpenOrMemory(ctx context.Context, c Config, o Options) (Cache, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}

	opened, err := Open(ctx, c, o)
	if err == nil {
		return opened, nil
	}
	o.withDefaults().Log.WarnContext(ctx, "cannot use the cache; this run keeps its own in memory", "error", err)

	if o, err = c.options(o); err != nil {
		return nil, err
	}

	return NewMemory(o), nil
}

// options returns o with the settings of c.
func (c Config) options(o Options) (Options, error) {
	var err error
	o.TTL = c.TTL
	o.MaxEntries, o.MaxBytes, err = c.limits()

	return o, err
}
