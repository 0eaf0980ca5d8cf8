"""Five tasks and a person in one folder, all at once, and then restores of random tasks: nobody loses what is theirs.

Every line that anybody writes says who did. A restore of a task may change only files that this task wrote, and every
line of somebody else that was there before must be there after it. A task that is alone with the person may be wrong
about what changed while its command ran, but its plan has to say so.
"""

import asyncio
import os
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.journeys.conftest import NO_SERVERS, YOLO, ScriptedAssembly

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import HaloclineError
from halocline.protocol.messages import Text
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import Controller
from halocline.runtime.history.restore_preview import find_undo_target
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings

TASKS, ROUNDS, RESTORES = 5, 2, 4
SHARED = ("shared-1", "shared-2", "sub/shared-3")
LONGEST = 60.0
WRITER = (
    "import sys,time\ntime.sleep(float(sys.argv[1]))\nfor f in sys.argv[3:]: open(f,'a').write(sys.argv[2]+'\\n')\n"
)
Files = dict[str, tuple[str, ...]]


@dataclass
class Actor:
    """Somebody who writes. `touched` are the files that they wrote, moved or removed."""

    name: str
    chance: random.Random
    touched: set[str] = field(default_factory=set)
    own: list[str] = field(default_factory=list)
    said: int = 0

    def line(self) -> str:
        self.said += 1
        return f"{self.name}:{self.said}"

    def new(self) -> str:
        name = f"{self.chance.choice(('', 'sub/'))}{self.name}-{len(self.own)}"
        self.own.append(name)
        return name

    def any_file(self) -> str:
        return self.chance.choice([*SHARED, *self.own])


def call_of(actor: Actor, writer: Path) -> Call:
    """Something that a task does."""
    match actor.chance.choice(
        ["write", "edit", "print", "append", "remove", "move", "program", "program", "job", "read"]
    ):
        case "write":
            name = actor.new()
            actor.touched.add(name)
            return Call("write_to_file", {"path": name, "content": f"{actor.line()}\n"})
        case "edit":
            name = actor.any_file()
            actor.touched.add(name)
            return Call("replace_in_file", {"path": name, "old_text": "top\n", "new_text": f"top\n{actor.line()}\n"})
        case "print":
            name = actor.new()
            actor.touched.add(name)
            return command(f"printf '{actor.line()}\\n' > {name}")
        case "append":
            name = actor.any_file()
            actor.touched.add(name)
            return command(f"echo {actor.line()} >> {name}")
        case "remove" if actor.own:
            name = actor.chance.choice(actor.own)
            actor.touched.add(name)
            return command(f"rm -f {name}")
        case "move" if actor.own:
            name, other = actor.chance.choice(actor.own), actor.new()
            actor.touched |= {name, other}
            return command(f"mv {name} {other}")
        case "program" | "job" as kind:
            names = [actor.new(), actor.any_file()]
            actor.touched |= set(names)
            wait = actor.chance.choice((0, 0.02, 0.1))
            text = f"{sys.executable} -S {writer} {wait} {actor.line()} {' '.join(names)}"
            return command(text, background=kind == "job")
    return command("ls -R . | wc -l")


def command(text: str, *, background: bool = False) -> Call:
    return Call("execute_command", {"command": text, "requires_approval": False, "background": background})


def person_acts(person: Actor, workspace: Path) -> None:
    """One thing that a person does to any file, as an editor or a file manager does it."""
    files = [path for path in read(workspace) if not path.startswith(".")]
    name = person.chance.choice(files) if files and person.chance.random() < 0.6 else person.new()
    place = workspace / name
    person.touched.add(name)
    try:
        match person.chance.choice(("write", "write", "append", "remove", "rename")):
            case "write":
                new = place.with_name(f"{place.name}~{person.said}")
                new.write_text(f"top\n{person.line()}\n")
                new.rename(place)
            case "append":
                with open(place, "a") as file:
                    file.write(f"{person.line()}\n")
            case "remove" if name not in SHARED:
                place.unlink()
            case "rename" if name not in SHARED:
                other = person.new()
                person.touched.add(other)
                place.rename(workspace / other)
    except FileNotFoundError:
        return


def read(workspace: Path) -> Files:
    """The lines of every file."""
    found: Files = {}
    for place, folders, names in os.walk(workspace):
        folders[:] = [folder for folder in folders if folder != ".git"]
        for name in names:
            path = Path(place, name)
            found[str(path.relative_to(workspace))] = tuple(path.read_text().split("\n"))
    return found


def faults(before: Files, after: Files, actor: Actor) -> list[tuple[str, str]]:
    """What a restore of this actor's did to others, by file."""
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    found = [
        (name, f"{name} was changed, which {actor.name} never wrote") for name in changed if name not in actor.touched
    ]
    kept = {line for lines in after.values() for line in lines}
    for name in changed:
        gone = [line for line in before.get(name, ()) if ":" in line and line not in kept]
        found += [(name, f"{name} lost {line}") for line in gone if not line.startswith(f"{actor.name}:")]
    return found


