"""The cases for the official Python SDKs of Groq and OpenAI, which come from one generator."""
import asyncio
import base64
import io
import json
import re
import wave

from pydantic import BaseModel

import sdk_responses  # noqa: F401 (its rows)
import sdk_tools  # noqa: F401 (its rows)
import sdk_wire  # noqa: F401 (its rows)
from rows import (
    asked, calls_of, client, content_of, failure, formats, lax_base, left, model, normal, pixel, row, run, shapes, user, weather,
)
from sdk_ask import AsyncSDK, at, create, error_of, groq, lenient, open_sdk, sdk, sdk_module, tools


@row("A1")
def _():
    a = create("hello")
    assert a.choices[0].message.content == "Hello, world!" and a.choices[0].finish_reason == "stop"
    assert a.usage.total_tokens == a.usage.prompt_tokens + a.usage.completion_tokens


@row("A2")
def _():
    only_openai = {} if groq else {"modalities": ["text"], "verbosity": "low", "prompt_cache_key": "x", "safety_identifier": "x"}
    only_groq = {"citation_options": "enabled", "exclude_domains": ["string"], "disable_tool_validation": True,
                 "include_reasoning": True, "reasoning_format": "hidden", "documents": [{"source": {"type": "text", "text": "text"}}]}
    a = create(
        "hello", open_sdk(base_url=at(lax_base)), frequency_penalty=-2, presence_penalty=2, function_call="none",
        functions=[{"name": "name", "description": "d", "parameters": {"foo": "bar"}}], reasoning_effort="none", logit_bias={"foo": 0},
        logprobs=True, top_logprobs=0, max_completion_tokens=0, max_tokens=0, metadata={"foo": "string"}, n=1, parallel_tool_calls=True,
        response_format={"type": "text"}, seed=0, service_tier="auto", stop="\n", store=True, temperature=1, top_p=1, user="user",
        tool_choice="none", tools=[weather], extra_body=only_groq, **only_openai)
    assert a.choices[0].message.content == "Hello, world!"


@row("A3")
def _():
    raw = open_sdk(api_key=f"small-{client}").chat.completions.with_raw_response.create(model=model("hello"), messages=user())
    assert re.fullmatch(r"req_[0-9a-z]{26}", raw.headers["x-request-id"])
    assert raw.headers["x-ratelimit-limit-tokens"].isdigit() and raw.headers["x-ratelimit-remaining-requests"].isdigit()
    assert re.fullmatch(r"[\d.]+(ms|s)", raw.headers["x-ratelimit-reset-tokens"])
    assert raw.parse().choices[0].message.content == "Hello, world!"
    if not groq:
        assert raw.parse()._request_id == raw.headers["x-request-id"]


@row("A4")
def _():
    with sdk.chat.completions.with_streaming_response.create(model=model("hello"), messages=user()) as response:
        assert response.headers["content-type"] == "application/json"
        assert json.loads(response.read())["choices"][0]["message"]["content"] == "Hello, world!"


@row("A5")
def _():
    chunks = list(create("echo", messages=user("one two three"), stream=True))
    assert content_of(chunks) == "one two three" and len({c.id for c in chunks}) == 1
    assert chunks[0].choices[0].delta.role == "assistant" and chunks[-1].choices[0].finish_reason == "stop"

    async def again():
        async with open_sdk(AsyncSDK) as c:
            stream = await c.chat.completions.create(model=model("echo"), messages=user("one two three"), stream=True)
            return content_of([chunk async for chunk in stream])

    assert asyncio.run(again()) == "one two three"


@row("A6")
def _():
    with create("hang-middle", stream=True) as stream:
        for c in stream:
            if c.choices[0].delta.content:
                break
    left("hang-middle")


@row("A7")
def _():
    if groq:  # the parameter has no name in this SDK
        chunks = list(create("hello", stream=True, extra_body={"stream_options": {"include_usage": True}}))
    else:
        chunks = list(create("hello", stream=True, stream_options={"include_usage": True}))
    assert chunks[-1].choices == [] and chunks[-1].usage.completion_tokens > 0
    assert all(c.usage is None for c in chunks[:-1])


@row("A8")
def _():
    chunks = list(create("hello", stream=True, seed=7))
    first, last = chunks[0].x_groq, chunks[-1].x_groq
    if groq:
        assert first.id.startswith("req_") and last.usage.queue_time > 0
    else:
        assert first["id"].startswith("req_") and first["seed"] == 7 and last["usage"]["queue_time"] > 0
    assert all(getattr(c, "x_groq", None) is None for c in chunks[1:-1])
    whole = create("hello").x_groq
    assert (whole.id if groq else whole["id"]).startswith("req_")


