"""Let a task work on files and with commands of your own: nothing of this machine is read, changed or run."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import halocline


class Drafts:
    """Files in memory; a database or a bucket is no different."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = {str(Path.cwd() / name): text for name, text in texts.items()}

    async def read(self, path: Path) -> bytes:
        if str(path) not in self.texts:
            raise FileNotFoundError(path)
        return self.texts[str(path)].encode()

    async def write(self, path: Path, data: bytes) -> None:
        self.texts[str(path)] = data.decode()

    async def remove(self, path: Path) -> None:
        del self.texts[str(path)]

    async def list(self, path: Path) -> list[str]:
        names = [name.removeprefix(f"{path}/") for name in self.texts if name.startswith(f"{path}/")]
        if not names:
            raise FileNotFoundError(path)
        return sorted({name.partition("/")[0] + "/" * ("/" in name) for name in names})


class Container:
    """Commands elsewhere: here, by `docker exec` in a container that runs already."""

    async def run(self, command: str, folder: Path, on_output: Callable[[str], None]) -> halocline.CommandResult:
        words = ["docker", "exec", "box", "bash", "-c", command]
        running = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
        output, _ = await running.communicate()
        return halocline.CommandResult(running.returncode, output.decode())


async def main() -> None:
    drafts = Drafts({"letter.txt": "Dear customer,\n"})
    host = halocline.Host(files=drafts, shell=Container())
    done = await halocline.run("Sign letter.txt.", host=host, approval_mode="accept-edits")
    print(done.text)
    print(*drafts.texts.values())


if __name__ == "__main__":
    asyncio.run(main())
