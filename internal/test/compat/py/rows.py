"""What every Python client needs: where the server is, and rows of results as
JSON lines on standard output."""
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
# What the model "tools-plan" is to do, a line for each round.
counting = 'say Counting. | python {"code": "print(6 * 7)"}\nsay It is 42.'
finding = 'browser_search {"query": "paper"}\nbrowser_open {"id": 0}\nsay Cai Lun 【1†L0-L3】 made it.'
mixed = 'python {"code": "1"}\nweather {"city": "Oslo"} | python {"code": "2"}'
shapes = ["reason-field", "reason-content", "reason-think", "reason-letters", "reason-prefilled", "reason-harmony"]
formats = {"raw": (f"<think>{thought}</think>{answer}", ""), "parsed": (answer, thought), "hidden": (answer, "")}


def normal(content):
    """A raw answer without the blanks that models put around the tags."""
    return re.sub(r"\s*</think>\s*", "</think>", re.sub(r"<think>\s*", "<think>", content))


def user(text="Hi"):
    return [{"role": "user", "content": text}]


def model(scenario):
    """The name of a model whose upstream plays the scenario, for this client alone."""
    return f"{client}/{scenario}"


def control(what, scenario):
    query = urllib.parse.quote(model(scenario), safe="")
    with urllib.request.urlopen(f"{os.environ['COMPAT_CONTROL']}/{what}?model={query}") as res:
        return json.load(res)


def left(scenario):
    """Waits until the upstream of a model was left by its client."""
    control("left", scenario)


def asked(scenario):
    """What the upstream of a model was asked, oldest first."""
    return control("asked", scenario)


rows = []
out = threading.Lock()


def say(**row):
    with out:
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()


def row(case):
    """A case: it fails when the function raises; a string that it returns is a remark."""

    def register(fn):
        rows.append((case, fn))
        return fn

    return register


def without(reason, *cases):
    """Cases that this client has no way to ask for."""
    for case in cases:
        say(case=case, without=reason)


def run():
    def one(case, fn):
        try:
            say(case=case, ok=True, remark=fn() or "")
        except BaseException:
            say(case=case, ok=False, error=traceback.format_exc()[-2000:])

    # A client that hangs says where before the test kills it.
    faulthandler.dump_traceback_later(120)
    # https://github.com/encode/httpcore/issues/990: an answer that broke off is part of
    # a cycle with its traceback. When the collector
    # finds it while this thread holds the lock of httpcore's pool, closing it
    # waits for that lock for ever.
    gc.disable()
    with ThreadPoolExecutor(4) as pool:
        for case, fn in rows:
            pool.submit(one, case, fn)


def content_of(chunks):
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
    """The error that a call must end with."""
    try:
        fn()
    except Exception as e:
        return e
    raise AssertionError("it should have failed")
