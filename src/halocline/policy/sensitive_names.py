"""The names of secret files, and of files that other programs run or read as configuration: one list for every reader.

All names are lower case, and what is compared with them goes through `fold_case` first, as some disks ignore case. `*`
and `?` are patterns, for the last part of a path only.
"""

import re
from functools import cache, lru_cache

from halocline.protocol.config_locations import OBEYED, OBEYED_AT_HOME
from halocline.protocol.patterns import compile_later

SECRET_FILES = (
    *(".env", ".env.*", ".env-*", ".env_*", ".envrc*", "*.env", ".dev.vars*", "local.settings.json"),
    *(".netrc", "_netrc", ".authinfo*", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".rediscli_auth"),
    *(".npmrc", ".pypirc", ".git-credentials", "auth.json", ".terraformrc", "*.tfrc*", "wp-config.php"),
    *("credentials", ".credentials", "*credential*.json", "*credential*.y*ml", "credential*.toml", "credential*.xml"),
    *("credential*.ini", "credential*.csv", "credential*.txt", "credential*.properties", "credential*.db"),
    *(".secret", ".secrets", "secret*.json", "secret*.y*ml", "secret*.toml", "secret*.xml", "secret*.ini"),
    *("secret*.txt", "secret*.properties", "secret*.env*", "*.secret"),
    *("*service*account*.json", "*adminsdk*.json", "client_secret*.json", "gha-creds-*.json", "gcp*key*.json"),
    *("token.json", "token.pickle", ".databrickscfg", ".s3cfg", ".boto", ".passwd-s3fs", "rclone.conf"),
    *(".smbcredential*", ".msmtprc", ".fetchmailrc", ".offlineimaprc", ".ngrok.yml", "ngrok.yml"),
    *("*_rsa", "*_dsa", "*_ecdsa", "*_ed25519", "*_ecdsa_sk", "*_ed25519_sk", "ssh_host_*_key"),
    *("*.pem", "*.key", "*.ppk", "*.p8", "*.p12", "*.pfx", "*.pkcs12", "*.jks", "*.bks", "*.keystore"),
    *("*.kdbx", "*.kdb", "*.keytab", "*.agekey", "*.ovpn"),
    *(".htpasswd*", ".htdigest*", ".vault-token", "*vault?pass*", ".dockercfg", ".dockerconfigjson"),
    *("kubeconfig*", "*.kubeconfig", "*.tfstate", "*.tfstate.*", "*.tfvars", "*.tfvars.json"),
    *(".*_history", "key4.db", "logins.json", "cookies.sqlite", "login?data"),
)
"""Patterns for file names. Reading a whole folder skips them."""
SECRET_PATHS = (
    *(".docker/config.json", ".kube/config", ".m2/settings.xml", ".m2/settings-security.xml", ".gem/credentials"),
    *(".gradle/gradle.properties", ".config/gh/hosts.yml", ".config/hub", ".mc/config.json", ".snowsql/config"),
    *(".config/sops/age/keys.txt", ".config/git/credentials", ".cargo/credentials.toml", ".svn/auth"),
)
"""Path suffixes, for names that mean nothing on their own."""
SECRET_FOLDERS = (".ssh", ".gnupg", ".aws", ".azure", ".password-store", ".secrets", ".config/gcloud", ".config/op")
"""Folders in which everything counts as secret."""
_SECRET_ENDS = tuple(f"/{end}/" for end in SECRET_PATHS)
_SECRET_WITHIN = tuple(f"/{folder}/" for folder in SECRET_FOLDERS)
KEY_FILES = r".*\.(pem|key|ppk|p8|p12|pfx|pkcs12|jks|bks|keystore|kdbx?|keytab|agekey)"
_KEYS = compile_later(KEY_FILES)
_EXAMPLE = compile_later(
    r"(.*[._-])?(examples?|samples?|template|tmpl|tpl|dist|defaults?|schema)"
    r"(\.(env|json|ya?ml|toml|xml|ini|txt|csv|properties|tfvars|php))?"
)
"""Names such as `.env.example` and `secrets.sample.yml`, which hold no secrets."""