@dataclass
class Crowd:
    """One run. `undone` counts the files that restores changed, `excused` those of others that the plan had marked."""

    folder: Path
    seed: int
    tasks: int = TASKS
    undone: int = 0
    excused: int = 0
    marked: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    story: list[str] = field(default_factory=list)

    async def play(self) -> None:
        chance = random.Random(self.seed)
        self.workspace, home = self.folder / "project", Home.of({"HALOCLINE_HOME": str(self.folder / "home")})
        self.writer = self.folder / "writer.py"
        self.writer.write_text(WRITER)
        (self.workspace / "sub").mkdir(parents=True)
        for name in SHARED:
            (self.workspace / name).write_text("top\n")
        person = Actor("person", random.Random(chance.random()))
        actors = [Actor(f"task{n}", random.Random(chance.random())) for n in range(self.tasks)]
        settings = Settings(sandbox="off", language_servers=NO_SERVERS)
        clients = {}
        for actor in actors:
            turns = [turn for _ in range(ROUNDS) for turn in self._turns(actor)]
            clients[actor.name] = Client(Controller(ScriptedAssembly(home, settings, turns)), "test")
        try:
            tasks = {name: await client.start(self.workspace, YOLO) for name, client in clients.items()}
            for _ in range(ROUNDS):
                await self._work(person, [(clients[name], task) for name, task in tasks.items()])
                for _ in range(RESTORES):
                    actor = chance.choice(actors)
                    await self._restore(chance, actor, clients[actor.name], tasks[actor.name])
        finally:
            await asyncio.gather(*(client.close() for client in clients.values()))

    def _turns(self, actor: Actor) -> list[Turn]:
        calls = tuple(call_of(actor, self.writer) for _ in range(actor.chance.randint(1, 4)))
        self.story += [f"{actor.name} {call.arguments}" for call in calls]
        return [Turn(text="working", calls=(call,)) for call in calls] + [Turn(text="done")]

    async def _work(self, person: Actor, tasks: list[tuple[Client, str]]) -> None:
        """All tasks answer a prompt while the person goes on with their own work."""
        at_work = asyncio.create_task(self._person(person))
        try:
            async with asyncio.timeout(LONGEST):
                await asyncio.gather(*(prompted(client, task) for client, task in tasks))
                for client, task in tasks:
                    await jobs_end(client, task)
        finally:
            at_work.cancel()

    async def _person(self, person: Actor) -> None:
        while True:
            person_acts(person, self.workspace)
            await asyncio.sleep(person.chance.random() * 0.08)

    async def _restore(self, chance: random.Random, actor: Actor, client: Client, task: str) -> None:
        before = read(self.workspace)
        try:
            undo = await self._back(chance, client, task)
        except HaloclineError as error:
            self.story.append(f"restore of {actor.name}: {error}")
            undo = ""
        self._judge(before, actor, "undo")
        if undo and chance.random() < 0.5:
            before = read(self.workspace)
            await self._mark(client, undo)
            await client.time.restore(self.workspace, undo)
            self._judge(before, actor, "redo")

    async def _mark(self, client: Client, target: str) -> None:
        """Keep which files the plan says to be the task's only because they changed while its command ran."""
        self.marked |= set((await client.time.plan(self.workspace, target)).assumed)

    async def _back(self, chance: random.Random, client: Client, task: str) -> str:
        """Undo one step, or restore or rewind to any moment. Gives what would undo that."""
        store = client.checkpoints(self.workspace)
        infos = await store.list(task)
        match chance.choice(("undo", "restore", "rewind")):
            case "undo":
                step = await find_undo_target(store, task, lambda name: client.time.plan(self.workspace, name))
                target = f"{task}/{step.to.n}" if step else ""
            case "restore":
                target = f"{task}/{chance.choice(infos).n}" if infos else ""
            case _:
                prompts = [event.seq for event in client.past(task) if isinstance(event, ev.TurnStarted)]
                to = chance.choice(prompts) - 1
                await self._mark(client, f"{task}@{to}")
                done = await client.time.go_back(cmd.GoBack(task=task, to=to, conversation=False))
                return done.undo if done else ""
        if not target:
            return ""
        await self._mark(client, target)
        return (await client.time.restore(self.workspace, target)).undo

    def _judge(self, before: Files, actor: Actor, what: str) -> None:
        after = read(self.workspace)
        self.undone += sum(before.get(name) != after.get(name) for name in before.keys() | after.keys())
        found = [(name, fault) for name, fault in faults(before, after, actor) if name not in self.marked]
        self.excused += len(faults(before, after, actor)) - len(found)
        self.faults += [f"seed {self.seed}, {what} of {actor.name}: {fault}" for _, fault in found]


async def prompted(client: Client, task: str) -> None:
    sent = client.state(task).seq
    client.send(cmd.SubmitPrompt(task=task, content=(Text("go"),)))
    async for event in client.events(task, sent):
        if isinstance(event, ev.TurnEnded):
            return


async def jobs_end(client: Client, task: str) -> None:
    """Wait for what a task left running."""
    while client.state(task).jobs.running:
        async for event in client.events(task, client.state(task).seq):
            if isinstance(event, ev.JobEnded):
                break
