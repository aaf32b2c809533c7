"""Checks Anthropic's SDK for Python on /v1/messages, with whole answers and with its helpers for streams."""
import asyncio
import os

import anthropic
from pydantic import BaseModel

key, base = os.environ["COMPAT_KEY"], os.environ["COMPAT_BASE"]
sdk = anthropic.Anthropic(api_key=key, base_url=base, max_retries=0)
weather = {"name": "weather", "description": "The weather of a city", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}
pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
thinking = {"type": "enabled", "budget_tokens": 1024}
turns = 'think Which city? | weather {"city": "Oslo"}\nthink And the sea? | say One more. | weather {"city": "Rome"}'


class Person(BaseModel):
    name: str
    age: int


def user(content="Hi"):
    return [{"role": "user", "content": content}]


def create(model, messages=None, client=sdk, **body):
    return client.messages.create(**{"model": model, "max_tokens": 2048, "messages": messages or user(), **body})


def streamed(model, messages=None, client=sdk, **body):
    """Returns the message that the SDK's helper joins from the events."""
    with client.messages.stream(**{"model": model, "max_tokens": 2048, "messages": messages or user(), **body}) as stream:
        list(stream)
        return stream.get_final_message()


def failure(fn, kind):
    """Returns the exception of a kind that a call must raise."""
    try:
        fn()
    except kind as e:
        return e
    raise AssertionError(f"the call raised nothing, want {kind}")


