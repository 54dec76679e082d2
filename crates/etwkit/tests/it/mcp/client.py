"""Drives `etwkit mcp` with the client of the package `mcp`, as the steps on the standard input say.

    client.py PROGRAM ARGUMENT… < steps.json > answers.json
    client.py PROGRAM URL TOKEN < steps.json > answers.json    a server that is there already

A step is one of
    {"tools": true}                           protocol, instructions, bytes and names of tools/list
    {"call": TOOL, "arguments": {…}}          the answer; with "progress": true what was reported on the way, too
    {"together": [STEP, …]}                   calls at the same time
    {"give_up": STEP, "after": SECONDS}       a call that the client gives up; CPU of the server afterwards
"""

import json
import os
import pathlib
import sys
import time

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


def cpu_of_children():
    """Seconds of CPU that the server has used; None where the system does not say."""
    try:
        mine = pathlib.Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
        ticks = 0
        for child in mine:
            fields = pathlib.Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")
    except OSError:
        return None


async def call(client, step):
    reported = []

    async def hear(progress, total, message):
        reported.append([progress, total, message])

    begun = time.monotonic()
    result = await client.call_tool(step["call"], step.get("arguments", {}), progress_callback=hear)
    text = "".join(block.text for block in result.content)
    return {
        "answer": result.structured_content,
        "is_error": bool(result.is_error),
        "bytes": len(text.encode()),
        "same_text": json.loads(text) == result.structured_content,
        "seconds": time.monotonic() - begun,
        "progress": reported,
    }


async def perform(client, step):
    if "tools" in step:
        listed = await client.list_tools()
        tools = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed.tools]
        return {
            "protocol": client.protocol_version,
            "instructions": client.instructions,
            "bytes": len(json.dumps({"tools": tools}, ensure_ascii=False).encode()),
            "names": [tool["name"] for tool in tools],
        }
    if "together" in step:
        answers = [None] * len(step["together"])

        async def one(at, step):
            answers[at] = await perform(client, step)

        async with anyio.create_task_group() as group:
            for at, each in enumerate(step["together"]):
                group.start_soon(one, at, each)
        return answers
    if "give_up" in step:
        with anyio.move_on_after(step["after"]) as scope:
            await perform(client, step["give_up"])
        # What computes notices at its next pause.
        await anyio.sleep(2)
        before = cpu_of_children()
        await anyio.sleep(1)
        after = cpu_of_children()
        busy = None if before is None or after is None else after - before
        return {"given_up": scope.cancelled_caught, "busy_seconds": busy}
    try:
        return await call(client, step)
    except Exception as error:  # what the protocol itself refuses
        return {"refused": str(error)}


async def main():
    steps = json.load(sys.stdin)
    program, *arguments = sys.argv[1:]
    if arguments[0].startswith("http"):
        url, token = arguments
        http = create_mcp_http_client(headers={"Authorization": f"Bearer {token}"})
        server = streamable_http_client(url, http_client=http)
    else:
        server = StdioServerParameters(command=program, args=arguments, env=dict(os.environ))
    async with Client(server) as client:
        answers = [await perform(client, step) for step in steps]
    json.dump(answers, sys.stdout)


anyio.run(main)
