"""Checks the SDKs of OpenAI and Anthropic for Python with the tools of an MCP server of models.yaml."""
import os

import anthropic
import openai

key, base = os.environ["COMPAT_KEY"], os.environ["COMPAT_BASE"]
sdk = openai.OpenAI(api_key=key, base_url=base + "/v1", max_retries=0)
claude = anthropic.Anthropic(api_key=key, base_url=base, max_retries=0)
plan = 'say Looking. | maps__city {"Name": "Oslo"} | maps__fail {}\nsay In Norway.'
found = "Oslo is in Norway"


def server(**more):
    return {"type": "mcp", "server_label": "maps", "require_approval": "never", **more}


def failure(fn, kind):
    try:
        fn()
    except kind as e:
        return e
    raise AssertionError(f"the call raised nothing, want {kind}")


def joined(**body):
    """Returns the response that the SDK's helper joins from the events, and the names of the events."""
    with sdk.responses.stream(model="tools-plan", **body) as stream:
        names = [e.type for e in stream]
        return stream.get_final_response(), names


def check_calls(response):
    kinds = ["mcp_list_tools", "message", "mcp_call", "mcp_call", "message"]
    assert [i.type for i in response.output] == kinds, response.output
    listed, _, city, fail, _ = response.output
    assert [t.name for t in listed.tools] == ["city", "fail"] and listed.server_label == "maps", listed
    assert (city.name, city.output, city.status, city.error) == ("city", found, "completed", None), city
    assert (fail.status, fail.error.type, fail.output) == ("failed", "mcp_tool_execution_error", None), fail
    assert response.output_text.endswith("In Norway."), response.output_text
    assert "map-token" not in response.to_json()


body = {"input": plan, "tools": [server()]}
check_calls(sdk.responses.create(model="tools-plan", **body))
streamed, names = joined(**body)
check_calls(streamed)
steps = ["mcp_list_tools.in_progress", "mcp_list_tools.completed", "mcp_call.in_progress", "mcp_call_arguments.delta",
         "mcp_call_arguments.done", "mcp_call.completed", "mcp_call.failed"]
assert {"response." + s for s in steps} <= set(names), names

# The model asks for an approval. The answer does not list the tools again.
turns = [{"role": "user", "content": 'maps__city {"Name": "Oslo"}\nsay In Norway.'}]
tools = [server(require_approval={"always": {"tool_names": ["city"]}})]
first = sdk.responses.create(model="tools-plan", input=turns, tools=tools)
request = first.output[-1]
assert request.type == "mcp_approval_request" and request.name == "city" and first.status == "completed", first
turns += [i.to_dict() for i in first.output]
for approve in (True, False):
    answer = {"type": "mcp_approval_response", "approval_request_id": request.id, "approve": approve}
    second = sdk.responses.create(model="tools-plan", input=turns + [answer], tools=tools)
    kinds = [i.type for i in second.output]
    assert kinds == (["mcp_call", "message"] if approve else ["message"]), second.output
    if approve:
        call = second.output[0]
        assert (call.output, call.approval_request_id) == (found, request.id), call
        third = sdk.responses.create(model="tools-plan", tools=tools, input=turns + [answer] + [
            i.to_dict() for i in second.output] + [{"role": "user", "content": "And?"}])
        assert third.output_text == "The tool says: " + found, third

chat = {"model": "tools-plan", "messages": [{"role": "user", "content": plan}], "tools": [server()]}
executed = sdk.chat.completions.create(**chat).choices[0].message.executed_tools
assert [(e["type"], e["name"], e["server_label"]) for e in executed] == [("mcp", "city", "maps"), ("mcp", "fail", "maps")]
pieces = [c.choices[0].delta for c in sdk.chat.completions.create(**chat, stream=True) if c.choices]
assert found in [e["output"] for p in pieces for e in getattr(p, "executed_tools", None) or []], pieces

for tool, kind, text in (
    (server(connector_id="connector_gmail"), openai.BadRequestError, "connectors of a vendor are not supported"),
    (server(server_label="map"), openai.BadRequestError, 'did you mean "maps"?'),
    (server(allowed_tools=["citty"]), openai.BadRequestError, 'did you mean "city"?'),
    (server(server_url="http://127.0.0.1:9/mcp"), openai.PermissionDeniedError, "is not allowed"),
):
    error = failure(lambda: sdk.responses.create(model="tools-plan", input=plan, tools=[tool]), kind)
    assert text in str(error), error

message = {"model": "tools-plan", "max_tokens": 999, "messages": [{"role": "user", "content": plan}]}
servers = [{"type": "url", "name": "maps", "url": ""}]
toolset = {"type": "mcp_toolset", "mcp_server_name": "maps", "configs": {"fail": {"enabled": True}}}


def blocks(answer):
    assert [b.type for b in answer.content] == ["text", "mcp_tool_use", "mcp_tool_result"] + [
        "mcp_tool_use", "mcp_tool_result", "text"], answer.content
    _, call, result, _, failed, _ = answer.content
    assert (call.name, call.server_name, call.input) == ("city", "maps", {"Name": "Oslo"}), call
    assert (result.tool_use_id, result.is_error, result.content[0].text) == (call.id, False, found), result
    assert failed.is_error and answer.stop_reason == "end_turn", failed


blocks(claude.beta.messages.create(**message, mcp_servers=servers, betas=["mcp-client-2025-04-04"]))
blocks(claude.beta.messages.create(**message, tools=[toolset], betas=["mcp-client-2025-11-20"]))
with claude.beta.messages.stream(**message, mcp_servers=servers, betas=["mcp-client-2025-04-04"]) as stream:
    blocks(stream.get_final_message())

# The next request has the results of the first answer.
answer = claude.beta.messages.create(**message, mcp_servers=servers, betas=["mcp-client-2025-04-04"])
message["messages"] += [{"role": "assistant", "content": [b.to_dict() for b in answer.content]}, {"role": "user", "content": "Why?"}]
again = claude.beta.messages.create(**message, mcp_servers=servers, betas=["mcp-client-2025-04-04"])
assert "the map is lost" in again.content[0].text, again
