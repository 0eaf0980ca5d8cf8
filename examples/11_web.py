"""Answer questions about a project over HTTP: POST the question to /ask, and read the answer as it is written.

It needs Starlette and uvicorn: `pip install starlette uvicorn`, then `uvicorn 11_web:app` beside this file.
"""

from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

import halocline
from halocline import events


async def answer(question: str) -> AsyncIterator[str]:
    """Yield the words of the answer; a client that goes away ends the task's turn."""
    async with halocline.open(mode="plan", max_steps=20, time_limit=120) as task:
        async for event in task.stream(question):
            if isinstance(event, events.TextDelta):
                yield event.text


async def ask(request: Request) -> StreamingResponse:
    question = (await request.body()).decode()
    return StreamingResponse(answer(question), media_type="text/plain")


app = Starlette(routes=[Route("/ask", ask, methods=["POST"])])
