"""Checks OpenAI's Agents SDK for Python: its runner with tools, structured output and a stream."""
import asyncio
import os

from agents import Agent, ModelSettings, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI
from openai.types.shared import Reasoning
from pydantic import BaseModel

set_tracing_disabled(True)
client = AsyncOpenAI(base_url=os.environ["COMPAT_BASE"] + "/v1", api_key=os.environ["COMPAT_KEY"], max_retries=0)
plan = 'think Which city? | weather {"city": "Oslo"}\nthink And the sea? | weather {"city": "Rome"} | weather {"city": "Bari"}'


class Person(BaseModel):
    name: str
    age: int


@function_tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"rain in {city}"


def agent(model, **options):
    return Agent(name="Ada", instructions="Be brief.", model=OpenAIResponsesModel(model, client), **options)


async def main():
    settings = ModelSettings(
        reasoning=Reasoning(effort="low", summary="auto"), response_include=["reasoning.encrypted_content"], store=False, parallel_tool_calls=True)
    forecaster = agent("tools-plan", tools=[weather], model_settings=settings)

    result = await Runner.run(forecaster, plan)
    assert result.final_output == "The tool says: rain in Bari", result.final_output
    assert len(result.raw_responses) == 3 and result.context_wrapper.usage.total_tokens > 0

    streamed = Runner.run_streamed(forecaster, plan)
    kinds = [event.item.type async for event in streamed.stream_events() if event.type == "run_item_stream_event"]
    assert streamed.final_output == "The tool says: rain in Bari", streamed.final_output
    assert kinds.count("tool_call_item") == 3 and kinds.count("reasoning_item") == 2 and kinds[-1] == "message_output_item", kinds

    again = await Runner.run(agent("hello"), result.to_input_list() + [{"role": "user", "content": "Thanks"}])
    assert again.final_output == "Hello, world!"
    assert (await Runner.run(agent("json", output_type=Person), "Who?")).final_output == Person(name="Ada", age=36)


asyncio.run(main())
