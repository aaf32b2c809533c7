"""The cases of the Responses API, which only OpenAI's SDK has."""
import asyncio

from pydantic import BaseModel
from rows import counting, failure, finding, model, pixel, row, tools_base, weather, without
from sdk_ask import AsyncSDK, at, error_of, groq, open_sdk, sdk

flat = {"type": "function", "strict": False, **weather["function"]}
turns = 'think Which city? | weather {"city": "Oslo"}\nthink And the sea? | say One more. | weather {"city": "Rome"}'


class Person(BaseModel):
    name: str
    age: int


def respond(scenario, said="Hi", client=sdk, **body):
    return client.responses.create(**{"model": model(scenario), "input": said, **body})


def streamed(scenario, said="Hi", client=sdk, **body):
    """Returns the events of a stream, and the response that the SDK's helper joins from them."""
    with client.responses.stream(**{"model": model(scenario), "input": said, **body}) as stream:
        return list(stream), stream.get_final_response()


def kinds(response):
    return [item.type for item in response.output]


if groq:
    without("Groq's clients have chat completions only", "R1", "R2", "R3", "R4", "R5", "R6")
else:

    @row("R1")
    def _():
        a = respond("hello", store=True, metadata={"a": "b"}, instructions="Be brief.", max_output_tokens=50, temperature=0.5,
                    truncation="auto", text={"verbosity": "low"}, prompt_cache_key="k", safety_identifier="s", top_p=0.9)
        assert a.output_text == "Hello, world!" and a.status == "completed" and a.metadata == {"a": "b"} and a.store is False
        assert a.usage.total_tokens == a.usage.input_tokens + a.usage.output_tokens and a.usage.input_tokens_details.cached_tokens == 0
        events, whole = streamed("echo", "one two three", top_logprobs=0, stream_options={"include_obfuscation": False})
        assert whole.output_text == "one two three" and [e.sequence_number for e in events] == list(range(len(events)))
        asked_with = [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": [
            {"type": "input_text", "text": "What is it?"}, {"type": "input_image", "image_url": pixel, "detail": "low"}]}]
        assert respond("whole", asked_with).output_text == "Hello, world!"

        async def again():
            async with open_sdk(AsyncSDK) as c:
                async with c.responses.stream(model=model("echo"), input="one two three") as stream:
                    return (await stream.get_final_response()).output_text

        assert asyncio.run(again()) == "one two three"

    @row("R2")
    def _():
        items, sealed = [{"role": "user", "content": turns}], {"include": ["reasoning.encrypted_content"], "tools": [flat]}
        for turn, (city, said) in enumerate([("Oslo", ""), ("Rome", "One more.")]):
            _, a = streamed("tools-plan", items, **sealed) if turn else ([], respond("tools-plan", items, **sealed))
            assert kinds(a) == ["reasoning"] + ["message"] * bool(said) + ["function_call"], a.output
            assert a.output[0].encrypted_content and a.output_text == said and city in a.output[-1].arguments
            items += a.output
            items.append({"type": "function_call_output", "call_id": a.output[-1].call_id, "output": f"rain in {city}"})
        assert respond("tools-plan", items, **sealed).output_text == "The tool says: rain in Rome"
        items[1].encrypted_content = items[1].encrypted_content[::-1]
        e = failure(lambda: respond("tools-plan", items, **sealed))
        assert e.status_code == 400 and e.param == "input[1].encrypted_content", e
        _, a = streamed("tool-parallel", tools=[flat])
        assert [c.arguments for c in a.output] == ['{"city":"Oslo"}', '{"city":"Rome"}'] and len({c.id for c in a.output}) == 2

    @row("R3")
    def _():
        tools = [{"type": "custom", "name": "apply_patch", "format": {"type": "grammar", "syntax": "lark", "definition": "start: x"}},
                 {"type": "namespace", "name": "agents", "description": "Agents.", "tools": [{"type": "function", "name": "wait", "parameters": {"type": "object"}}]}]
        plan = 'apply_patch {"input": "*** \\"a\\""} | agents__wait {"ms": 1}'
        for a in [respond("tools-plan", plan, tools=tools), streamed("tools-plan", plan, tools=tools)[1]]:
            patch, call = a.output
            assert (patch.type, patch.name, patch.input) == ("custom_tool_call", "apply_patch", '*** "a"'), patch
            assert (call.type, call.name, call.namespace) == ("function_call", "wait", "agents"), call
        items = [{"role": "user", "content": plan}, patch, call,
                 {"type": "custom_tool_call_output", "call_id": patch.call_id, "output": "patched"},
                 {"type": "function_call_output", "call_id": call.call_id, "output": "waited"}]
        assert respond("tools-plan", items, tools=tools).output_text == "The tool says: waited"

    @row("R4")
    def _():
        assert sdk.responses.parse(model=model("json"), input="Hi", text_format=Person).output_parsed == Person(name="Ada", age=36)
        _, a = streamed("json", text_format=Person)
        assert a.output_parsed == Person(name="Ada", age=36)
        assert respond("json", text={"format": {"type": "json_object"}}).output_text.startswith('{"name"')

    @row("R5")
    def _():
        c = open_sdk(base_url=at(tools_base))
        search = {"tools": [{"type": "web_search"}], "include": ["web_search_call.action.sources"], "tool_choice": {"type": "web_search"}}
        for a in [respond("tools-plan", finding, c, **search), streamed("tools-plan", finding, c, **search)[1]]:
            assert kinds(a) == ["web_search_call", "web_search_call", "message"], a.output
            assert a.output[0].action.query == "paper" and a.output[0].action.sources[0].url.endswith("/page")
            assert a.output[1].action.type == "open_page" and a.output[1].action.url.endswith("/page")
            note = a.output[2].content[0].annotations[0]
            assert note.url.endswith("/page") and a.output_text[note.start_index:note.end_index].startswith("【1†")
        code = {"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}], "include": ["code_interpreter_call.outputs"]}
        for a in [respond("tools-plan", counting, c, **code), streamed("tools-plan", counting, c, **code)[1]]:
            assert kinds(a) == ["message", "code_interpreter_call", "message"] and a.output[-1].content[0].text == "It is 42.", a.output
            assert a.output[1].code == "print(6 * 7)" and a.output[1].outputs[0].logs.strip() == "42"
        e = failure(lambda: respond("hello", tools=[{"type": "code_interpreter", "container": {"type": "auto"}}]))
        assert e.status_code == 400 and e.code == "tool_unavailable", e

    @row("R6")
    def _():
        a = respond("length")
        assert a.status == "incomplete" and a.incomplete_details.reason == "max_output_tokens"
        assert [e.type for e in respond("length", stream=True)][-1] == "response.incomplete"
        last = list(respond("error-frame", stream=True))[-1]
        assert last.type == "response.failed" and last.response.error.code == "server_error" and last.response.output[0].status == "incomplete"
        for scenario, body, code in [("hello", {"previous_response_id": "resp_1"}, "invalid_option"), ("hello", {"background": True}, "invalid_option"),
                                     ("context", {}, "context_length_exceeded")]:
            e = failure(lambda: respond(scenario, **body))
            assert e.status_code == 400 and error_of(e)["code"] == code, e
        assert sdk.responses.input_tokens.count(model=model("hello"), input="Twelve bytes").input_tokens == 10
