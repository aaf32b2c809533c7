"""The SDK of this client, and helpers for its requests."""
import importlib

from rows import base, client, key, model, person, user, weather

groq = client == "groq-python"
sdk_module = importlib.import_module("groq" if groq else "openai")
SDK, AsyncSDK = (sdk_module.Groq, sdk_module.AsyncGroq) if groq else (sdk_module.OpenAI, sdk_module.AsyncOpenAI)


def at(root):
    """Returns the base address of the SDK for a server."""
    return root if groq else root + "/v1"


def open_sdk(cls=SDK, **options):
    return cls(**{"api_key": key, "base_url": at(base), "max_retries": 0, **options})


sdk = open_sdk()
lenient = {"type": "json_schema", "json_schema": {"name": "person", "schema": person, "strict": True}}


def create(scenario, client=sdk, **body):
    return client.chat.completions.create(**{"model": model(scenario), "messages": user(), **body})


def error_of(e):
    """Returns the error object, which only one of the SDKs unwraps."""
    return e.body.get("error", e.body)


def tools(scenario, **body):
    return create(scenario, **{"tools": [weather], **body})
