"""Secrets in the forms in which files and programs show them, and ordinary text that must stay."""

import base64
import json
import random
import re
import string
from itertools import product
from pathlib import Path

import pytest
from tests.samples import choose
from tests.tables import for_each

from halocline.protocol.secrets import forms
from halocline.protocol.secrets.published_forms import find_runs, long_runs, published_forms
from halocline.protocol.secrets.redaction import Redactor, UnknownMark

LIVE = Redactor(salt=b"of a test")
ALL = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def some(length: int, letters: str = ALL, seed: int = 0) -> str:
    """Made up, so that no text of ours has the form of a real key."""
    return "".join(random.Random(length * 31 + seed).choices(letters, k=length))


LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + "234567"
PEM_BODY = "\n".join(some(64, seed=n) for n in range(6))
JWT = f"eyJ{some(20)}.eyJ{some(60)}.{some(43)}"
PASSWORD = "Tr0ub4dor&3x"

TOKENS = {
    "anthropic": "sk-ant-api03-" + some(90),
    "openai project": "sk-proj-" + some(60),
    "openrouter": "sk-or-v1-" + some(64, HEX),
    "deepseek": "sk-" + some(32, HEX),
    "groq": "gsk_" + some(52),
    "xai": "xai-" + some(80),
    "hugging face": "hf_" + some(34),
    "tavily": "tvly-dev-" + some(32),
    "perplexity": "pplx-" + some(48),
    "replicate": "r8_" + some(37),
    "together": "tgp_v1_" + some(43),
    "fireworks": "fw_" + some(24),
    "cerebras": "csk-" + some(48, LOWER),
    "nvidia": "nvapi-" + some(64),
    "jina": "jina_" + some(60),
    "pinecone": "pcsk_" + some(70),
    "voyage": "pa-" + some(43),
    "firecrawl": "fc-" + some(32, HEX),
    "langsmith": f"lsv2_pt_{some(32, HEX)}_{some(10, HEX)}",
    "brave": "BSA" + some(27),
    "elevenlabs": "sk_" + some(48, HEX),
    "gemini": "AIza" + some(35),
    "google token": "ya29." + some(60),
    "google client": "GOCSPX-" + some(28),
    "google refresh": "1//0" + some(60),
    "aws id": "AKIA" + some(16, UPPER),
    "aws id with any digits": "AKIA0189" + some(12, string.ascii_uppercase + string.digits),
    "aws session id": "ASIA" + some(16, UPPER),
    "bedrock": "ABSK" + some(120),
    "azure client": f"{some(3)}8Q~{some(34)}",
    "alibaba": "LTAI" + some(20),
    "github": "ghp_" + some(36),
    "github app": "ghs_" + some(36),
    "github fine": "github_pat_" + some(82),
    "gitlab": "glpat-" + some(20),
    "gitlab runner": "glrt-" + some(20),
    "slack bot": "xoxb-" + some(40, string.digits),
    "slack app": "xapp-1-" + some(40),
    "stripe": "sk_live_" + some(24),
    "stripe restricted": "rk_test_" + some(24),
    "stripe webhook": "whsec_" + some(32),
    "npm": "npm_" + some(36),
    "pypi": "pypi-AgE" + some(100),
    "rubygems": "rubygems_" + some(48, HEX),
    "docker": "dckr_pat_" + some(27),
    "nuget": "oy2" + some(43, LOWER),
    "sendgrid": f"SG.{some(22)}.{some(43)}",
    "mailgun": "key-" + some(32, HEX),
    "mailchimp": some(32, HEX) + "-us12",
    "brevo": f"xkeysib-{some(64, HEX)}-{some(16)}",
    "twilio": "SK" + some(32, HEX),
    "twilio account": "AC" + some(32, HEX),
    "discord": f"M{some(23)}.G{some(5)}.{some(38)}",
    "discord of another year": f"N{some(25)}.Y{some(5)}.{some(27)}",
    "vercel": "vcp_" + some(56),
    "vercel gateway": "vck_" + some(56),
    "shopify": "shpat_" + some(32, HEX),
    "square": "sq0atp-" + some(22),
    "linear": "lin_api_" + some(40),
    "notion": "ntn_" + some(46),
    "notion old": "secret_" + some(43),
    "figma": "figd_" + some(40),
    "atlassian": "ATATT3" + some(180),
    "postman": f"PMAK-{some(24, HEX)}-{some(34, HEX)}",
    "airtable": f"pat{some(14)}.{some(64, HEX)}",
    "doppler": "dp.pt." + some(43),
    "digitalocean": "dop_v1_" + some(64, HEX),
    "heroku": "HRKU-" + some(60),
    "planetscale": "pscale_tkn_" + some(43),
    "netlify": "nfp_" + some(40),
    "supabase": "sbp_" + some(40, HEX),
    "databricks": "dapi" + some(32, HEX),
    "grafana": f"glsa_{some(32)}_{some(8, HEX)}",
    "new relic": "NRAK-" + some(27),
    "sentry": "sntryu_" + some(64, HEX),
    "posthog": "phx_" + some(43),
    "vault": "hvs." + some(90),
    "terraform cloud": f"{some(14)}.atlasv1.{some(67)}",
    "tailscale": "tskey-auth-" + some(30),
    "telegram": f"{some(10, string.digits)}:AA{some(33)}",
    "age": "AGE-SECRET-KEY-1" + some(58, string.ascii_uppercase + string.digits),
    "jwt": JWT,
}
"""By themselves, whatever stands around."""

