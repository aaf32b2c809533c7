package state

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
	"presswork/internal/cache"
	"presswork/internal/local"
	"presswork/internal/terminal"
)

// cacheCommand holds the flags of one `presswork cache` command.
type cacheCommand struct {
	*command.Program
	flags command.CacheFlags
	json  bool
}

func newCacheCommand(p *command.Program) *cobra.Command {
	c := &cacheCommand{Program: p}
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "Show or empty the cache of analyses and theme choices",
		Long: "Show or empty the cache of analyses and theme choices. Flags override PRESSWORK_CACHE_BACKEND, _PATH,\n" +
			"_TTL and _MAX_SIZE. These override the JSON file that PRESSWORK_CACHE_CONFIG names\n" +
			"({\"backend_type\",\"base_path\",\"ttl\":{\"analysis\",\"theme\"},\"max_size\"}).",
		Args: command.Known,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.flags.Add(cmd.PersistentFlags())
	cmd.AddCommand(c.newStats(), c.newClear(), c.newClean(), c.newConfig())

	return cmd
}

// use opens the cache, calls f and closes the cache. Unlike a conversion, it returns an error if the cache cannot
// be opened.
func (c *cacheCommand) use(ctx context.Context, f func(cache.Cache) error) error {
	cfg, _, err := c.flags.Load(c.Getenv)
	if err != nil {
		return command.Usage(err)
	}

	opened, err := cache.Open(ctx, cfg, cache.Options{Log: terminal.NewNotices(c.Stderr)})
	if err != nil {
		return fmt.Errorf("%s", terminal.Printable(local.Message(err)))
	}

	return errors.Join(f(opened), opened.Close())
}

func (c *cacheCommand) newStats() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show the contents and the hit rate of the cache",
		Args:  command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.use(cmd.Context(), func(opened cache.Cache) error {
				s, err := opened.Stats(cmd.Context())
				if err != nil {
					return err
				}

				if c.json {
					return c.Encode(s)
				}

				return c.printStats(s)
			})
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")

	return cmd
}

// printStats prints the statistics of the cache as a table.
func (c *cacheCommand) printStats(s cache.Stats) error {
	where := s.Backend
	if s.Path != "" {
		where += " in " + s.Path
	}
	fmt.Fprintf(c.Stdout, "%s, hit rate %.0f %%\n\n", terminal.Printable(where), 100*s.HitRate)
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KIND\tENTRIES\tSIZE\tHITS\tMISSES\tEXPIRED")

	for _, kind := range cache.Kinds() {
		k := s.Kinds[kind]
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%d\t%d\n", kind, k.Entries, terminal.Size(k.Bytes), k.Hits, k.Misses, k.Expired)
	}

	return w.Flush()
}

func (c *cacheCommand) newClear() *cobra.Command {
	return &cobra.Command{
		Use:   "clear",
		Short: "Empty the cache and reset its counters",
		Args:  command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.use(cmd.Context(), func(opened cache.Cache) error { return opened.Clear(cmd.Context()) })
		},
	}
}

func (c *cacheCommand) newClean() *cobra.Command {
	return &cobra.Command{
		Use:   "clean",
		Short: "Remove expired and damaged entries from the cache",
		Args:  command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.use(cmd.Context(), func(opened cache.Cache) error {
				n, err := opened.Clean(cmd.Context())
				if err == nil {
					_, err = fmt.Fprintf(c.Stdout, "%s removed\n", terminal.Count(n, "entry"))
				}

				return err
			})
		},
	}
}

// cacheSetting is one row of `presswork cache config`.
type cacheSetting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// From is "default", "flag", the name of an environment variable, or the path of the JSON file.
	From string `json:"from"`
}

func (c *cacheCommand) newConfig() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the cache's settings and where each comes from",
		Args:  command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, from, err := c.flags.Load(c.Getenv)
			if err != nil {
				return command.Usage(err)
			}
			rows := []cacheSetting{
				{"backend", cfg.Backend, from["backend"]},
				{"path", cfg.Path, from["path"]},
				{"max_size", cfg.MaxSize, from["max_size"]},
			}

			for _, kind := range cache.Kinds() {
				name := "ttl." + string(kind)
				rows = append(rows,
					cacheSetting{name, strconv.FormatFloat(cfg.TTL[kind].Seconds(), 'f', -1, 64), from[name]})
			}

			if c.json {
				return c.Encode(rows)
			}
			w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "SETTING\tVALUE\tFROM")

			for _, row := range rows {
				value := row.Value
				if ttl, ok := cfg.TTL[cache.Kind(strings.TrimPrefix(row.Name, "ttl."))]; ok {
					value += " s (" + days(ttl) + ")"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\n", row.Name, terminal.Dash(terminal.Printable(value)),
					terminal.Printable(row.From))
			}

			return w.Flush()
		},
	}
	// The flag changes nothing. It lets users write what the command does.
	cmd.Flags().Bool("show", true, "print the settings (the default)")
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")

	return cmd
}

// days formats a duration of a day or more in days, with one decimal.
func days(d time.Duration) string {
	if day := 24 * time.Hour; d >= day {
		return fmt.Sprintf("%g days", float64(int(10*d.Hours()/24))/10)
	}

	return d.String()
}
