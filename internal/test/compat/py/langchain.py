"""The cases for LangChain with Groq's Python SDK."""
import asyncio
import gc
import json
import re

import groq
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_groq import ChatGroq
from pydantic import BaseModel

from rows import (
    asked, base, client, counting, failure, finding, formats, key, lax_base, left, mixed, model, normal, person, pixel, row, run, shapes,
    tools_base, weather, without,
)


def chat(scenario, **options):
    return ChatGroq(**{"model": model(scenario), "api_key": key, "base_url": base, "max_retries": 0, **options})


def ask(scenario, text="Hi", **options):
    return chat(scenario, **options).invoke(text)


def joined(stream):
    """Returns the sum of the chunks of a stream."""
    whole = None
    for chunk in stream:
        whole = chunk if whole is None else whole + chunk
    return whole


def read(scenario, text="Hi", **options):
    """Reads a stream to its end and returns the sum of its chunks."""
    return joined(chat(scenario, **options).stream(text))


def tools(scenario):
    return chat(scenario).bind_tools([weather])


@row("A1")
def _():
    a = ask("hello")
    assert a.content == "Hello, world!" and a.response_metadata["finish_reason"] == "stop"
    assert a.usage_metadata["total_tokens"] == a.usage_metadata["input_tokens"] + a.usage_metadata["output_tokens"]


@row("A2")
def _():
    a = ask("hello", base_url=lax_base, temperature=1, max_tokens=10, stop=["\n"], n=1, service_tier="auto", reasoning_format="hidden",
            reasoning_effort="none", model_kwargs={"top_p": 1, "seed": 0, "user": "user", "logprobs": True, "include_reasoning": True})
    assert a.content == "Hello, world!"


@row("A5")
def _():
    assert read("echo", "one two three").content == "one two three"

    async def again():
        return "".join([c.content async for c in chat("echo").astream("one two three")])

    assert asyncio.run(again()) == "one two three"


@row("A6")
def _():
    stream = chat("hang-middle").stream("Hi")
    for c in stream:
        if c.content:
            break
    stream.close()
    del stream, c
    gc.collect()  # LangChain does not close the SDK's stream; the collector does
    left("hang-middle")


@row("A7")
def _():
    assert read("hello").usage_metadata["output_tokens"] > 0


