"""Checks the official MCP SDK for Python on `presswork mcp` and on /mcp, in both modes of its client."""
import asyncio
import os
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

TEXT = "# One\n\n### Three\n"


async def check(client, output):
    """Calls the tools of a server and reads its resources."""
    names = [t.name for t in (await client.list_tools()).tools]
    assert len(names) == 9 and "convert_markdown" in names, names
    seen = []

    async def progress(done, total, message):
        seen.append(done)

    made = await client.call_tool(
        "convert_markdown", {"markdown": TEXT, "theme": "auto", "output": output}, progress_callback=progress)
    assert not made.is_error, made
    assert "1 page" in made.content[0].text and made.content[1].type == "resource_link", made
    assert seen and seen == sorted(seen), seen

    page = await client.call_tool("preview_page", {"markdown": TEXT})
    assert page.content[0].type == "image" and page.content[0].mime_type == "image/png", page

    wrong = await client.call_tool("check_document", {"markdown": TEXT, "theme": "nrod"})
    assert wrong.is_error and 'did you mean "nord"' in wrong.content[0].text, wrong

    found = await client.read_resource("presswork://themes")
    assert "nord (light)" in found.contents[0].text
    prompt = await client.get_prompt("report", {"notes": "sales"})
    assert "sales" in prompt.messages[0].content.text


async def main():
    program, base, key = sys.argv[1], os.environ["COMPAT_BASE"], os.environ["COMPAT_KEY"]

    for mode in ("auto", "legacy"):
        async with Client(StdioServerParameters(command=program, args=["mcp"]), mode=mode) as client:
            await check(client, "python.pdf")
        assert open("python.pdf", "rb").read(5) == b"%PDF-"

        web = httpx2.AsyncClient(headers={"X-API-Key": key}, timeout=60)
        async with Client(streamable_http_client(base + "/mcp", http_client=web), mode=mode) as client:
            await check(client, "python.pdf")


asyncio.run(main())
