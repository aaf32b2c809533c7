"""The cases of built-in tools, several answers and text completions."""
from rows import calls_of, content_of, counting, finding, mixed, model, row, tools_base, user, weather, without
from sdk_ask import at, create, groq, open_sdk, sdk

if groq:
    from groq.types.chat.chat_completion_message import ExecutedTool


def run_tools(plan, **body):
    return create("tools-plan", open_sdk(base_url=at(tools_base)), messages=user(plan), **body)


def executed_of(message):
    """Returns the calls of built-in tools. Only Groq's SDK has a type for them."""
    calls = message.executed_tools or []
    if groq:
        assert all(isinstance(e, ExecutedTool) for e in calls)
    return [e if isinstance(e, dict) else e.model_dump() for e in calls]


@row("T1")
def _():
    message = run_tools(counting, tools=[{"type": "code_interpreter"}]).choices[0].message
    chunks = list(run_tools(counting, tools=[{"type": "code_interpreter", "container": {"type": "auto"}}], stream=True))
    streamed = [e for c in chunks for e in (executed_of(c.choices[0].delta) if getattr(c.choices[0].delta, "executed_tools", None) else [])]
    for said, executed in [(message.content, executed_of(message)), (content_of(chunks), streamed)]:
        assert said == "Counting.\n\nIt is 42." and len(executed) == 1, (said, executed)
        e = executed[0]
        assert (e["index"], e["type"], e["name"], e["output"].strip()) == (0, "function", "python", "42"), e
        assert e["arguments"] == '{"code": "print(6 * 7)"}'
    assert not message.tool_calls and not calls_of(chunks) and len({c.id for c in chunks}) == 1


@row("T2")
def _():
    message = run_tools(finding, tools=[{"type": "browser_search"}], tool_choice={"type": "browser_search"}).choices[0].message
    search, page = executed_of(message)
    assert search["name"] == "browser.search" and search["search_results"]["results"][0]["title"] == "Paper", search
    assert page["name"] == "browser.open" and "Cai Lun" in page["output"] and page["browser_results"][0]["url"].endswith("/page"), page
    note = message.annotations[0] if isinstance(message.annotations[0], dict) else message.annotations[0].model_dump()
    cited = note["url_citation"]
    assert cited["url"].endswith("/page") and message.content[cited["start_index"]:cited["end_index"]].startswith("【1†")


@row("T3")
def _():
    a = run_tools(mixed, tools=[{"type": "code_interpreter"}, weather])
    message = a.choices[0].message
    assert [c.function.name for c in message.tool_calls] == ["weather"] and len(executed_of(message)) == 1
    assert a.choices[0].finish_reason == "tool_calls"


@row("T4")
def _():
    a = create("many", n=2, logprobs=True, top_logprobs=1)
    assert [c.message.content for c in a.choices] == ["Answer number 0", "Answer number 1"]
    assert [t.token for t in a.choices[1].logprobs.content] == ["Answer", " number", " 1"]
    chunks = list(create("many", n=2, stream=True))
    said = {}
    for c in chunks:
        for choice in c.choices:
            said[choice.index] = said.get(choice.index, "") + (choice.delta.content or "")
    assert said == {0: "Answer number 0", 1: "Answer number 1"}


if groq:
    without("Groq's clients have chat completions only", "T5")
else:

    @row("T5")
    def _():
        a = sdk.completions.create(model=model("many"), prompt=["One", "Two"], logprobs=1)
        assert [c.text for c in a.choices] == ["Answer number 0", "Answer number 1"] and a.object == "text_completion"
        assert a.choices[1].logprobs.tokens == ["Answer", " number", " 1"] and a.usage.completion_tokens == 6
        chunks = list(sdk.completions.create(model=model("many"), prompt="One", stream=True))
        assert "".join(c.choices[0].text for c in chunks) == "Answer number 0" and chunks[-1].choices[0].finish_reason == "stop"