@row("A9")
def _():
    assert create("hello", extra_body={"never_heard_of": {"deep": [1]}, "cache_control": None}).choices[0].message.content == "Hello, world!"


@row("A10")
def _():
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Oslo"}'}}
    create("whole", messages=[
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": pixel, "detail": "low"}}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
        {"role": "assistant", "content": "A pixel.", "refusal": None, "annotations": []},
        {"role": "user", "content": [{"type": "text", "text": "Sure?"}]},
    ])
    sent = asked("whole")[-1]["messages"]
    assert len(sent) == 6 and sent[1]["content"][1]["image_url"]["url"] == pixel
    assert sent[2]["tool_calls"][0]["function"]["name"] == "weather" and sent[3]["tool_call_id"] == "call_1"


@row("A11")
def _():
    assert model("hello") in [m.id for m in sdk.models.list().data]
    m = sdk.models.retrieve(model("hello"))
    assert m.id == model("hello") and m.object == "model"


@row("A12")
def _():
    e = failure(lambda: sdk.models.delete(model("hello")))
    assert e.status_code == 405 and error_of(e)["code"] == "method_not_allowed"


@row("B13")
def _():
    a = tools("tool-whole").choices[0]
    assert a.finish_reason == "tool_calls" and a.message.content is None
    assert json.loads(a.message.tool_calls[0].function.arguments) == {"city": "Oslo"}
    assert calls_of(tools("tool-whole", stream=True))[0]["arguments"] == '{"city":"Oslo"}'


@row("B14")
def _():
    for scenario in ["tool-split", "tool-repeated"]:
        call, = calls_of(tools(scenario, stream=True))
        assert json.loads(call["arguments"]) == {"city": "Oslo"} and call["id"]
        if groq:
            continue
        with sdk.chat.completions.stream(model=model(scenario), messages=user(), tools=[weather]) as stream:
            whole = stream.get_final_completion()
        assert json.loads(whole.choices[0].message.tool_calls[0].function.arguments) == {"city": "Oslo"}


@row("B15")
def _():
    for scenario in ["tool-parallel", "tool-zero-index"]:
        calls = calls_of(tools(scenario, stream=True))
        assert [json.loads(c["arguments"])["city"] for c in calls] == ["Oslo", "Rome"] and len({c["id"] for c in calls}) == 2


@row("B16")
def _():
    messages = user()
    first = tools("tool-loop", messages=messages).choices[0].message
    messages += [first.to_dict(), {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "rain in Oslo"}]
    assert tools("tool-loop", messages=messages).choices[0].message.content == "The tool says: rain in Oslo"


@row("B17")
def _():
    two = [weather, {"type": "function", "function": {**weather["function"], "name": "tides"}}]

    def called(choice):
        calls = tools("tool-choice", tools=two, tool_choice=choice).choices[0].message.tool_calls
        return calls and calls[0].function.name

    assert not called("none") and not called("auto") and called("required") == "weather"
    assert called({"type": "function", "function": {"name": "tides"}}) == "tides"


@row("B18")
def _():
    chunks = list(tools("tool-trailing", stream=True))
    assert [c["arguments"] for c in calls_of(chunks)] == ['{"city":"Oslo"}']
    assert len([c for c in chunks if c.choices[0].delta.tool_calls and c.choices[0].delta.tool_calls[0].id]) == 1


@row("B19")
def _():
    e = failure(lambda: tools("tool-unlisted"))
    assert isinstance(e, sdk_module.BadRequestError) and "was not in request.tools" in str(e)
    a = tools("tool-unlisted", extra_body={"disable_tool_validation": True})
    assert a.choices[0].message.tool_calls[0].function.name == "launch_rocket"


@row("B20")
def _():
    e = failure(lambda: tools("tool-malformed"))
    assert isinstance(e, sdk_module.BadRequestError)
    assert error_of(e)["code"] == "tool_use_failed" and "city" in error_of(e)["failed_generation"]


@row("B21")
def _():
    for kind in ["code_interpreter", "browser_search"]:
        e = failure(lambda: create("hello", tools=[{"type": kind}]))
        assert e.status_code == 400 and error_of(e)["code"] == "tool_unavailable"


@row("C22")
def _():
    assert json.loads(create("json", response_format={"type": "json_object"}).choices[0].message.content) == {"name": "Ada", "age": 36}


class Person(BaseModel):
    name: str
    age: int


@row("C23")
def _():
    for scenario in ["json", "json-fenced", "json-second"]:
        if groq:
            got = Person.model_validate_json(create(scenario, response_format=lenient).choices[0].message.content)
        else:
            got = sdk.chat.completions.parse(model=model(scenario), messages=user(), response_format=Person).choices[0].message.parsed
        assert got.age == 36


