"""Explains a failed command that may lack an environment variable withheld as a secret. Pure."""

import re
from collections.abc import Sequence

from halocline.protocol.child_environment import matches_any

_MOST = 5
_NEEDS = {
    ("gh",): ("GH_*", "GITHUB_*"),
    ("glab",): ("GITLAB_*", "GL_*"),
    ("git", "git-lfs"): ("GH_TOKEN", "GITHUB_TOKEN", "GITLAB_TOKEN", "GIT_*"),
    ("npm", "npx", "pnpm", "yarn", "bun", "node"): ("NPM_*", "npm_config_*", "NODE_AUTH_TOKEN", "YARN_*"),
    ("pip", "pip3", "uv", "poetry", "twine", "hatch"): ("PIP_*", "UV_*", "POETRY_*", "TWINE_*", "HATCH_*", "PYPI_*"),
    ("cargo",): ("CARGO_*", "CRATES_IO_TOKEN"),
    ("gem", "bundle"): ("GEM_*", "BUNDLE_*", "RUBYGEMS_*"),
    ("aws", "sam", "cdk", "serverless", "sls", "eksctl"): ("AWS_*",),
    ("gcloud", "gsutil", "bq"): ("GOOGLE_*", "GCLOUD_*", "CLOUDSDK_*"),
    ("az", "azd", "func"): ("AZURE_*", "ARM_*"),
    ("docker", "podman", "buildah", "skopeo"): ("DOCKER_*", "REGISTRY_*", "CR_PAT", "GITHUB_TOKEN"),
    ("kubectl", "helm", "k9s", "flux", "argocd"): ("KUBE*", "HELM_*", "ARGOCD_*", "AWS_*"),
    ("terraform", "tofu", "terragrunt", "packer"): (
        *("TF_*", "AWS_*", "ARM_*", "GOOGLE_*", "CLOUDFLARE_*", "DIGITALOCEAN_*", "HCP_*", "PKR_*"),
    ),
    ("pulumi",): ("PULUMI_*", "AWS_*", "ARM_*", "GOOGLE_*"),
    ("ansible", "ansible-playbook", "ansible-vault"): ("ANSIBLE_*",),
    ("vault", "bao"): ("VAULT_*", "BAO_*"),
    ("op",): ("OP_*",),
    ("psql", "pg_dump", "pg_restore", "createdb", "pgcli"): ("PG*", "POSTGRES*", "DATABASE_URL"),
    ("mysql", "mysqldump", "mariadb"): ("MYSQL*", "MARIADB*", "DATABASE_URL"),
    ("redis-cli",): ("REDIS*",),
    ("mongosh", "mongo", "mongodump"): ("MONGO*",),
    ("prisma", "alembic", "rails", "rake", "manage.py", "django-admin", "flask", "sqlx", "diesel"): (
        *("DATABASE_URL", "DB_*", "PG*", "SECRET_KEY*", "DJANGO_*", "RAILS_*"),
    ),
    ("heroku",): ("HEROKU_*",),
    ("vercel", "vc"): ("VERCEL_*",),
    ("netlify",): ("NETLIFY_*",),
    ("wrangler",): ("CLOUDFLARE_*", "CF_*"),
    ("fly", "flyctl"): ("FLY_*",),
    ("doctl",): ("DIGITALOCEAN_*",),
    ("hcloud",): ("HCLOUD_*",),
    ("sentry-cli",): ("SENTRY_*",),
    ("huggingface-cli", "hf"): ("HF_*", "HUGGING*"),
    ("wandb",): ("WANDB_*",),
    ("kaggle",): ("KAGGLE_*",),
    ("stripe",): ("STRIPE_*",),
    ("restic", "borg", "rclone"): ("RESTIC_*", "BORG_*", "RCLONE_*", "AWS_*", "B2_*"),
    ("codecov", "coveralls"): ("CODECOV_*", "COVERALLS_*"),
    ("goreleaser", "semantic-release", "release-please"): ("GITHUB_TOKEN", "GH_TOKEN", "NPM_TOKEN", "GITLAB_TOKEN"),
}
"""Patterns of the variables that programs use to sign in."""
_SIGN_IN = (
    r"(?i)\b40[13]\b|auth|credential|log(?:ged)?[ -]?in\b|sign(?:ed)?[ -]?in\b|forbidden|denied|permission|passw"
    r"|(?:api|access|secret|session|deploy)[ _-]?(?:token|key)|token (?:is |was )?(?:required|missing|invalid|not)"
    r"|not set|no token"
)
"""Phrases in the output of programs that are not signed in."""
_PROXY_SAYS = r"(?i)\b407\b|proxy authentication"
_WORD = r"[A-Za-z0-9_.-]+"


def withheld_note(command: str, output: str, exit_code: int | None, withheld: Sequence[str]) -> str:
    """Name the withheld variables that this command seems to need, and how to pass them; empty if none."""
    names = [name for name in withheld if _is_wanted(name, command, output, failed=bool(exit_code))]
    if not names:
        return ""
    listed = ", ".join(f'"{name}"' for name in names[:_MOST])
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return (
        f"withheld because it looks like a secret: {', '.join(names[:_MOST])}{more}; if the command needs it, "
        f"pass_environment = [{listed}] in the user's settings passes it on"
    )


def _is_wanted(name: str, command: str, output: str, *, failed: bool) -> bool:
    """True if the command names the variable, or failed and its output or its program suggests it."""
    if _names_variable(command, name):
        return True
    if not failed:
        return False
    is_proxy = name.lower().endswith("_proxy")
    if _names_variable(output, name) or (is_proxy and re.search(_PROXY_SAYS, output)):
        return True
    if not re.search(_SIGN_IN, output):
        return False
    words = set(re.findall(_WORD, command))
    return any(words.intersection(programs) and matches_any(name, wanted) for programs, wanted in _NEEDS.items())


def _names_variable(text: str, name: str) -> bool:
    return name in text and bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text))
