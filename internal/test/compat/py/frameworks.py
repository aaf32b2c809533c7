"""Checks LangChain and Pydantic AI in the three wire formats, and LangChain's embeddings."""
import asyncio
import os

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

key, base = os.environ["COMPAT_KEY"], os.environ["COMPAT_BASE"]
plan = 'think Which city? | weather {"city": "Oslo"}\nthink And the sea? | weather {"city": "Rome"}'


class Person(BaseModel):
    name: str
    age: int


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"rain in {city}"


def chat(model, **options):
    return ChatOpenAI(model=model, base_url=base + "/v1", api_key=key, max_retries=0, **options)


def responses(model):
    return chat(model, use_responses_api=True, include=["reasoning.encrypted_content"])


def messages(model):
    return ChatAnthropic(model=model, base_url=base, api_key=key, max_retries=0, max_tokens=2048)


def joined(stream):
    """Returns the sum of the chunks of a stream."""
    whole = None
    for chunk in stream:
        whole = chunk if whole is None else whole + chunk
    return whole


for open_model in [chat, responses, messages]:
    for send in [lambda m, said: m.invoke(said), lambda m, said: joined(m.stream(said))]:
        a = send(open_model("hello"), [SystemMessage("Be brief."), HumanMessage("Hi")])
        assert a.text == "Hello, world!" and a.usage_metadata["output_tokens"] == 4, (open_model, a)

        # A loop with tools. LangChain sends the answers of the model back as it keeps them.
        able, said = open_model("tools-plan").bind_tools([weather]), [HumanMessage(plan)]
        for city in ["Oslo", "Rome"]:
            a = send(able, said)
            call, = a.tool_calls
            assert (call["name"], call["args"]) == ("weather", {"city": city}), (open_model, a)
            said += [a, ToolMessage(weather.invoke(call["args"]), tool_call_id=call["id"])]
        assert send(able, said).text == "The tool says: rain in Rome", open_model

    who = open_model("json").with_structured_output(Person, method="json_schema").invoke("Who?")
    assert who == Person(name="Ada", age=36), (open_model, who)

vectors = OpenAIEmbeddings(model="vector", base_url=base + "/v1", api_key=key, check_embedding_ctx_length=False)
one = vectors.embed_query("a text")
assert vectors.embed_documents(["a text", "another"])[0] == one and len(one) > 1


def forecast(city: str) -> str:
    """The weather of a city."""
    return f"rain in {city}"


openai = OpenAIProvider(openai_client=AsyncOpenAI(base_url=base + "/v1", api_key=key, max_retries=0))
anthropic = AnthropicProvider(base_url=base, api_key=key)


async def main():
    for open_model in [chat, responses, messages]:
        assert "".join([c.text async for c in open_model("echo").astream("one two three")]) == "one two three", open_model

    for kind, provider in [(OpenAIChatModel, openai), (OpenAIResponsesModel, openai), (AnthropicModel, anthropic)]:
        forecaster = Agent(kind("tools-plan", provider=provider), tools=[forecast], instructions="Be brief.")
        prompt = plan.replace("weather", "forecast")
        result = await forecaster.run(prompt)
        assert result.output == "The tool says: rain in Rome" and result.usage().requests == 3, (kind, result)
        thanks = await Agent(kind("hello", provider=provider)).run("Thanks", message_history=result.all_messages())
        assert thanks.output == "Hello, world!", (kind, thanks)
        async with Agent(kind("echo", provider=provider)).run_stream("one two three") as stream:
            assert "".join([piece async for piece in stream.stream_text(delta=True)]) == "one two three", kind


asyncio.run(main())