# Text, whole and streamed, in blocking and asynchronous clients, with each header for a key.
for send in [create, streamed]:
    a = send("hello", system=[{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
             stop_sequences=["END"], metadata={"user_id": "u"}, service_tier="auto")
    assert a.content[0].text == "Hello, world!" and len(a.content) == 1 and a.model == "hello", a
    assert (a.stop_reason, a.stop_sequence, a.role, a.type) == ("end_turn", None, "assistant", "message"), a
    assert a.usage.input_tokens == 11 and a.usage.output_tokens == 4 and a.usage.cache_read_input_tokens == 0, a.usage
bearer = anthropic.Anthropic(api_key=None, auth_token=key, base_url=base, max_retries=0)
assert create("hello", client=bearer, extra_headers={"anthropic-beta": "of-a-later-year"})._request_id.startswith("req_")
assert create("tools-plan", user("length")).stop_reason == "max_tokens"


async def texts():
    async with anthropic.AsyncAnthropic(api_key=key, base_url=base) as c:
        async with c.messages.stream(model="hello", max_tokens=9, messages=user()) as stream:
            return "".join([t async for t in stream.text_stream])


assert asyncio.run(texts()) == "Hello, world!"
image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": pixel}}
note = {"type": "document", "title": "Note", "source": {"type": "text", "media_type": "text/plain", "data": "A note."}}
assert create("hello", user([image, note, {"type": "text", "text": "What is it?"}])).content[0].text == "Hello, world!"

# Three turns with thoughts and calls. The client sends the signatures of the thoughts back.
history = user(turns)
for send, city in [(create, "Oslo"), (streamed, "Rome")]:
    a = send("tools-plan", history, tools=[weather], thinking=thinking)
    assert [b.type for b in a.content] == ["thinking"] + ["text"] * (city == "Rome") + ["tool_use"], a.content
    call = a.content[-1]
    assert a.stop_reason == "tool_use" and call.input == {"city": city} and a.content[0].signature, a
    result = {"type": "tool_result", "tool_use_id": call.id, "content": [{"type": "text", "text": f"rain in {city}"}]}
    history += [{"role": "assistant", "content": a.content}, *user([result])]
assert create("tools-plan", history, tools=[weather], thinking=thinking).content[0].text == "The tool says: rain in Rome"
history[1]["content"][0].signature = history[1]["content"][0].signature[:-4] + "AAAA"
e = failure(lambda: create("tools-plan", history, tools=[weather]), anthropic.BadRequestError)
assert "messages[1].content[0].signature" in str(e), e
two = streamed("tools-plan", user('weather {"city": "Oslo"} | weather {"city": "Rome"}'), tools=[weather], tool_choice={"type": "any"})
assert [b.input["city"] for b in two.content] == ["Oslo", "Rome"] and len({b.id for b in two.content}) == 2, two
assert sdk.messages.parse(model="json", max_tokens=99, messages=user(), output_format=Person).parsed_output == Person(name="Ada", age=36)

# The SDK itself runs the tools, with the beta address.


@anthropic.beta_tool
def look(city: str) -> str:
    """The weather of a city."""
    return f"rain in {city}"


last = sdk.beta.messages.tool_runner(model="tools-plan", max_tokens=99, messages=user('look {"city": "Oslo"}'), tools=[look]).until_done()
assert last.content[0].text == "The tool says: rain in Oslo", last

# Built-in tools. The server adds their calls and results to the answer.
with_tools = anthropic.Anthropic(api_key=key, base_url=os.environ["COMPAT_TOOLS_BASE"], max_retries=0)
search = [{"type": "web_search_20250305", "name": "web_search"}, {"type": "web_fetch_20250910", "name": "web_fetch"}]
plan = os.environ["COMPAT_TOOLS_MODEL"]
code = [{"type": "code_execution_20250825", "name": "code_execution"}]
finding = 'browser_search {"query": "paper"}\nbrowser_open {"id": 0}\nsay Cai Lun made it.'
for send in [create, streamed]:
    a = send(plan, user(finding), client=with_tools, tools=search)
    found, fetched = a.content[1].content[0], a.content[3].content
    assert [b.type for b in a.content] == ["server_tool_use", "web_search_tool_result", "server_tool_use", "web_fetch_tool_result", "text"], a
    assert a.content[0].input == {"query": "paper"} and found.url.endswith("/page") and found.title == "Paper", a
    assert fetched.url == found.url and "Cai Lun made paper." in fetched.content.source.data and a.content[4].text == "Cai Lun made it.", a
    assert (a.usage.server_tool_use.web_search_requests, a.usage.server_tool_use.web_fetch_requests) == (1, 1), a.usage
    a = send(plan, user('python {"code": "print(6 * 7)"}\nsay It is 42.'), client=with_tools, tools=code)
    assert [b.type for b in a.content] == ["server_tool_use", "code_execution_tool_result", "text"], a
    ran = a.content[1].content
    assert (a.content[0].input["code"], ran.stdout.strip(), ran.return_code, a.stop_reason) == ("print(6 * 7)", "42", 0, "end_turn"), a
e = failure(lambda: create("hello", tools=code), anthropic.BadRequestError)
assert "code_interpreter" in str(e), e

# Counts, models, errors.
assert sdk.messages.count_tokens(model="hello", messages=user("Twelve bytes")).input_tokens == 10
models = list(sdk.models.list())
assert {"hello", "tools-plan"} <= {m.id for m in models} and models[0].type == "model" and models[0].created_at, models
assert sdk.models.retrieve("hello").display_name == "hello"
for fn, kind, status, name in [
    (lambda: create("none"), anthropic.NotFoundError, 404, "not_found_error"),
    (lambda: create("hello", max_tokens=0), anthropic.BadRequestError, 400, "invalid_request_error"),
    (lambda: create("hello", client=sdk.with_options(api_key="wrong")), anthropic.AuthenticationError, 401, "authentication_error"),
    (lambda: create("busy"), anthropic.InternalServerError, 529, "overloaded_error"),
    (lambda: streamed("busy"), anthropic.InternalServerError, 529, "overloaded_error"),
    (lambda: create("context"), anthropic.BadRequestError, 400, "invalid_request_error"),
    (lambda: create("hello", [*user(), {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}]),
     anthropic.BadRequestError, 400, "invalid_request_error"),
]:
    e = failure(fn, kind)
    assert e.status_code == status and e.body["error"]["type"] == name and e.request_id == e.body["request_id"], e
assert "prompt is too long" in str(failure(lambda: create("context"), anthropic.BadRequestError))
e = failure(lambda: streamed("cut"), anthropic.APIStatusError)
assert e.body["error"]["type"] == "api_error", e