_RUN_OR_READ = (
    # Version control and its hooks
    *(".git", ".gitmodules", ".gitattributes", ".gitconfig", ".lfsconfig", ".hg", ".hgrc", ".hgsub", ".svn", ".jj"),
    *(".bzr", ".config/git", ".husky", ".githooks", ".pre-commit-config.yaml", ".pre-commit-config.yml"),
    *(".pre-commit-hooks.yaml", ".lefthook", ".overcommit.yml", ".arcconfig", "info/attributes"),
    # Builds on servers
    *(".github/workflows", ".github/actions", ".github/dependabot.yml", ".github/dependabot.yaml"),
    *(".gitlab-ci.yml", ".gitlab-ci.yaml", ".gitlab/ci", ".circleci", "jenkinsfile", ".jenkins", ".travis.yml"),
    *("azure-pipelines.yml", "azure-pipelines.yaml", ".azure-pipelines", ".azuredevops", "bitbucket-pipelines.yml"),
    *(".drone.yml", ".drone.yaml", ".drone.jsonnet", ".drone.star", ".woodpecker", ".woodpecker.yml"),
    *(".woodpecker.yaml", ".buildkite", "appveyor.yml", ".appveyor.yml", ".cirrus.yml", ".cirrus.star", ".semaphore"),
    *(".teamcity", ".forgejo/workflows", ".gitea/workflows", "cloudbuild.yml", "cloudbuild.yaml", "buildspec.yml"),
    *("buildspec.yaml", "wercker.yml", "codefresh.yml", ".builds", ".build.yml", ".taskcluster.yml", ".zuul.yaml"),
    *(".zuul.d", ".prow.yaml", "screwdriver.yaml", "bitrise.yml", "codemagic.yaml", ".gocd.yaml", ".tekton"),
    *("renovate.json", "renovate.json5", ".renovaterc", ".mergify.yml", ".readthedocs.yml", ".readthedocs.yaml"),
    # Editors
    *(".vscode", ".idea", ".devcontainer", ".devcontainer.json", ".zed", ".vs", ".theia", ".fleet", ".nova"),
    *(".settings", ".exrc", ".vimrc", ".gvimrc", ".nvimrc", ".nvim.lua", ".lvimrc", ".vim", ".nvim", ".helix"),
    *(".kak", ".emacs", ".emacs.d", ".dir-locals.el", ".dir-locals-2.el", ".projectile", ".gitpod.yml"),
    *(".gitpod.dockerfile", ".replit", "replit.nix", ".idx", ".config/nvim", ".config/helix", ".config/zed"),
    *(".config/emacs",),
    # Shells, sessions and what they start
    *(".envrc", ".direnv", "mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml", ".mise"),
    *("mise/config.toml", ".tool-versions", ".autoenv", ".autoenv.zsh", ".bashrc", ".bash_profile", ".bash_login"),
    *(".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc"),
    *(".cshrc", ".tcshrc", ".login", ".inputrc", ".config/fish", ".config/nushell", ".xinitrc", ".xprofile"),
    *(".xsession", ".xsessionrc", ".pam_environment", ".config/autostart", ".config/systemd", ".config/environment.d"),
    *(".local/bin", "library/launchagents", ".crontab", ".screenrc", ".tmux.conf", ".config/tmux", ".wgetrc"),
    *(".curlrc", ".mailcap", ".lessfilter"),
    # Interpreters, debuggers and package managers
    *(".gdbinit", ".gdbearlyinit", ".lldbinit", ".perldb", ".pdbrc", ".pdbrc.py", ".pythonrc", ".pythonrc.py"),
    *("sitecustomize.py", "usercustomize.py", ".ipython", ".jupyter", ".irbrc", ".pryrc", ".rprofile", ".renviron"),
    *(".psqlrc", ".sqliterc", ".ghci", ".octaverc", ".sbclrc", ".node_repl", ".pnpmfile.cjs", ".pnpmfile.mjs"),
    *("pnpmfile.js", ".yarnrc", ".yarnrc.yml", ".yarn", "bunfig.toml", ".bunfig.toml", ".cargo/config.toml"),
    *(".cargo/config", ".mvn", "gradle/wrapper", "gradle/init.d", ".gradle", "pyvenv.cfg", ".venv/bin", "venv/bin"),
    *("node_modules/.bin", ".vagrant.d", ".config/pip", ".pip"),
    # Agents
    *(".halocline", ".haloclineignore", ".cline", ".clinerules", ".clineignore", ".claude", ".mcp.json", "mcp.json"),
    *(".mcp", ".agents", ".agent", "agent.md", ".cursor", ".cursorrules", ".cursorignore", ".gemini", ".geminiignore"),
    *(".codex", ".roo", ".roomodes", ".roorules", ".rooignore", ".kiro", ".amazonq", ".windsurf", ".codeium"),
    *(".opencode", "opencode.json", "opencode.jsonc", ".continue", ".continuerc.json", ".continuerules"),
    *(".aider.conf.yml", ".aider.model.settings.yml", ".crush", "crush.json", ".crush.json", "crush.md", ".goose"),
    *(".goosehints", ".qwen", ".zencoder", ".augment", ".augment-guidelines", ".junie", ".trae", ".kilocode"),
    *(".kilocodemodes", ".openhands", ".openhands_instructions", ".factory", ".warp", "warp.md", ".tabnine", ".cody"),
    *(".sourcegraph", ".copilot", ".github/agents", ".github/prompts", ".github/chatmodes", ".github/skills"),
    *(".github/hooks", ".github/copilot-setup-steps.yml", ".rules", ".void", ".devin", ".rovodev", ".iflow"),
    *(".codebuddy", ".grok", ".plandex", ".amp", ".config/opencode", ".config/goose", ".config/crush", ".config/amp"),
)
RUNS_LATER = tuple(f"/{name.lower()}/" for name in dict.fromkeys((*_RUN_OR_READ, *OBEYED, *OBEYED_AT_HOME)))
"""Places that some program, such as Halocline, runs or reads as configuration; each between slashes."""
_LAST_PARTS = frozenset(place.split("/")[-2] for place in RUNS_LATER)
MADE_BY_TOOLS = frozenset({".gradle", ".yarn", ".mvn", ".direnv", ".ipython", ".jupyter", ".settings", "pyvenv.cfg"})
"""Those of them that builds and package managers create themselves, even in a sandbox."""
RUNS_LATER_FILES = (
    *("*.code-workspace", "*.sublime-project", "*.pth", ".envrc.*", ".mise.*.toml", "mise.*.toml", "jenkinsfile.*"),
    *("lefthook.*", ".lefthook.*", "lefthook-local.*", ".lefthook-local.*", ".lintstagedrc*", "lint-staged.config.*"),
    *(".simple-git-hooks.*", "simple-git-hooks.*", ".commitlintrc*", "commitlint.config.*", ".aider*.yml"),
    *("*.gitlab-ci.yml", "*.gitlab-ci.yaml", "*.gdbinit", ".bash_profile.*", "._pth"),
)
"""Patterns for the names of such files."""
_INVISIBLE = compile_later("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u00ad]")


