package guard

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"
)

// hostRules are the globs that a host must match and must not match.
type hostRules struct {
	allow, deny []string
}

// newHostRules parses the lists of allowed and denied host names.
func newHostRules(allow, deny string) (r hostRules, err error) {
	if r.allow, err = parseGlobs(allow); err != nil {
		return r, err
	}
	r.deny, err = parseGlobs(deny)

	return r, err
}

// parseGlobs parses a comma-separated list of globs.
func parseGlobs(list string) (globs []string, err error) {
	for entry := range strings.SplitSeq(list, ",") {
		glob := strings.ToLower(strings.TrimSpace(entry))
		if glob == "" {
			continue
		}
		// A glob without wildcards must be a host. With wildcards, its other characters must be allowed in a host.
		name, addr, err := canonicalHost(strings.ReplaceAll(glob, "*", "x"))
		if err != nil {
			return nil, fmt.Errorf("%q: %w; allowed: a host, or a glob such as *.example.com", entry, err)
		}

		if strings.Contains(glob, "*") {
			if glob, err = asciiGlob(glob); err != nil {
				return nil, fmt.Errorf("%q: %w", entry, err)
			}
		} else {
			glob = hostText(name, addr)
		}
		globs = append(globs, glob)
	}

	return globs, nil
}

// asciiGlob returns a glob with wildcards in the form that canonicalHost returns for hosts.
func asciiGlob(glob string) (string, error) {
	labels := strings.Split(strings.TrimSuffix(glob, "."), ".")
	for i, label := range labels {
		if strings.Contains(label, "*") {
			if strings.ContainsFunc(label, func(r rune) bool { return r > 0x7f }) {
				return "", errors.New("a label with a wildcard must be written in ASCII")
			}
			continue
		}

		name, err := asciiName(label)
		if err != nil {
			return "", err
		}
		labels[i] = name
	}

	return strings.Join(labels, "."), nil
}

// hostText returns the name or the address as text.
func hostText(name string, addr netip.Addr) string {
	if addr.IsValid() {
		return addr.Unmap().String()
	}

	return name
}

// check returns AddressNotAllowed for a host that the rules exclude. The arguments are those that canonicalHost
// returns. A denied host stays denied if it is also allowed.
func (r hostRules) check(name string, addr netip.Addr) error {
	host := hostText(name, addr)

	matches := func(glob string) bool {
		ok, err := path.Match(glob, host)
		return ok && err == nil
	}
	switch {
	case slices.ContainsFunc(r.deny, matches):
		return refuse(Host, host, "the operator denies this host")
	case len(r.allow) > 0 && !slices.ContainsFunc(r.allow, matches):
		return refuse(Host, host, "the operator allows other hosts only")
	}

	return nil
}