@row("C24")
def _():
    for scenario, form in [("json-broken", {"type": "json_object"}), ("json-wrong", lenient)]:
        e = failure(lambda: create(scenario, response_format=form))
        assert e.status_code == 400 and error_of(e)["code"] == "json_validate_failed" and "name" in error_of(e)["failed_generation"]


@row("C25")
def _():
    e = failure(lambda: create("json", extra_body={"reasoning_format": "raw"}, response_format={"type": "json_object"}))
    assert e.status_code == 400 and "raw" in str(e)


@row("C26")
def _():
    assert json.loads(content_of(create("json", response_format=lenient, stream=True))) == {"name": "Ada", "age": 36}
    if not groq:
        with sdk.chat.completions.stream(model=model("json"), messages=user(), response_format=Person) as stream:
            assert stream.get_final_completion().choices[0].message.parsed.age == 36


@row("D27")
def _():
    for scenario in shapes:
        for form, want in formats.items():
            m = create(scenario, extra_body={"reasoning_format": form}).choices[0].message
            assert (normal(m.content), getattr(m, "reasoning", None) or "") == want, (scenario, form, m)


@row("D28")
def _():
    for scenario in shapes:
        for form, want in formats.items():
            chunks = list(create(scenario, extra_body={"reasoning_format": form}, stream=True))
            reasoning = "".join(getattr(c.choices[0].delta, "reasoning", None) or "" for c in chunks)
            assert (normal(content_of(chunks)), reasoning) == want, (scenario, form)


@row("D29")
def _():
    e = failure(lambda: create("reason-field", extra_body={"reasoning_format": "parsed", "include_reasoning": True}))
    assert e.status_code == 400 and "reasoning_format" in str(e)


@row("D30")
def _():
    a = create("reason-field", extra_body={"include_reasoning": False})
    assert getattr(a.choices[0].message, "reasoning", None) is None
    assert a.usage.completion_tokens_details.reasoning_tokens > 0


@row("D31")
def _():
    create("reason-field", reasoning_effort="high")
    assert "high" in [r.get("reasoning_effort") for r in asked("reason-field")]
    e = failure(lambda: create("reason-field", reasoning_effort="max"))
    assert e.status_code == 400 and re.search("low.*medium.*high", str(e))


def recording():
    """Returns a WAV file with two seconds of 4 000 samples of two bytes."""
    out = io.BytesIO()
    with wave.open(out, "wb") as w:
        w.setparams((1, 2, 4000, 0, "NONE", ""))
        w.writeframes(b"\x00\x40" * 8000)
    return out.getvalue()


wav = recording()


@row("G47")
def _():
    hear = sdk.audio.transcriptions.create
    assert hear(model=model("ears"), file=("a.wav", wav)).text == "one two"
    assert hear(model=model("ears"), file=("a.wav", wav), response_format="text") == "one two\n" or groq
    a = hear(model=model("ears"), file=("a.wav", wav), response_format="verbose_json", language="en", prompt="Ada", temperature=0.5,
             timestamp_granularities=["word", "segment"])
    words = [w if isinstance(w, dict) else w.model_dump() for w in a.words]
    assert [w["word"] for w in words] == ["one", "two"] and words[1]["end"] == 2 and len(a.segments) == 1, a
    assert sdk.audio.translations.create(model=model("ears"), file=("a.wav", wav)).text == "one two"


@row("G48")
def _():
    if groq:
        url = "data:audio/wav;base64," + base64.b64encode(wav).decode()
        assert sdk.audio.transcriptions.create(model=model("ears"), url=url).text == "one two"
    e = failure(lambda: sdk.audio.transcriptions.create(model=model("ears"), file=("a.wav", b"#EXTM3U")))
    assert e.status_code == 400 and "by its content" in str(e)


@row("G49")
def _():
    with sdk.audio.speech.with_streaming_response.create(model=model("voice"), input="one two three", voice="alloy", response_format="mp3") as r:
        assert b"".join(r.iter_bytes()) == b"one two three" and r.headers["content-type"] == "audio/mpeg"


@row("G50")
def _():
    default = sdk.embeddings.create(model=model("vector"), input=["one", "two of them"])
    numbers = sdk.embeddings.create(model=model("vector"), input=["one", "two of them"], encoding_format="float")
    assert [len(e.embedding) for e in numbers.data] == [8, 8] and numbers.data[1].embedding[0] == 11
    assert [list(e.embedding) for e in default.data] == [e.embedding for e in numbers.data]
    assert numbers.usage.prompt_tokens == 4 and numbers.model == model("vector")


run()
