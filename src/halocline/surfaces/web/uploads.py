"""Transfers over HTTP instead of frames: file uploads, images, task exports."""

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from halocline.protocol import json_output
from halocline.protocol.errors import HaloclineError
from halocline.surfaces.export.task import Form, export_task
from halocline.surfaces.web import wire
from halocline.surfaces.web.open_tasks import OpenTasks

FORMS = {
    "md": (Form.MARKDOWN, "text/markdown"),
    "html": (Form.HTML, "text/html"),
    "jsonl": (Form.JSONL, "application/jsonl"),
}
LONGEST_NAME = 200
ALONE = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Content security policy of untrusted documents."""


class Uploads:
    """Transfers over HTTP for the tasks of a server."""

    def __init__(self, tasks: OpenTasks) -> None:
        self._tasks = tasks

    async def upload(self, request: Request) -> Response:
        """Prepare a file for a prompt of a task, or of the named model, which may not accept images."""
        task, name = request.query_params.get("task", ""), _printable_name(request.query_params.get("name", "file"))
        try:
            data = await request.body()
        except ClientDisconnect:  # the page left, or sent too much
            return _json_response(
                wire.Refused("", "too_large", f"The upload of {name} is incomplete.", "Attach a smaller file."), 413
            )
        try:
            model = await asyncio.to_thread(self._tasks.model, self._tasks.known(task)) if task else ""
            handing = self._tasks.client.handing
            parts = await handing.file(name, data)
            sees = await handing.takes_images(model or request.query_params.get("model", ""))
            return _json_response({"parts": parts, "sees": sees})
        except HaloclineError as error:
            return _json_response(wire.Refused.of("", error), 422)

    async def picture(self, request: Request) -> Response:
        name = request.path_params["name"].removeprefix("sha256:")
        try:
            kind, data = await asyncio.to_thread(self._tasks.client.handing.kept_picture, f"sha256:{name}")
        except HaloclineError as error:
            return _json_response(wire.Refused.of("", error), 404)
        headers = {"content-security-policy": ALONE, "cache-control": "private, max-age=31536000, immutable"}
        return Response(data, 200, headers, media_type=kind)

    async def export(self, request: Request) -> Response:
        name, _, ending = request.path_params["name"].rpartition(".")
        if ending not in FORMS:
            raise HTTPException(404)
        form, kind = FORMS[ending]
        client = self._tasks.client
        try:
            task = self._tasks.known(name)
            text = await asyncio.to_thread(lambda: export_task(client.past(task), form, client.build_redactor()))
        except HaloclineError as error:
            return _json_response(wire.Refused.of("", error), 404)
        headers = {"content-security-policy": ALONE, "content-disposition": f'attachment; filename="{task}.{ending}"'}
        return Response(text, 200, headers, media_type=kind)


def _json_response(value: object, status: int = 200) -> Response:
    return Response(json_output.encode(value), status, media_type="application/json")


def _printable_name(name: str) -> str:
    return "".join(sign if sign.isprintable() else "_" for sign in name)[:LONGEST_NAME] or "file"
