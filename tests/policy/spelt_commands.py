"""One command in every spelling: programs with sub-commands, their global options, and what may stand around them."""

VERBS = {
    "git": "push",
    "npm": "publish",
    "pnpm": "publish",
    "yarn": "publish",
    "cargo": "publish",
    "go": "install",
    "docker": "push",
    "podman": "push",
    "kubectl": "delete",
    "helm": "uninstall",
    "gh": "release",
    "aws": "s3",
    "gcloud": "compute",
    "az": "vm",
    "terraform": "destroy",
    "pip": "install",
    "pip3": "install",
    "uv": "publish",
    "poetry": "publish",
    "systemctl": "stop",
    "brew": "uninstall",
    "apt": "remove",
    "apt-get": "remove",
    "dotnet": "publish",
    "mvn": "deploy",
    "gradle": "publish",
    "rustup": "uninstall",
    "conda": "remove",
}
"""A verb of each program that a person may deny."""
OPTIONS = {
    "git": """
    -C . | -C sub | -c a.b=c | -c core.x=y | --git-dir=.git | --git-dir .git | --work-tree=. | --work-tree .
    | --no-pager | -P | -p | --paginate | --bare | --literal-pathspecs | --glob-pathspecs |
    --noglob-pathspecs | --icase-pathspecs | --no-replace-objects | --no-optional-locks | --exec-path=/x |
    --namespace=x | --namespace x | --config-env=a.b=X | --config-env a.b=X | --super-prefix=x |
    --no-lazy-fetch | --no-advice | --attr-source=HEAD | --attr-source HEAD | -C . --no-pager -c a.b=c
    """,
    "npm": """
    --prefix . | --prefix=. | -C . | --silent | -s | -w web | --workspace=web | --workspace web |
    --workspaces | -ws | -g | --global | --loglevel silent | --loglevel=silent | -d | -q |
    --registry https://x | --registry=https://x | --userconfig x | --yes | -y | --no-fund | --no-audit |
    --color=always | --cache x | --if-present | --ignore-scripts | --script-shell=x |
    --include-workspace-root
    """,
    "pnpm": """
    -C . | --dir . | --dir=. | -r | --recursive | --filter web | --filter=web | -F web | -w |
    --workspace-root | --silent | -s | --loglevel warn | --reporter=silent | --reporter silent | --color |
    --stream | --aggregate-output | --use-stderr | --config.x=y
    """,
    "yarn": """
    --cwd . | --cwd=. | --silent | -s | --verbose | --json | --offline | --non-interactive | --no-progress |
    --registry https://x | --cache-folder x | --mutex file:x | --use-yarnrc x | --emoji false
    """,
    "cargo": """
    -q | --quiet | -v | -vv | --verbose | --color always | --color=always | --frozen | --locked | --offline |
    --config x=y | --config=x=y | -Z x | -Zx | -C . | +nightly | +stable -q
    """,
    "go": "-C . | -C=.",
    "docker": """
    -H tcp://x | --host tcp://x | --host=tcp://x | -c ctx | --context ctx | --context=ctx | --config x |
    --config=x | -D | --debug | -l debug | --log-level debug | --log-level=debug | --tls | --tlscacert x |
    --tlsverify
    """,
    "podman": """
    -c ctx | --connection ctx | --connection=ctx | --url x | --log-level debug | --log-level=debug | --root x
    | --remote | -r | --storage-opt x | --identity x | --runtime x | --noout
    """,
    "kubectl": """
    -n ns | -nns | --namespace ns | --namespace=ns | --context ctx | --context=ctx | --kubeconfig x |
    --kubeconfig=x | -s https://x | --server=https://x | --server https://x | -v 5 | -v=5 | --v=5 | --token x
    | --as x | --user=x | --cluster x | --request-timeout=5s | --request-timeout 5s |
    --insecure-skip-tls-verify | --warnings-as-errors
    """,
    "helm": """
    -n ns | --namespace ns | --namespace=ns | --kube-context ctx | --kube-context=ctx | --kubeconfig x |
    --debug | --kube-token x | --registry-config x | --repository-cache=x | --burst-limit 5
    """,
    "gh": "-R o/r | --repo o/r | --repo=o/r | --hostname x",
    "aws": """
    --profile p | --profile=p | --region r | --region=r | --output json | --output=json | --no-cli-pager |
    --no-paginate | --debug | --endpoint-url x | --query x | --no-verify-ssl | --no-sign-request |
    --ca-bundle x | --color off | --cli-read-timeout 5
    """,
    "gcloud": """
    --project p | --project=p | --account a | --quiet | -q | --format json | --format=json |
    --verbosity debug | --verbosity=debug | --configuration c | --impersonate-service-account a |
    --user-output-enabled | --log-http | --billing-project p | --trace-token t
    """,
    "az": """
    --subscription s | --subscription=s | -o json | --output json | --output=json | --only-show-errors |
    --verbose | --debug | --query x
    """,
    "terraform": "-chdir=. | -chdir=infra",
    "pip": """
    -q | --quiet | -qq | -v | --verbose | --isolated | --disable-pip-version-check | --no-color | --no-input
    | --proxy x | --proxy=x | --timeout 5 | --cache-dir x | --cert x | --python x | --python=x | --log x |
    --require-virtualenv | --retries 3 | --debug
    """,
    "uv": """
    -q | --quiet | -v | --verbose | --directory . | --directory=. | --project . | --project=. |
    --config-file x | --no-config | --offline | --no-cache | -n | --cache-dir x | --color never |
    --color=never | --no-progress | --native-tls | --allow-insecure-host x
    """,
    "poetry": """
    -q | --quiet | -v | -vv | -n | --no-interaction | -C . | --directory . | --directory=. | -P . |
    --project . | --project=. | --no-plugins | --no-cache | --ansi | --no-ansi
    """,
    "systemctl": """
    --user | --system | --no-pager | -q | --quiet | -H host | --host=host | -M c | --machine=c | --root=x |
    --root x | --force | -f | --now | -t service | --type=service | --no-legend | --no-block |
    --job-mode=fail | --state=x | -l | -a
    """,
    "brew": "-q | --quiet | -v | --verbose | -d | --debug",
    "apt": """
    -y | --yes | -q | -qq | --quiet | -o a=b | -oa=b | -o=a=b | -c x | --config-file=x | -t x |
    --target-release x | -s | -f
    """,
    "dotnet": "-d | --diagnostics | --roll-forward Major | --fx-version 8 | --additionalprobingpath x",
    "mvn": """
    -q | --quiet | -B | --batch-mode | -o | --offline | -ntp | -f pom.xml | --file pom.xml | -pl core | -am |
    -P p | -Pp | -Dx=y | -D x=y | -s x | --settings x | -T 4 | -T4 | -U | -e | -X | -N | -l x | -gs x
    """,
    "gradle": """
    -q | --quiet | -p . | --project-dir . | --project-dir=. | -b x | -c x | --offline | --no-daemon |
    --console plain | --console=plain | -Px=y | -P x=y | -Dx=y | -x test | --stacktrace | -i | -I x |
    --init-script x | -g x | --parallel | --continue
    """,
    "rustup": "-q | --quiet | -v | --verbose | +stable",
    "conda": "-q | --quiet | -v | --verbose | --no-plugins | --debug",
}
"""Real options before the verb of each program, with and without values, glued and apart."""
OPTIONS |= {"pip3": OPTIONS["pip"], "apt-get": OPTIONS["apt"]}
WRAPPERS = {
    "plain": "{0} {1}",
    "path": "/usr/bin/{0} {1}",
    "local path": "/usr/local/bin/{0} {1}",
    "env": "env {0} {1}",
    "env with a variable": "env X=1 {0} {1}",
    "variable": "X=1 {0} {1}",
    "timeout": "timeout 5 {0} {1}",
    "timeout with a flag": "timeout -k 1 5 {0} {1}",
    "command": "command {0} {1}",
    "nice": "nice {0} {1}",
    "nice with a number": "nice -n 5 {0} {1}",
    "nohup": "nohup {0} {1}",
    "time": "time {0} {1}",
    "sh": "sh -c '{0} {1}'",
    "bash": "bash -lc '{0} {1}'",
    "eval": "eval '{0} {1}'",
    "xargs": "echo x | xargs {0} {1}",
    "xargs with flags": "echo x | xargs -n 1 -I % {0} {1} %",
    "find": "find . -exec {0} {1} \\;",
    "sudo": "sudo {0} {1}",
    "sudo with a user": "sudo -u root {0} {1}",
    "pipe": "{0} {1} | cat",
    "behind a pipe": "echo x | {0} {1}",
    "behind": "true && {0} {1}",
    "after": "ls; {0} {1}",
    "subshell": "({0} {1})",
    "block": "{{ {0} {1}; }}",
    "substitution": "echo $({0} {1})",
    "quoted substitution": 'x="$({0} {1})"',
    "if": "if true; then {0} {1}; fi",
    "loop": "for i in 1 2; do {0} {1}; done",
    "function": "f() {{ {0} {1}; }}; f",
    "background": "{0} {1} &",
    "output": "{0} {1} > /dev/null 2>&1",
    "folder": "cd sub && {0} {1}",
    "env and timeout": "env X=1 timeout 5 {0} {1}",
    "quoted name": "'{0}' {1}",
    "escaped name": "\\{0} {1}",
    "process": "cat <({0} {1})",
    "negated": "! {0} {1}",
}
MAY_ASK = frozenset(
    {
        "xargs",
        "xargs with flags",
        "find",
        "sudo",
        "sudo with a user",
        "local path",
        "background",
        "process",
        "nohup",
        "timeout with a flag",
        "eval",
    }
    | {"env with a variable", "variable", "env and timeout", "bash", "function", "quoted substitution"}
)
"""Around a command that is allowed in its bare form, these may add a question."""


def list_options(program: str) -> list[str]:
    return [" ".join(one.split()) for one in OPTIONS[program].split("|")]
