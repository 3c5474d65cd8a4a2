"""What `citewell proxy` adds to a streamed answer after its last token: `python -m benchmarks.proxy_latency
[--streams 40]`

A scripted API on this machine streams an answer of five claims to a real client, in turn directly and through
the proxy, which runs as its own process with the embedded models. Added is the time from the last token to
the end of the stream, less the median of the same time without the proxy: the check, the sealing of the
record and the annotations. The first answer of each row is counted by itself.
Out: docs/measurements/proxy_latency.md and .json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from benchmarks.model_speed import CHUNK
from benchmarks.reporting import table, write

MOST_MS = 300
"""The aim, for an answer of five claims."""
FACTS = (
    "Revenue for fiscal 2023 increased {n} % to $5{n}.2 billion.",
    "The company opened {n} stores in Europe during the year.",
    "Gross margin decreased 2{n} basis points because of higher freight costs.",
    "In June 2022 the board approved a programme to repurchase up to ${n} billion of shares.",
    "Inventories were {n} % higher than a year before.",
)
ANSWER = (
    "In fiscal 2023, revenue grew by {n} % to $5{n}.2 billion [1]. {n} new stores were opened in Europe that "
    "year [2]. Higher freight costs lowered the gross margin by 2{n} basis points [3]. The board has allowed "
    "${n} billion of share repurchases since June 2022 [4]. Inventories fell by {n} % [5]."
)
"""The last claim is false. Each stream has its own number: nothing that was read before helps."""
SOURCES = {
    "a sentence each": FACTS,
    "a chunk each": tuple(" ".join([*CHUNK[:6], fact, *CHUNK[6:]]) for fact in FACTS),
}


WORDS_A_SECOND = 50
CHECKERS = {"small and judge (the default)": "embedded", "small": "small"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=20, help="through the proxy, in each row")
    streams = parser.parse_args().streams
    numbers, rows, values = count(10), [], {}
    load, cores = round(os.getloadavg()[0], 1), len(os.sched_getaffinity(0))
    with scripted() as to:
        plain = statistics.median(after_last_token(to, FACTS, next(numbers))[0] for _ in range(streams))
        for checker, entailer in CHECKERS.items():
            with tempfile.TemporaryDirectory() as home, proxied(Path(home), to, entailer) as through:
                for name, sources in SOURCES.items():
                    taken = [after_last_token(through, sources, next(numbers)) for _ in range(streams + 1)]
                    first, *added = (milliseconds - plain for milliseconds, _ in taken)
                    statuses = Counter(claim["status"] for _, mark in taken for claim in mark["claims"])
                    if statuses.total() != 5 * len(taken):
                        raise SystemExit(f"not five claims in each answer: {statuses}")
                    middle, p95 = (
                        statistics.median(added),
                        statistics.quantiles(added, n=20, method="inclusive")[-1],
                    )
                    met = "met" if p95 <= MOST_MS else "in the median" if middle <= MOST_MS else "not met"
                    figures = {"median_ms": middle, "p95_ms": p95, "first_ms": first}
                    rows.append([checker, name, *(f"{one:.0f}" for one in figures.values()), met])
                    values[f"{entailer}, {name}"] = {"n": streams, **figures, "statuses": dict(statuses)}
    heads = ["checker", "sources", "median, ms", "p95, ms", "first answer, ms", f"at most {MOST_MS} ms"]
    words = len(SOURCES["a chunk each"][0].split())
    body = f"""
`python -m benchmarks.proxy_latency --streams {streams}`; cores: {cores}, load before: {load}.

{table(heads, rows)}

Added between the last token of a streamed chat completion and its end, for an answer of five claims over
five sources: check, record and annotations. {streams} different answers a row, streamed at {WORDS_A_SECOND}
words a second; the proxy reads a claim as soon as its sentence has ended. A chunk has {words} words. API,
client and proxy share the machine."""
    write("proxy_latency", "What the proxy adds to an answer", body, {"load": load, "cores": cores, **values})


def after_last_token(to: str, sources: Sequence[str], number: int) -> tuple[float, Any]:
    """Milliseconds from the last token of one streamed answer to its end, and what the proxy says of it."""
    prompt = "\n\n".join(f"[{place}] {text.format(n=number)}" for place, text in enumerate(sources, 1))
    messages = [{"role": "user", "content": f"{prompt}\n\nWhat happened in the year?"}]
    asked = {"model": "m", "stream": True, "seed": number, "messages": messages}
    last, mark = 0.0, {}
    with httpx.stream("POST", f"{to}/v1/chat/completions", json=asked, timeout=60) as reply:
        for line in reply.iter_lines():
            data = line.removeprefix("data: ")
            if data == "[DONE]":
                return (time.perf_counter() - last) * 1000, mark
            event = json.loads(data) if data.startswith("{") else {}
            mark = event.get("citewell") or mark
            if any(choice["delta"].get("content") for choice in event.get("choices", ())):
                last = time.perf_counter()
    raise SystemExit("the stream has no end")


@contextmanager
def scripted() -> Iterator[str]:
    """The address of an API that streams ANSWER, word by word, with the number in ``seed``."""

    async def take(request: Request) -> StreamingResponse:
        number = (await request.json())["seed"]

        async def events() -> AsyncIterator[str]:
            head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
            for word in [*ANSWER.format(n=number).split(" "), ""]:
                delta, end = ({"content": f"{word} "}, None) if word else ({}, "stop")
                choice = {"index": 0, "delta": delta, "finish_reason": end}
                yield f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"
                await asyncio.sleep(1 / WORDS_A_SECOND)
            yield "data: [DONE]\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    app = Starlette(routes=[Route("/{path:path}", take, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@contextmanager
def proxied(home: Path, to: str, entailer: str) -> Iterator[str]:
    """The address of the real command, once it is ready."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = ["--home", str(home), "proxy", "--to", to, "--port", str(port)]
    command = [sys.executable, "-c", "from citewell.cli import main; main()", *words]
    environment = os.environ | {"CITEWELL_ENTAILER": entailer}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 120
        while not _ready(port):
            if time.monotonic() > until or process.poll() is not None:
                raise SystemExit("the proxy did not become ready")
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/proxy"
    finally:
        process.terminate()
        process.wait(60)


def _ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=5).is_success
    except httpx.HTTPError:
        return False


if __name__ == "__main__":
    main()
