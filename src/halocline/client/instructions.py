"""Files that instruct the model: rules, skills, agents, memory."""

from halocline.context.user_files.agents import Agent as Agent
from halocline.runtime.rules.memory import (
    Memory as Memory,
    MemoryFile as MemoryFile,
    MemoryNote as MemoryNote,
    parse_note as parse_note,
)
from halocline.services.instructions import (
    InstructionService as InstructionService,
    InstructionVerdict as InstructionVerdict,
    ListedInstruction as ListedInstruction,
)
