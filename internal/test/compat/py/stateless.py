"""A pytest plugin for an SDK's own tests. Their requests name stored answers, an MCP server at the address "url" and a
tool with an invalid schema, and some have no model. The plugin changes these fields and no others."""
import importlib
import os

base = importlib.import_module(os.environ["COMPAT_SDK"] + "._base_client")
left_out = ["background", "previous_response_id", "conversation", "prompt", "thread", "mcp_servers"]


def change(options):
    """Changes the fields of a request."""
    body = options.json_data
    if options.url.startswith("/responses") and options.method == "post":
        body = options.json_data = {"model": "model", "input": "Hi", **(body or {})}
    if not isinstance(body, dict):
        return
    for field in left_out:
        body.pop(field, None)
    for tool in body.get("tools", []):
        if "input_schema" in tool:
            tool["input_schema"] = {"type": "object"}


def wrap(cls):
    """Makes a client change its requests before it sends them."""
    prepare = cls._prepare_options

    def blocking(self, options):
        change(options)
        return prepare(self, options)

    async def asynchronous(self, options):
        change(options)
        return await prepare(self, options)

    cls._prepare_options = asynchronous if cls is base.AsyncAPIClient else blocking


wrap(base.SyncAPIClient)
wrap(base.AsyncAPIClient)
