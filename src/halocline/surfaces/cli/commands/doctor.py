"""`halo doctor`: what works here, and what to do about the rest."""

import argparse
import sys

from halocline._version import __version__
from halocline.client import open_client
from halocline.services.doctor.doctor import Finding, examine, way_to_model
from halocline.surfaces import event_loop
from halocline.surfaces.cli.commands.run import choices_of, workspace_of
from halocline.surfaces.cli.exit_codes import ExitCode
from halocline.surfaces.cli.stderr import folded


def command(arguments: argparse.Namespace) -> int:
    findings = event_loop.run(_findings(arguments))
    print(f"halo {__version__}\n")
    for finding in findings:
        print(folded(finding.text, f"  {_mark(finding)} {finding.name:<12} ", sys.stdout))
        if not finding.ok:
            print(folded(finding.hint, " " * 17, sys.stdout))
    return ExitCode.ERROR if any(finding.needed and not finding.ok for finding in findings) else ExitCode.FINISHED


async def _findings(arguments: argparse.Namespace) -> list[Finding]:
    findings = await examine(workspace_of(arguments.cwd), fix=arguments.fix)
    if arguments.connect or arguments.model:
        findings.append(await way_to_model(open_client(choices_of(arguments)).connection(arguments.model or "")))
    return findings


def _mark(finding: Finding) -> str:
    if finding.ok:
        return "✓"
    return "✗" if finding.needed else "–"