WRITTEN = {
    "pem": (f"-----BEGIN RSA PRIVATE KEY-----\n{PEM_BODY}\n-----END RSA PRIVATE KEY-----", PEM_BODY),
    "openssh": (f"-----BEGIN OPENSSH PRIVATE KEY-----\n{PEM_BODY}\n-----END OPENSSH PRIVATE KEY-----", PEM_BODY),
    "pgp": (f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{PEM_BODY}\n-----END PGP PRIVATE KEY BLOCK-----", PEM_BODY),
    "the rest of a pem": (f"{PEM_BODY}\n-----END PRIVATE KEY-----", PEM_BODY),
    "the beginning of a pem": (f"-----BEGIN PRIVATE KEY-----\n{PEM_BODY}\n", PEM_BODY),
    "service account": (
        json.dumps({"private_key": f"-----BEGIN PRIVATE KEY-----\n{PEM_BODY}\n-----END PRIVATE KEY-----\n"}),
        PEM_BODY.split("\n")[2],
    ),
    "kube client key": (
        "client-key-data: " + base64.b64encode(f"-----BEGIN RSA PRIVATE KEY-----\n{PEM_BODY}".encode()).decode(),
        base64.b64encode(PEM_BODY.encode())[60:120].decode(),
    ),
    "putty": (f"Private-Lines: 3\n{PEM_BODY}\nPrivate-MAC: x", PEM_BODY.split("\n")[0]),
    "env": (f"MISTRAL_API_KEY={some(32)}", some(32)),
    "export": (f"export COHERE_API_KEY={some(40)}", some(40)),
    "exported in quotes": (
        f'export EXA_API_KEY="{some(8, HEX)}-{some(4, HEX)}-{some(4, HEX)}-{some(4, HEX)}-{some(12, HEX)}"',
        some(12, HEX),
    ),
    "aws secret": (f"aws_secret_access_key = {some(40)}", some(40)),
    "aws variable": (f"AWS_SECRET_ACCESS_KEY={some(40)}", some(40)),
    "django": (f"SECRET_KEY = '{some(50)}'", some(50)),
    "rails": (f"secret_key_base: {some(128, HEX)}", some(128, HEX)),
    "password in env": (f"DB_PASSWORD={PASSWORD}", PASSWORD),
    "PGPASSWORD": (f"PGPASSWORD={PASSWORD} psql -h db", PASSWORD),
    "MYSQL_PWD": (f"MYSQL_PWD='{PASSWORD}'", PASSWORD),
    "password in json": (json.dumps({"user": "me", "password": PASSWORD}), PASSWORD),
    "password in json in json": (json.dumps(json.dumps({"password": PASSWORD})), PASSWORD),
    "password in yaml": (f"db:\n  password: {PASSWORD}\n  host: x", PASSWORD),
    "password in yaml in quotes": (f"  password: '{PASSWORD}'", PASSWORD),
    "password in toml": (f'password = "{PASSWORD}"', PASSWORD),
    "password in ini": (f"[client]\npassword={PASSWORD}", PASSWORD),
    "password in xml": (f"<password>{PASSWORD.replace('&', '')}</password>", PASSWORD.replace("&", "")),
    "simple password in xml": ("<Password>hunter22</Password>", "hunter22"),
    "password in xml with an entity": ("<password>Tr0ub4dor&amp;3x</password>", "3x"),
    "password in xml with an attribute": ('<password type="plain">Tr0ub4dor3x</password>', "Tr0ub4dor3x"),
    "password in xml as it is": ("<password><![CDATA[Tr0ub4dor3x]]></password>", "Tr0ub4dor3x"),
    "key in xml": (f"<apiKey>{some(32, HEX)}</apiKey>", some(32, HEX)),
    "hex key of azure": (f"AZURE_OPENAI_KEY: {some(32, HEX)}", some(32, HEX)),
    "hex key of a service": (f'"speechKey": "{some(32, HEX)}"', some(32, HEX)),
    "hex key in a header": (f"Ocp-Apim-Subscription-Key: {some(32, HEX)}", some(32, HEX)),
    "hex key for signatures": (f"HMAC_KEY={some(64, HEX)}", some(64, HEX)),
    "session": (f"Set-Cookie: session={some(32)}; Path=/; HttpOnly", some(32)),
    "session in hex": (f"set-cookie: PHPSESSID={some(32, HEX)}; path=/", some(32, HEX)),
    "session among cookies": (f"Cookie: lang=en; session_id={some(43)}; theme=dark", some(43)),
    "session in json": (json.dumps({"Set-Cookie": f"connect.sid=s%3A{some(32)}.{some(43)}"}), some(32)),
    "password in properties": (f"spring.datasource.password={PASSWORD}", PASSWORD),
    "simple password in json": ('{"password": "hunter22"}', "hunter22"),
    "typed": (f'api_key: str = "{some(32)}"', some(32)),
    "ruby": (f":auth_token => '{some(32)}'", some(32)),
    "go": (f'apiKey := "{some(32)}"', some(32)),
    "js object": (f"const config = {{ clientSecret: '{some(40)}' }}", some(40)),
    "php": (f"define('API_KEY', 'x'); $api_key = '{some(32)}';", some(32)),
    "option": (f"mytool --token {some(40)} run", some(40)),
    "option with =": (f"mytool --api-key={some(40)}", some(40)),
    "docker run": (f"docker run -e POSTGRES_PASSWORD={PASSWORD} postgres", PASSWORD),
    "a person's password in yaml": ("DB_PASSWORD: hunter2hunter2", "hunter2hunter2"),
    "a person's password in small letters": ("db:\n  password: hunter22\n  host: x", "hunter22"),
    "a person's password with one number": ("REDIS_PASSWORD: sunshine1", "sunshine1"),
    "a person's password in env": ("export DB_PASSWORD=hunter22", "hunter22"),
    "a person's password before a comment": ("DB_PASSWORD: hunter-22x # changed", "hunter-22x"),
    "a person's password in properties": ("db.password=hunter22", "hunter22"),
    "a person's password in toml": ('password = "hunter22"', "hunter22"),
    "a person's password in an address": ("postgres://me:hunter22@db/x", "hunter22"),
    "compose": (f"    - MYSQL_ROOT_PASSWORD={PASSWORD}", PASSWORD),
    "docker config": (
        json.dumps({"auths": {"x": {"auth": base64.b64encode(b"ada:c0rrect horse").decode()}}}),
        "YWRhOmMwcnJl",
    ),
    "npmrc": (f"//registry.npmjs.org/:_authToken={some(36)}", some(36)),
    "netrc": (f"machine x login me password {PASSWORD}", PASSWORD),
    "kube token": (f"    token: {some(60)}", some(60)),
    "vault old": (f"VAULT_TOKEN=s.{some(24)}", some(24)),
    "terraform": (f'  "access_token": "{some(40)}",', some(40)),
    "postgres address": (f"postgres://ada:{some(14)}@db:5432/x", some(14)),
    "redis address": (f"redis://:{some(20)}@cache:6379/0", some(20)),
    "mongo address": (f"mongodb+srv://ada:{some(16)}@c.mongodb.net/x", some(16)),
    "git remote": (f"url = https://x-token:{some(30)}@example.com/a.git", some(30)),
    "token as user": (f"https://{some(24)}@example.com/x", some(24)),
    "sql server": (f"Server=db;User Id=sa;Password={PASSWORD};", PASSWORD),
    "jdbc": (f"jdbc:mysql://db/x?user=ada&password={PASSWORD.replace('&', '-')}", PASSWORD.replace("&", "-")),
    "azure storage": (f"AccountName=x;AccountKey={some(86)}==;EndpointSuffix=y", some(86)),
    "azure bus": (f"SharedAccessKeyName=x;SharedAccessKey={some(43)}=", some(43)),
    "azure signature": (f"https://x.blob.core.windows.net/c?sv=1&sig={some(43)}%3D&se=2", some(43)),
    "bearer": (f"Authorization: Bearer {some(30)}", some(30)),
    "basic": (f"authorization: Basic {some(30)}==", some(30)),
    "bearer in curl": (f"curl -H 'Authorization: Bearer {some(40)}' x", some(40)),
    "bearer in json": (json.dumps({"Authorization": f"Bearer {some(40)}"}), some(40)),
    "x-api-key": (f"X-API-Key: {some(32)}", some(32)),
    "slack webhook": (f"https://hooks.slack.com/services/T{some(8, UPPER)}/B{some(8, UPPER)}/{some(24)}", some(24)),
    "discord webhook": (f"https://discord.com/api/webhooks/{some(18, string.digits)}/{some(68)}", some(68)),
    "shadow": (f"root:$6$saltsalt${some(86)}:19000:0:99999:7:::", some(86)),
    "htpasswd": (f"ada:$apr1$salt1234${some(22)}", some(22)),
    "bcrypt": (f'"hash": "$2b$12${some(53)}"', some(53)),
    "base64 of env": (
        base64.b64encode(f"USER=ada\nOPENAI_API_KEY=sk-proj-{some(60)}\n".encode()).decode(),
        base64.b64encode(some(60).encode())[8:40].decode(),
    ),
    "base64 in lines": (
        base64.encodebytes(f"DB_USER=ada\nDB_HOST=localhost\nDB_PASSWORD={some(40)}\n".encode()).decode(),
        base64.b64encode(some(40).encode())[8:24].decode(),
    ),
}
"""As they are written, and what must not be seen of it."""


AROUND = ("{}", 'x = "{}";', "12 | {}", "KEY={}\n", "({})", "a\tb {}\r\nc", '{{"k":"{}"}}')


@for_each("secret, around", [*product(TOKENS.values(), AROUND)])
def test_a_token_is_left_out_whatever_stands_around(secret: str, around: str):
    text = around.format(secret)
    shown = LIVE(text)
    assert secret not in shown
    assert LIVE(shown) == shown
    assert LIVE.restored(shown, text) == text


@for_each("text, secret", WRITTEN.values())
def test_a_secret_is_left_out_however_it_is_written(text: str, secret: str):
    shown = LIVE(text)
    assert secret not in shown
    assert text.count("\n") == shown.count("\n")
    assert LIVE(shown) == shown
    assert LIVE.restored(shown, text) == text


def test_there_are_enough_forms_to_speak_of():
    assert len(TOKENS) + len(WRITTEN) >= 130


SHA = some(40, HEX)
UUID = f"{some(8, HEX)}-{some(4, HEX)}-4{some(3, HEX)}-8{some(3, HEX)}-{some(12, HEX)}"
ORDINARY = {
    "commits": f"commit {SHA}\nindex 1a2b3c4..5d6e7f8 100644\nMerge: {SHA[:7]} {SHA[7:14]}",
    "uuid": f'"id": "{UUID}", requestId={UUID}',
    "npm lock": f'"integrity": "sha512-{some(86)}==", "resolved": "https://registry.npmjs.org/a/-/a-1.0.0.tgz"',
    "yarn lock": f"integrity sha512-{some(86)}==\n  checksum: 10c0/{some(64, HEX)}",
    "pip lock": f"--hash=sha256:{some(64, HEX)}",
    "cargo lock": f'checksum = "{some(64, HEX)}"',
    "go sum": f"golang.org/x/text v0.3.0/go.mod h1:{some(43)}=",
    "docker image": f"FROM node@sha256:{some(64, HEX)}",
    "picture": f'<img src="data:image/png;base64,{some(2000)}">',
    "font": f"src: url(data:font/woff2;base64,{some(4000)})",
    "map": "//# sourceMappingURL=data:application/json;base64," + base64.b64encode(b'{"version": 3}' * 9).decode(),
    "getenv": 'api_key = os.environ["OPENAI_API_KEY"]\ntoken = getenv("GITHUB_TOKEN1234")',
    "reference": "password: ${{ secrets.DB_PASSWORD_2 }}\nAPI_KEY=${API_KEY_V2}\ntoken: {{ .Values.token2 }}",
    "call": "token = create_token_v2(user1)\npassword = hash_password2(raw)\nsecret=config.get('secret2')",
    "attribute": "self.token = request.headers2.token\nconst token = this.auth0Token.value1;",
    "example": 'API_KEY=your-api-key-1234\npassword = "changeme123"\ntoken: "xxxxxxxx1234"\nSECRET=<secret-123>',
    "field": '"password": "string", "token": "Password1 of the user", passwordHint2: "at least 8"',
    "limits": "max_tokens: 128000\ninput_tokens=1234567890\ntoken_count: 20000000",
    "tokens of a language": 'token_type = "T_IDENTIFIER_2"\npad_token: "<|endoftext1|>"\neos_token=tok12345678',
    "assembly": 'PublicKeyToken="b77a5c561934e089"',
    "path": "SSH_KEY=/home/ada/.ssh/id_ed25519\nprivate_key: ./certs/server1.key\nsecret: ../a/b1c2d3e4",
    "arn": "secret: arn:aws:secretsmanager:eu-west-1:123456789012:secret:x-a1b2c3",
    "address": "https://example.com:8080/a@b http://user:password@host git@github.com:a/b.git",
    "minified": "function a(b,c){var d=b.token,e=c.secret;return d?e[d]:(f=g.apiKey,h(f))}",
    "options": "tool --password-file /run/secrets/db1 --token-stdin1 --auth-type oauth2",
    "prose": "The token that you are given is stored; a password of 12 characters; secret santa 2026; auth: none",
    "a program in base64": f"AGFzbQ{some(40)}/BSA{some(29)}/{some(30)}",
    "types of keys": "x: a\nprivate_key: Ed25519PrivateKey\nprivate_key: x25519.X25519PrivateKey",
    "classes of keys": "MLKEM768X25519PrivateKey = rust_openssl.hpke.MLKEM768X25519PrivateKey",
    "xml": "<password>changeme</password><password>${db.password1}</password><secret>string</secret><apiKey/>",
    "cookies": "Set-Cookie: theme=dark; Path=/\nCookie: lang=en-US; consent=accepted-all\nset-cookie: session=abc",
    "keys that are no secrets": f"primary_key: {SHA}\ncache-key: {SHA}\nsort_key={UUID}\nhotkey: ctrl+shift+k1",
    "names of keys": "openai_key: str\nstripe_key = config.stripe_key2\nazure_key = load_key1(path)\nAES_KEY_SIZE = 16",
    "near a token": "AKIAX, AKIA_1234567890123456, ACdc, AC/DC, vcp_table, SKU-1234, MyClass.GetIt.Xylophone",
    "settings without a secret": "DB_PASSWORD: ${DB_PASSWORD}\npassword: changeme1\nPASSWORD=password12\npwd: /a/ada22",
    "values named like passwords": "password: value12,\npassword: sha256\npassword: userInput12\nlet password = in12;",
    "prose with a password": "the password: hunter22 is no longer used\nuse password hunter22 there",
    "types": "password: Optional[str1] = None\ntoken: Token2\nsecret: SecretStr2 = Field(...)",
}


@for_each("text", ORDINARY.values())
def test_ordinary_text_is_left_as_it_is(text: str):
    assert LIVE(text) == text


def test_a_mark_of_another_text_is_refused_and_one_that_is_content_is_not():
    shown = LIVE(f"KEY={TOKENS['github']}\n")
    with pytest.raises(UnknownMark):
        LIVE.restored(shown, "KEY=\n")
    assert LIVE.restored(shown, f"docs: {shown}") == shown


def test_marks_tell_two_secrets_apart_and_homes_write_them_otherwise():
    text = f"A={TOKENS['github']}\nB={TOKENS['npm']}\nC={TOKENS['github']}\n"
    one, two, three = LIVE(text).splitlines()
    assert one[2:] == three[2:] != two[2:]
    assert LIVE(text) != Redactor(salt=b"another home")(text)


SOURCE = Path(__file__).parents[2] / "src"
MADE_UP = frozenset({"library_vendors.py", "responses_format.py"})
"""Files of ours that hold what stands for a secret in a test server, or says how an address with a password looks."""


def test_nothing_of_our_own_source_is_taken_for_a_secret():
    redacted = [
        path.name
        for path in SOURCE.rglob("*")
        if path.suffix in (".py", ".js", ".css", ".toml", ".md", ".json") and LIVE(path.read_text()) != path.read_text()
    ]
    assert set(redacted) <= MADE_UP


RUNS = {f"{ALL}_-": 14, f"{ALL}+/": 40}
SHAPES = [shape for shapes in forms.SHAPES.values() for _, shape in shapes]
ALONE = [rf"(?<![A-Za-z0-9_-]){token}(?![A-Za-z0-9])" for tokens in forms.TOKENS.values() for token in tokens]
EVERY_FORM = [re.compile(form, re.DOTALL) for form in (*SHAPES, *ALONE)]
GLUE = ("", " ", "\n", '"', "-", "_", ".", "=", ": ", "é", "İ", "x" * 13, some(14), "-----", "://", "\r\n  ")


def _mix(seed: int) -> str:
    """A text of secrets of every form, whole and cut, and of ordinary text."""
    chance = random.Random(seed)
    pieces = [*TOKENS.values(), *(text for text, _ in WRITTEN.values()), *ORDINARY.values()]
    chosen = [chance.choice(pieces) for _ in range(chance.randint(1, 6))]
    cut = [piece[: chance.randint(0, len(piece))] if chance.random() < 0.2 else piece for piece in chosen]
    return "".join(part for piece in cut for part in (chance.choice(GLUE), piece)) + chance.choice(GLUE)


@for_each("seed", range(choose(3_000, 300)))
def test_the_quick_search_finds_what_each_form_tried_at_each_place_finds(seed: int):
    text = _mix(seed)
    data = text.encode()
    found = {at for start, end, _ in published_forms(text, data, long_runs(data)) for at in range(start, end)}
    assert found == {at for form in EVERY_FORM for match in form.finditer(text) for at in range(*match.span())}
    for signs, shortest in RUNS.items():
        runs = re.finditer(rf"[{re.escape(signs)}]{{{shortest},}}".encode(), data)
        assert list(find_runs(data, signs, shortest)) == [run.span() for run in runs]
