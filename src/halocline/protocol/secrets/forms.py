"""Published forms of keys and tokens, as of autumn 2026, from the vendors' documentation. Data only.

A token starts with a prefix that its vendor chose so that it can be found, and stands alone: no letter, digit, `_` or
`-` before it, no letter or digit after it. A shape may be part of other text. The first item of an entry in `SHAPES`
is a mark that every such secret contains: matched in any case if lowercase, exactly if it has capitals.
"""

from collections.abc import Mapping

_HEX = "[a-f0-9]"
_WORD = "[A-Za-z0-9]"
_DASHED = "[A-Za-z0-9_-]"
_USER = r"[^/\s:@\"'\\<>{}$()]{0,100}"
_NO_PASSWORD = r"(?:pass|password|passwd|secret|pw|p|token|x{3,9}|\*{3,9}|\.{3})"
_ALONE = r"(?<![A-Za-z0-9_.-])"
_IN_XML = r"(?:<!\[CDATA\[)?(?=[A-Za-z_.-]{0,60}\d)[^<>\s{}$]{8,400}(?=<|\]\]>)"
"""Text of an element, with a digit, so that it is no word."""
_COOKIE = (
    r"(?:[\w.-]{1,40}=[^;\s]{0,200}; ){0,9}?"
    r"[\w.-]{0,30}(?i:sess|sid|auth|token|jwt)[\w.-]{0,20}=[A-Za-z0-9._~+/=%:-]{16,4000}"
)
_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY[A-Z ]{0,9}-----"
_BODY = r"(?:[A-Za-z0-9+/=\s|>]|\\[nr]){64,20000}"
"""Body of a key, between its BEGIN and END lines; also when written as one string."""

