"""`halo doctor`: check this machine and setup, with a hint for each problem."""

import argparse
import sys

from halocline._version import __version__
from halocline.client.settings import Finding, check_model, run_checks
from halocline.client.tasks import open_client
from halocline.surfaces import event_loop
from halocline.surfaces.cli.args.task_options import choices_of, workspace_of
from halocline.surfaces.cli.exit_codes import ExitCode
from halocline.surfaces.cli.stderr import fold_text
from halocline.surfaces.folder_lists import describe_finding


def command(arguments: argparse.Namespace) -> int:
    findings = event_loop.run_loop(_collect_findings(arguments))
    print(f"halo {__version__}\n")
    for finding in findings:
        begin, text = describe_finding(finding)
        print(fold_text(text, f"  {begin}", sys.stdout))
        if not finding.ok:
            print(fold_text(finding.hint, " " * 17, sys.stdout))
    return ExitCode.ERROR if any(finding.needed and not finding.ok for finding in findings) else ExitCode.FINISHED


async def _collect_findings(arguments: argparse.Namespace) -> list[Finding]:
    findings = await run_checks(workspace_of(arguments.cwd), fix=arguments.fix)
    if arguments.connect or arguments.model:
        findings.append(await check_model(open_client(choices_of(arguments)).models.connect(arguments.model or "")))
    return findings
