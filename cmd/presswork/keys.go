package main

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
	"presswork/internal/app"
	"presswork/internal/keyfile"
	"presswork/internal/terminal"
)

const (
	// keyPrefix identifies a key of Presswork to people and to secret scanners.
	keyPrefix = "pw_"
	// keyBytes is the number of random bytes in a key.
	keyBytes = 32
)

func newKeysCommand(p *command.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Create, list and revoke the API keys of keys.yaml",
		Args:  command.Known,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newKeysCreateCommand(p), newKeysListCommand(p), newKeysRevokeCommand(p))

	return cmd
}

// keysPath is the file of named keys that the API reads.
func keysPath(p *command.Program) (string, error) {
	cfg, err := p.Config()
	if err != nil {
		return "", err
	}

	return cmp.Or(cfg.KeysConfig, app.DefaultKeys), nil
}

func newKeysCreateCommand(p *command.Program) *cobra.Command {
	var e keyfile.Entry
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create an API key and print it once",
		Long: "Create an API key, print it on standard output, and add its SHA-256 under NAME to the file of\n" +
			"KEYS_CONFIG (default keys.yaml). The key itself is not stored. A running server accepts it within\n" +
			"3 seconds. Comments and other entries of the file are kept.",
		Example: "  presswork keys create reports --rpm 600\n" +
			"  presswork keys create app --models 'openai/*' --tiers flex --concurrency 20",
		Args: command.Exactly("the NAME of a key"),
		RunE: func(_ *cobra.Command, args []string) error {
			e.Name = args[0]
			return createKey(p, e)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&e.Admin, "admin", false, "allow metrics, the monitor and /admin")
	f.StringSliceVar(
		&e.Models,
		"models",
		nil,
		"`MODELS` that the key may use: names or globs, separated by commas (default all)",
	)
	f.StringSliceVar(
		&e.Tiers,
		"tiers",
		nil,
		"service `TIERS` that the key may request, separated by commas: "+strings.Join(keyfile.Tiers(), ", ")+
			" (default none)",
	)
	f.IntVar(&e.RPM, "rpm", 0, "requests per minute that start work; 0 is the server's RATE_LIMIT_RPM")
	f.IntVar(&e.RPD, "rpd", 0, "completions per day; 0 is no limit")
	f.IntVar(&e.TPM, "tpm", 0, "tokens per minute; 0 is no limit")
	f.IntVar(&e.TPD, "tpd", 0, "tokens per day; 0 is no limit")
	f.IntVar(&e.Concurrency, "concurrency", 0, "completions at the same time; 0 is no limit")

	return cmd
}

// createKey adds an entry with a new random key to keys.yaml. The key goes to standard output only, so that it can be
// piped.
func createKey(p *command.Program, e keyfile.Entry) error {
	path, err := keysPath(p)
	if err != nil {
		return err
	}
	var random [keyBytes]byte
	_, _ = rand.Read(random[:]) // crypto/rand never fails; see its documentation
	key := keyPrefix + base64.RawURLEncoding.EncodeToString(random[:])
	sum := sha256.Sum256([]byte(key))

	e.SHA256 = hex.EncodeToString(sum[:])
	if err := keyfile.Add(path, e); err != nil {
		return command.Usage(err)
	}
	fmt.Fprintf(terminal.Plain(p.Stderr), "added key %s to %s; save it now: it is printed only once\n", e.Name, path)
	_, err = fmt.Fprintln(p.Stdout, key)

	return err
}

func newKeysListCommand(p *command.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the API keys of keys.yaml with their limits, without the keys themselves",
		Args:  command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, err := keysPath(p)
			if err != nil {
				return err
			}

			entries, err := keyfile.List(path)
			if err != nil {
				return command.Usage(err)
			}

			return p.Table("NAME\tADMIN\tMODELS\tTIERS\tRPM\tRPD\tTPM\tTPD\tCONCURRENCY", func(w io.Writer) {
				for _, e := range entries {
					limits := make([]string, 0, 5)
					for _, n := range []int{e.RPM, e.RPD, e.TPM, e.TPD, e.Concurrency} {
						limits = append(limits, terminal.Dash(strings.TrimPrefix(strconv.Itoa(n), "0")))
					}
					fmt.Fprintf(w, "%s\t%t\t%s\t%s\t%s\n", e.Name, e.Admin, cmp.Or(strings.Join(e.Models, ","), "all"),
						terminal.Dash(strings.Join(e.Tiers, ",")), strings.Join(limits, "\t"))
				}
			})
		},
	}
}

func newKeysRevokeCommand(p *command.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NAME",
		Short: "Delete an API key from keys.yaml",
		Long: "Delete every entry of NAME from the file of KEYS_CONFIG (default keys.yaml). A running server refuses\n" +
			"the key within 3 seconds. Jobs and usage belong to the name: a new key of the same name gets them.",
		Args: command.Exactly("the NAME of a key"),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := keysPath(p)
			if err != nil {
				return err
			}

			if _, err := keyfile.Remove(path, args[0]); err != nil {
				return command.Usage(err)
			}
			_, err = fmt.Fprintf(terminal.Plain(p.Stderr), "revoked key %s in %s\n", args[0], path)

			return err
		},
	}
}