TOKENS: Mapping[str, tuple[str, ...]] = {
    "age-key": (r"AGE-SECRET-KEY-1[A-Z0-9]{40,80}",),
    "aws-key": (
        *(f"{kind}[A-Z0-9]{{16}}" for kind in ("AKIA", "ASIA", "ABIA", "ACCA")),
        r"ABSK[A-Za-z0-9+/=]{60,300}",
    ),
    "github-token": (
        *(f"gh{kind}_{_WORD}{{36,255}}" for kind in "oprsu"),
        r"github_pat_[A-Za-z0-9_]{50,255}",
    ),
    "gitlab-token": (
        *(
            f"gl{kind}-[A-Za-z0-9_.-]{{20,255}}"
            for kind in ("pat", "ptt", "rt", "cbt", "dt", "ft", "ffct", "imt", "agent", "oas", "soat", "wt")
        ),
        r"GR1348941[A-Za-z0-9_-]{20}",
    ),
    "api-key": (
        f"sk-{_DASHED}{{32,300}}",
        f"gsk_{_WORD}{{40,80}}",
        f"xai-{_WORD}{{60,100}}",
        f"hf_{_WORD}{{30,60}}",
        f"api_org_{_WORD}{{30,60}}",
        f"tvly-{_DASHED}{{20,80}}",
        f"pplx-{_WORD}{{32,80}}",
        f"r8_{_WORD}{{30,60}}",
        f"tgp_v1_{_DASHED}{{30,80}}",
        f"fw_{_WORD}{{20,60}}",
        r"csk-[a-z0-9]{40,80}",
        f"nvapi-{_DASHED}{{50,100}}",
        f"jina_{_DASHED}{{40,90}}",
        f"pcsk_{_DASHED}{{40,90}}",
        f"pa-{_DASHED}{{43}}",
        f"fc-{_HEX}{{32}}",
        f"lsv2_(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}}",
        r"BSA(?<![/+]BSA)[A-Za-z0-9][A-Za-z0-9_-]{26,30}",
        f"dsk-{_HEX}{{32}}",
        r"sk_[a-f0-9]{48}",
    ),
    "google-key": (f"AIza{_DASHED}{{35}}",),
    "google-token": (
        r"ya29\.[A-Za-z0-9_-]{20,1000}",
        f"GOCSPX-{_DASHED}{{20,60}}",
        f"1//0{_DASHED}{{30,200}}",
    ),
    "cloud-key": (
        f"LTAI{_WORD}{{12,24}}",
        f"AKID{_WORD}{{28,40}}",
        f"HRKU-{_DASHED}{{30,80}}",
        r"FlyV1 fm[a-z0-9]{1,3}_[A-Za-z0-9_,/+=-]{40,2000}",
        f"fo1_{_DASHED}{{40,60}}",
        *(f"pscale_{kind}_[A-Za-z0-9_.-]{{32,64}}" for kind in ("tkn", "pw", "oauth")),
        f"nfp_{_WORD}{{36,60}}",
        f"sbp_{_HEX}{{40}}",
        f"dapi{_HEX}{{32}}",
        *(f"vc{kind}_{_WORD}{{24,80}}" for kind in "aikpr"),
    ),
    "digitalocean-token": tuple(f"do{kind}_v1_{_HEX}{{64}}" for kind in "opr"),
    "slack-token": (
        *(f"xox{kind}-[A-Za-z0-9-]{{10,255}}" for kind in "abceoprs"),
        r"xoxe\.xox[bp]-[A-Za-z0-9-]{10,255}",
        r"xapp-[0-9]-[A-Za-z0-9-]{10,255}",
    ),
    "stripe-key": (
        *(f"{kind}k_{mode}_{_WORD}{{16,255}}" for kind in "rs" for mode in ("live", "test")),
        r"whsec_[A-Za-z0-9+/=]{24,80}",
    ),
    "npm-token": (f"npm_{_WORD}{{36}}",),
    "pypi-token": (f"pypi-AgE{_DASHED}{{50,1000}}",),
    "package-token": (
        f"rubygems_{_HEX}{{48}}",
        f"dckr_pat_{_DASHED}{{24,60}}",
        f"dckr_oat_{_DASHED}{{24,60}}",
        f"AKCp{_WORD}{{60,80}}",
        r"oy2[a-z0-9]{43}",
    ),
    "sendgrid-key": (r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",),
    "mail-key": (
        f"key-{_HEX}{{32}}",
        f"xkeysib-{_HEX}{{64}}-{_WORD}{{16}}",
        f"re_{_WORD}{{8}}_{_WORD}{{20,40}}",
    ),
    "twilio-key": (f"SK{_HEX}{{32}}", f"AC{_HEX}{{32}}"),
    "shop-token": (
        *(f"shp{kind}_[a-fA-F0-9]{{32}}" for kind in ("at", "ca", "pa", "ss")),
        *(f"sq0{kind}-{_DASHED}{{22,60}}" for kind in ("atp", "csp", "idp")),
    ),
    "work-token": (
        f"lin_api_{_WORD}{{32,64}}",
        f"lin_oauth_{_WORD}{{32,64}}",
        f"secret_{_WORD}{{43}}",
        f"ntn_{_WORD}{{40,60}}",
        f"figd_{_DASHED}{{30,60}}",
        f"figo_{_DASHED}{{30,60}}",
        r"ATATT3[A-Za-z0-9_=-]{60,255}",
        r"ATCTT3[A-Za-z0-9_=-]{60,255}",
        f"ATBB{_WORD}{{28,40}}",
        f"PMAK-{_HEX}{{24}}-{_HEX}{{34}}",
        f"pat{_WORD}{{14}}\\.{_HEX}{{64}}",
        *(rf"dp\.{kind}\.[A-Za-z0-9._-]{{40,70}}" for kind in ("pt", "st", "ct", "sa")),
        r"pk_[0-9]{6,9}_[A-Z0-9]{30,40}",
        f"tfp_{_DASHED}{{40,70}}",
    ),
    "watch-key": (
        f"glsa_{_WORD}{{32}}_[A-Fa-f0-9]{{8}}",
        r"glc_[A-Za-z0-9+/=]{32,400}",
        *(f"NR{kind}-{_WORD}{{19,42}}" for kind in ("AK", "JS", "AA")),
        r"sntrys_[A-Za-z0-9+/=_-]{40,400}",
        r"sntryu_[a-f0-9]{64}",
        f"phx_{_WORD}{{40,60}}",
    ),
    "vault-token": (
        f"hvs\\.{_DASHED}{{24,300}}",
        f"hvb\\.{_DASHED}{{24,300}}",
    ),
    "tunnel-key": (r"tskey-[a-z]{2,10}-[A-Za-z0-9-]{16,80}", r"ops_eyJ[A-Za-z0-9+/=_-]{100,2000}"),
    "jwt": (r"eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}",),
}
"""Tokens by what they give access to. Stripe's `pk_` keys and the like are public and are not redacted."""

SHAPES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "bot-token": (
        (":AA", r"(?<![A-Za-z0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"),
        *(
            (
                f".{time}",
                rf"{_ALONE}[MNO]{_DASHED}{{23,25}}\.{time}{_DASHED}{{5}}\.{_DASHED}{{27,38}}(?![A-Za-z0-9_.-])",
            )
            for time in "GXYZ"
        ),
    ),
    "mail-key": (("-us", r"(?<![A-Za-z0-9_-])[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])"),),
    "vault-token": ((".atlasv1.", r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,80}"),),
    "private-key": (
        (
            "private key",
            rf"{_BEGIN}(?:\s|\\[nr])(?:(?:[^-]|-(?!-)){{1,20000}}-----END [A-Z0-9 ]{{0,50}}-----|{_BODY})",
        ),
        ("private key", rf"(?:[A-Za-z0-9+/=]{{4,80}}\s{{1,20}}){{1,200}}{_BEGIN.replace('BEGIN', 'END')}"),
        ("private-lines: ", r"(?<=Private-Lines: )\d{1,3}\s{1,3}(?:[A-Za-z0-9+/=]{16,80}\s{1,20}){1,200}"),
        (
            "ls0tls1crudjti",
            r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{0,40}(?:UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW)[A-Za-z0-9+/=]{20,20000}",
        ),
    ),
    "azure-key": (
        ("accountkey=", r"\bAccountKey=[A-Za-z0-9+/]{40,100}={0,2}"),
        ("sharedaccesskey=", r"(?<=SharedAccessKey=)[A-Za-z0-9+/]{40,100}={0,2}"),
        ("Q~", r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])"),
        ("sig=", r"(?<=[?&]sig=)[A-Za-z0-9%+/]{40,120}(?:%3D|=){1,2}"),
    ),
    "webhook": (
        ("hooks.slack.com/", r"(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,120}"),
        ("/api/webhooks/", r"(?<=/api/webhooks/)\d{15,22}/[A-Za-z0-9_-]{50,90}"),
        ("webhook.office.com/", r"(?<=webhook\.office\.com/)webhookb2/[^\s\"'<>]{60,300}"),
    ),
    "password-hash": (
        ("$1$", r"\$1\$[A-Za-z0-9./]{1,16}\$[A-Za-z0-9./]{22}"),
        ("$apr1$", r"\$apr1\$[A-Za-z0-9./]{1,16}\$[A-Za-z0-9./]{22}"),
        ("$5$", r"\$5\$(?:rounds=\d{1,9}\$)?[A-Za-z0-9./]{1,32}\$[A-Za-z0-9./]{43}"),
        ("$6$", r"\$6\$(?:rounds=\d{1,9}\$)?[A-Za-z0-9./]{1,32}\$[A-Za-z0-9./]{86}"),
        ("$y$", r"\$y\$[A-Za-z0-9./]{2,8}\$[A-Za-z0-9./]{8,40}\$[A-Za-z0-9./]{40,50}"),
        ("$2", r"\$2[aby]\$\d\d\$[A-Za-z0-9./]{53}"),
        ("$argon2", r"\$argon2(?:id|i|d)\$v=\d{1,3}\$[a-z0-9=,]{5,40}\$[A-Za-z0-9+/]{8,64}\$[A-Za-z0-9+/]{16,128}"),
    ),
    "password": (("://", rf"(?<=://)(?!{_USER}:{_NO_PASSWORD}@){_USER}:[^/\s:@\"'\\<>{{}}$()]{{1,200}}(?=@)"),),
    "xml-secret": tuple(
        (f"<{name}{end}", f"(?i:(?<=<{name}{end})){rest}{_IN_XML}")
        for name in ("password", "passwd", "passphrase", "pwd", "secret", "apikey", "api-key", "api_key")
        for end, rest in ((">", ""), (" ", "[^<>]{1,80}>"))
    ),
    "cookie": tuple((mark, f"(?i:(?<={mark})){_COOKIE}") for mark in ("cookie: ", 'cookie": "')),
    "url-token": (("://", r"(?<=://)[^/\s:@\"'\\<>{}$()]{20,255}(?=@)"),),
    "authorization": (
        *(
            (f"{words}: {kind} ", rf"(?i:(?<={words}: {kind} ))[A-Za-z0-9._~+/=-]{{12,4000}}")
            for words in ("authorization", 'authorization"')
            for kind in ("bearer", "basic", "token")
        ),
        *(
            (f'{name}: "{kind} ', rf'(?i:(?<={name}: "{kind} ))[A-Za-z0-9._~+/=-]{{12,4000}}')
            for name in ('authorization"', "authorization")
            for kind in ("bearer", "basic", "token")
        ),
        *(
            (f"{name}: ", rf"(?i:(?<={name}: ))[A-Za-z0-9._~+/=-]{{12,4000}}")
            for name in ("x-api-key", "api-key", "private-token", "job-token", "auth-token", "x-goog-api-key")
        ),
    ),
}
"""Pairs of mark and pattern; the match is redacted."""