@row("A10")
def _():
    call = {"id": "call_1", "name": "weather", "args": {"city": "Oslo"}, "type": "tool_call"}
    chat("whole").invoke([
        SystemMessage("Be brief."),
        HumanMessage([{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": pixel}}]),
        AIMessage("", tool_calls=[call]), ToolMessage("rain", tool_call_id="call_1"), HumanMessage("Sure?"),
    ])
    sent = asked("whole")[-1]["messages"]
    assert len(sent) == 5 and sent[1]["content"][1]["image_url"]["url"] == pixel and sent[3]["tool_call_id"] == "call_1"


@row("B13")
def _():
    call, = tools("tool-whole").invoke("Hi").tool_calls
    assert call["name"] == "weather" and call["args"] == {"city": "Oslo"}


def streamed_calls(scenario):
    return joined(tools(scenario).stream("Hi")).tool_calls


@row("B14")
def _():
    for scenario in ["tool-split", "tool-repeated"]:
        assert [c["args"] for c in streamed_calls(scenario)] == [{"city": "Oslo"}], scenario


@row("B15")
def _():
    for scenario in ["tool-parallel", "tool-zero-index"]:
        assert [c["args"]["city"] for c in streamed_calls(scenario)] == ["Oslo", "Rome"], scenario


@row("B16")
def _():
    messages = [HumanMessage("Hi")]
    first = tools("tool-loop").invoke(messages)
    messages += [first, ToolMessage("rain in Oslo", tool_call_id=first.tool_calls[0]["id"])]
    assert tools("tool-loop").invoke(messages).content == "The tool says: rain in Oslo"


@row("B17")
def _():
    tides = {"type": "function", "function": {**weather["function"], "name": "tides"}}

    def called(choice):
        calls = chat("tool-choice").bind_tools([weather, tides], tool_choice=choice).invoke("Hi").tool_calls
        return calls and calls[0]["name"]

    assert not called("none") and not called("auto") and called("any") == "weather" and called("tides") == "tides"


@row("B18")
def _():
    assert len(streamed_calls("tool-trailing")) == 1


@row("B19")
def _():
    e = failure(lambda: tools("tool-unlisted").invoke("Hi"))
    assert isinstance(e, groq.BadRequestError) and "was not in request.tools" in str(e)


@row("B20")
def _():
    e = failure(lambda: tools("tool-malformed").invoke("Hi"))
    assert e.body["error"]["code"] == "tool_use_failed" and "city" in e.body["error"]["failed_generation"]


@row("B21")
def _():
    for kind in ["code_interpreter", "browser_search"]:
        e = failure(lambda: ask("hello", model_kwargs={"tools": [{"type": kind}]}))
        assert e.status_code == 400 and e.body["error"]["code"] == "tool_unavailable"


def run_tools(plan, *tools):
    return ask("tools-plan", plan, base_url=tools_base, model_kwargs={"tools": list(tools)})


@row("T1")
def _():
    a = run_tools(counting, {"type": "code_interpreter"})
    assert a.content == "Counting.\n\nIt is 42."
    executed = a.additional_kwargs["executed_tools"]
    assert [(e["name"], e["output"].strip()) for e in executed] == [("python", "42")]


@row("T2")
def _():
    search, page = run_tools(finding, {"type": "browser_search"}).additional_kwargs["executed_tools"]
    assert search["search_results"]["results"][0]["title"] == "Paper" and "Cai Lun" in page["output"]


@row("T3")
def _():
    a = run_tools(mixed, {"type": "code_interpreter"}, weather)
    assert [c["name"] for c in a.tool_calls] == ["weather"] and len(a.additional_kwargs["executed_tools"]) == 1


@row("T4")
def _():
    got = chat("many", n=2, model_kwargs={"logprobs": True}).generate([[HumanMessage("Hi")]]).generations[0]
    assert [g.text for g in got] == ["Answer number 0", "Answer number 1"]


@row("C22")
def _():
    got = chat("json").bind(response_format={"type": "json_object"}).invoke("Hi")
    assert json.loads(got.content) == {"name": "Ada", "age": 36}


class Person(BaseModel):
    """A person."""

    name: str
    age: int


@row("C23")
def _():
    for scenario in ["json", "json-fenced", "json-second"]:
        assert chat(scenario).with_structured_output(Person, method="json_schema").invoke("Hi").age == 36


lenient = {"type": "json_schema", "json_schema": {"name": "person", "schema": person, "strict": True}}


@row("C24")
def _():
    for scenario, form in [("json-broken", {"type": "json_object"}), ("json-wrong", lenient)]:
        e = failure(lambda: chat(scenario).bind(response_format=form).invoke("Hi"))
        assert e.body["error"]["code"] == "json_validate_failed" and "name" in e.body["error"]["failed_generation"]


@row("C25")
def _():
    e = failure(lambda: chat("json", reasoning_format="raw").bind(response_format={"type": "json_object"}).invoke("Hi"))
    assert e.status_code == 400 and "raw" in str(e)


@row("C26")
def _():
    got = "".join(c.content for c in chat("json").bind(response_format=lenient).stream("Hi"))
    assert json.loads(got) == {"name": "Ada", "age": 36}


@row("D27")
def _():
    for scenario in shapes:
        for form, want in formats.items():
            a = ask(scenario, reasoning_format=form)
            assert (normal(a.content), a.additional_kwargs.get("reasoning_content", "")) == want, (scenario, form)


@row("D28")
def _():
    for scenario in shapes:
        for form, want in formats.items():
            a = read(scenario, reasoning_format=form)
            assert (normal(a.content), a.additional_kwargs.get("reasoning_content", "")) == want, (scenario, form)


@row("D29")
def _():
    e = failure(lambda: ask("reason-field", reasoning_format="parsed", model_kwargs={"include_reasoning": True}))
    assert e.status_code == 400 and "reasoning_format" in str(e)


@row("D30")
def _():
    a = ask("reason-field", reasoning_format="hidden")
    assert "reasoning_content" not in a.additional_kwargs and a.usage_metadata["output_token_details"]["reasoning"] > 0


@row("D31")
def _():
    ask("reason-field", reasoning_effort="high")
    assert "high" in [r.get("reasoning_effort") for r in asked("reason-field")]
    e = failure(lambda: ask("reason-field", reasoning_effort="max"))
    assert e.status_code == 400 and re.search("low.*medium.*high", str(e))


@row("E32")
def _():
    for scenario in ["crlf", "bare", "noisy", "no-done", "no-end", "two-lines", "split-bytes"]:
        assert read(scenario).content == "Grüße, 世界!", scenario


@row("E33")
def _():
    text = 'a\u2028b\u2029c\u0085d\n\ne\r\nf\u0000g data: [DONE]\n\n 𝄞"\\'
    assert read("echo", text).content == text


@row("E34")
def _():
    assert read("late:11s").content == "Hello, world!"


@row("E35")
def _():
    assert len(read("big-line").content) == 16 * 90_000


@row("E36")
def _():
    for scenario in ["cut", "error-frame", "cut-clean"]:
        e = failure(lambda: read(scenario))
        assert isinstance(e, groq.APIError) and "model's server" in str(e), (scenario, e)


@row("F38")
def _():
    assert isinstance(failure(lambda: ask("hello", api_key="wrong")), groq.AuthenticationError)


@row("F39")
def _():
    e = failure(lambda: ask("hello", model="nothing"))
    assert isinstance(e, groq.NotFoundError) and e.body["error"]["code"] == "model_not_found"


@row("F41")
def _():
    e = failure(lambda: ask("hello", "x" * (50 << 20)))
    assert e.status_code == 413 and e.body["error"]["code"] == "content_too_large"


@row("F42")
def _():
    e = failure(lambda: ask("hello", temperature=3))
    assert isinstance(e, groq.BadRequestError) and e.body["error"]["param"] == "temperature"


@row("F43")
def _():
    stream = chat("hang-middle:slow", api_key=f"slow-{client}").stream("Hi")
    next(stream)
    rejected = failure(lambda: ask("hello", api_key=f"slow-{client}"))
    assert isinstance(rejected, groq.RateLimitError)
    stream.close()
    del stream
    gc.collect()  # as in A6
    assert ask("hello", api_key=f"slow-{client}", max_retries=20).content == "Hello, world!"


@row("F44")
def _():
    for scenario, cls, status in [("status:500", groq.InternalServerError, 502), ("status:422", groq.UnprocessableEntityError, 422),
                                  ("html", groq.InternalServerError, 502), ("context", groq.BadRequestError, 400)]:
        e = failure(lambda: ask(scenario))
        assert isinstance(e, cls) and e.status_code == status, (scenario, e)


@row("F46")
def _():
    while not asked("hang"):  # the request must reach the model before it can be cancelled
        assert isinstance(failure(lambda: ask("hang", timeout=1)), (groq.APITimeoutError, groq.InternalServerError))
    left("hang")


without("LangChain parses every answer", "A3", "A4")
without("LangChain has no audio", "G47", "G48", "G49")
without("langchain-groq has no embeddings", "G50")
without("langchain-groq has chat completions only", "R1", "R2", "R3", "R4", "R5", "R6")
without("LangChain has its own usage", "A8")
without("LangChain sends known fields only", "A9")
without("LangChain does not list models", "A11", "A12", "F40")
without("the stream is a generator", "E37")
without("the same SDK as groq-python", "F45")
without("Groq's clients have chat completions only", "T5")
run()
