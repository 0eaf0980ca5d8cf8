"""`halo doctor`: what works here, and what to do about the rest."""

import argparse
import asyncio
import sys

from halocline._version import __version__
from halocline.controller.doctor import Finding, examine
from halocline.surfaces.cli.exit_codes import ExitCode
from halocline.surfaces.cli.run import workspace_of
from halocline.surfaces.cli.telling import folded


def command(arguments: argparse.Namespace) -> int:
    findings = asyncio.run(examine(workspace_of(arguments.cwd)))
    print(f"halo {__version__}\n")
    for finding in findings:
        print(folded(finding.text, f"  {_mark(finding)} {finding.name:<12} ", sys.stdout))
        if not finding.ok:
            print(folded(finding.hint, " " * 17, sys.stdout))
    return ExitCode.ERROR if any(finding.needed and not finding.ok for finding in findings) else ExitCode.FINISHED


def _mark(finding: Finding) -> str:
    if finding.ok:
        return "✓"
    return "✗" if finding.needed else "–"
