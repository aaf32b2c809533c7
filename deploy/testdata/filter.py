"""filter.py PROFILE translates a seccomp profile in Docker's format into a filter for the
kernel, and writes it to standard output."""
import json
import sys

import pyseccomp as seccomp

with open(sys.argv[1]) as f:
    profile = json.load(f)
assert profile["defaultAction"] == "SCMP_ACT_ALLOW", profile["defaultAction"]
out = seccomp.SyscallFilter(seccomp.ALLOW)
for rule in profile["syscalls"]:
    assert rule["action"] == "SCMP_ACT_ERRNO" and not rule.get("args"), rule
    for name in rule["names"]:
        try:
            out.add_rule(seccomp.ERRNO(rule["errnoRet"]), name)
        except Exception:  # a call that this architecture or library does not have
            print(f"unknown: {name}", file=sys.stderr)
out.export_bpf(sys.stdout)
