"""The base of every Python client: the addresses of the servers, and results as lines of JSON
on standard output."""
import faulthandler
import gc
import json
import os
import re
import sys
import threading
import traceback
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

client = os.environ["COMPAT_CLIENT"]
base = os.environ["COMPAT_BASE"]
lax_base = os.environ["COMPAT_LAX_BASE"]
tools_base = os.environ["COMPAT_TOOLS_BASE"]
key = f"key-{client}"

thought = "Okay, the user asks for a fruit. 🍎"
answer = "An apple – naturally."
pixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
weather = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
person = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
# Plans for the model "tools-plan", one line for each round.
counting = 'say Counting. | python {"code": "print(6 * 7)"}\nsay It is 42.'
finding = 'browser_search {"query": "paper"}\nbrowser_open {"id": 0}\nsay Cai Lun 【1†L0-L3】 made it.'
mixed = 'python {"code": "1"}\nweather {"city": "Oslo"} | python {"code": "2"}'
shapes = ["reason-field", "reason-content", "reason-think", "reason-letters", "reason-prefilled", "reason-harmony"]
formats = {"raw": (f"<think>{thought}</think>{answer}", ""), "parsed": (answer, thought), "hidden": (answer, "")}


def normal(content):
    """Returns a raw answer without the blanks that models put around the tags."""
    return re.sub(r"\s*</think>\s*", "</think>", re.sub(r"<think>\s*", "<think>", content))


def user(text="Hi"):
    return [{"role": "user", "content": text}]


def model(scenario):
    """Returns the name of a model for this client alone. Its upstream follows the scenario."""
    return f"{client}/{scenario}"


def control(what, scenario):
    """Returns the answer of a control address of the upstream."""
    query = urllib.parse.quote(model(scenario), safe="")
    with urllib.request.urlopen(f"{os.environ['COMPAT_CONTROL']}/{what}?model={query}") as res:
        return json.load(res)


def left(scenario):
    """Waits until a request to the model has been cancelled."""
    control("left", scenario)


def asked(scenario):
    """Returns the requests that the model has received, oldest first."""
    return control("asked", scenario)


rows = []
out = threading.Lock()


def say(**row):
    """Prints a result."""
    with out:
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()


def row(case):
    """Registers a case. It fails if the function raises. A string that the function returns is a remark."""

    def register(fn):
        rows.append((case, fn))
        return fn

    return register


def without(reason, *cases):
    """Reports cases that this client cannot send."""
    for case in cases:
        say(case=case, without=reason)


def run():
    """Runs the cases, four at a time."""
    def one(case, fn):
        try:
            say(case=case, ok=True, remark=fn() or "")
        except BaseException:
            say(case=case, ok=False, error=traceback.format_exc()[-2000:])

    # A client that hangs prints its stacks before the test kills it.
    faulthandler.dump_traceback_later(120)
    # An answer that broke off is part of a reference cycle with its traceback. If the collector closes it while this
    # thread holds the lock of httpcore's pool, the thread waits for its own lock forever. See
    # https://github.com/encode/httpcore/issues/990.
    gc.disable()
    with ThreadPoolExecutor(4) as pool:
        for case, fn in rows:
            pool.submit(one, case, fn)


def content_of(chunks):
    """Joins the text of a stream."""
    return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)


def calls_of(chunks):
    """Joins the deltas of tool calls as an application does."""
    calls = {}
    for c in chunks:
        for d in (c.choices[0].delta.tool_calls or []) if c.choices else []:
            call = calls.setdefault(d.index, {"id": d.id, "name": d.function.name, "arguments": ""})
            assert not d.id or d.id == call["id"], "a call changed its id"
            call["arguments"] += d.function.arguments or ""
    return [calls[i] for i in sorted(calls)]


def failure(fn):
    """Returns the exception that a call must raise."""
    try:
        fn()
    except Exception as e:
        return e
    raise AssertionError("the call raised nothing, want an exception")