def fold_case(path: str) -> str:
    """Return a path as compared by disks that ignore case, accent composition and invisible characters."""
    if path.isascii():
        return path.lower()
    import unicodedata  # only needed for other scripts

    return _INVISIBLE.sub("", unicodedata.normalize("NFC", unicodedata.normalize("NFKC", path).casefold()))


@lru_cache(maxsize=20_000)
def is_secret(path: str) -> bool:
    """Return True if a file of this name may hold secrets. `path` is absolute or relative to a folder of the task."""
    folded = fold_case(path).rstrip("/")
    name = folded.rpartition("/")[2]
    around = f"/{folded}/"
    may_be = (
        _matches_one(name, SECRET_FILES)
        or around.endswith(_SECRET_ENDS)
        or any(folder in around for folder in _SECRET_WITHIN)
    )
    return may_be and not (_EXAMPLE.fullmatch(name) and not _KEYS.fullmatch(name))


def is_secret_folder(path: str) -> bool:
    """Return True if everything in a folder counts as secret."""
    return f"/{fold_case(path).strip('/')}/".endswith(_SECRET_WITHIN)


@lru_cache(maxsize=20_000)
def runs_later(path: str) -> bool:
    """Return True if other programs run a file of this name or read it as configuration.

    `path` is relative to a folder of the task.
    """
    folded = fold_case(path).rstrip("/")
    around = f"/{folded}/"
    name = folded.rpartition("/")[2]
    return any(place in around for place in RUNS_LATER) or _matches_one(name, RUNS_LATER_FILES)


def may_run_later(name: str) -> bool:
    """Return True if `runs_later` may hold for a path with this last part, but not for the folder: a quick test."""
    folded = fold_case(name)
    return folded in _LAST_PARTS or _matches_one(folded, RUNS_LATER_FILES)


def _matches_one(name: str, patterns: tuple[str, ...]) -> bool:
    """Return True if the name matches a pattern; most names hold no middle of a literal part, so none is compiled."""
    threes = zip(name, name[1:], name[2:], strict=False)
    return not _middles(patterns).isdisjoint(threes) and bool(_one_of(patterns).fullmatch(name))


@cache
def _middles(patterns: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    """Return three characters from the middle of the longest literal part of each pattern."""
    parts = (max(pattern.replace("?", "*").split("*"), key=len) for pattern in patterns)
    return frozenset(tuple(part[(len(part) - 3) // 2 :][:3]) for part in parts)


@cache
def _one_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    from fnmatch import translate

    return re.compile("|".join(map(translate, patterns)))
