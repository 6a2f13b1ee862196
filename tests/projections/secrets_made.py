"""A text of the shape of every secret that is found.

Put together here, so that no scanner of repositories takes this file for a leak.
"""

from __future__ import annotations

import base64
import json

WORD = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9D0e1F2g3H4i5J6k7L8m9N0o1P2"
MADE_UP = {
    "anthropic": [f"sk-ant-{kind}-" + WORD + "-_AA" for kind in ("api03", "admin01", "oat01")],
    "openai_project": [
        "sk-proj-" + WORD[:30] + "-_" + "T3Blbk" + "FJ" + "_-" + WORD[:30],
        "sk-" + "proj-" + WORD[:20] + "_" + WORD[:23],
    ],
    "plain_key": ["sk-" + WORD[:48], "sk-" + "0a1b" * 8, "sk-" + WORD[:20]],
    "header": [
        "Authorization: Bearer " + WORD[:40],
        "authorization: token " + WORD[:40],
        "x-api-" + "key: " + WORD[:32],
        "api-" + "key=" + "0a1b" * 8,
    ],
    "model_service": [
        "sk-or-v1-" + "0a1b" * 16,
        "gsk" + "_" + WORD[:52],
        "xai" + "-" + WORD[:80],
        "pplx" + "-" + WORD[:48],
        "r8" + "_" + WORD[:37],
    ],
    "github_fine_grained": ["github" + "_pat_" + WORD[:22] + "_" + WORD[:59]],
    "google": [
        "AI" + "za" + WORD[:33] + "-_",
        "ya" + "29." + WORD[:60],
        "GOC" + "SPX-" + WORD[:28],
    ],
    "hugging_face": ["hf" + "_" + WORD[:34], "api" + "_org_" + WORD[:34]],
    "npm_access": ["npm" + "_" + WORD[:36]],
    "slack_app": [
        "xa" + "pp-1-A0123ABCD-1234567890-" + "0a1b" * 16,
        "xo" + "xe.xo" + "xp-1-" + WORD,
        "xo" + "xd-" + WORD[:40] + "%2F",
    ],
}

HEX = "0a1b2c3d" * 8
ALNUM = WORD[:80]


def jwt(signature: str = "") -> str:
    parts = [{"alg": "HS256"}, {"sub": "1"}]
    told = [base64.urlsafe_b64encode(json.dumps(p).encode()).decode().rstrip("=") for p in parts]
    return ".".join([*told, signature] if signature else told)


KEY_LINES = [(chr(65 + n) + "/" + WORD)[:64] for n in range(6)] + ["c2hvcnQ="]


def private_key(kind: str = "RSA PRIVATE KEY", end: str = "\n") -> str:
    return end.join(["-----BEG" + f"IN {kind}-----", *KEY_LINES, f"-----END {kind}-----"])


OF_DETECTORS: dict[str, list[str]] = {
    "artifactory": ["AK" + "C" + WORD[:20], "A" + "PA" + WORD[:20]],
    "aws": ["AK" + "IA" + "IOSFODNN7EXAMPLE", f"aws_secret_key = '{ALNUM[:38]}+/'"],
    "azure_storage_key": ["Account" + "Key=" + ALNUM + "+/+/+/=="],
    "basic_auth": ["postgres://me:hunter2Secret99@host/db", "ftp://a:b@c"],
    "cloudant": [
        f"cloudant_apikey: {HEX}",
        "cl-pw='" + "abcdefgh" * 3 + "'",
        f"https://me:{HEX}@me.cloudant.com",
        "http://me:" + "abcdefgh" * 3 + "@me.cloudant.com",
    ],
    "discord": ["M" + ALNUM[:24] + "." + ALNUM[:6] + "." + ALNUM[:27]],
    "github_token": [f"gh{kind}_" + ALNUM[:36] for kind in "pousr"],
    "gitlab_token": [
        *(f"gl{kind}-" + ALNUM[:20] for kind in ("pat", "dt", "ft", "soat", "rt", "cbt")),
        "GR" + "1348941" + ALNUM[:20],
        "gl" + "imt-" + ALNUM[:25],
        "gl" + "ptt-" + ALNUM[:40],
        "gl" + "agent-" + ALNUM[:50],
        "gl" + "oas-" + ALNUM[:64],
    ],
    "ibm_cloud_iam": ["ibm_cloud_api_key = " + ALNUM[:44]],
    "ibm_cos_hmac": [f"cos_hmac_secret_access_key: {HEX[:48]}"],
    "jwt": [jwt()],
    "mailchimp": [HEX[:32] + "-us" + "12"],
    "npm": [
        "//packages.example/:_auth" + f"Token=npm_{ALNUM[:36]}",
        "//r.org/:_auth" + "Token=01234567-0123-0123-0123-0123456789ab",
    ],
    "openai": ["sk-" + ALNUM[:20] + "T3Blbk" + "FJ" + ALNUM[:20]],
    "private_key": [
        "BEGIN " + f"{kind}PRIVATE KEY{more}"
        for kind, more in [
            *((kind, "") for kind in ("DSA ", "EC ", "OPENSSH ", "", "RSA ", "SSH2 ENCRYPTED ")),
            ("PGP ", " BLOCK"),
        ]
    ]
    + ["PuTTY-User-" + "Key-File-2"],
    "pypi_token": [
        "pypi-" + "AgEIcHlwaS5vcmc" + ALNUM[:70],
        "pypi-" + "AgENdGVzdC5weXBpLm9yZw" + ALNUM[:70],
    ],
    "sendgrid": ["S" + "G." + ALNUM[:22] + "." + ALNUM[:43]],
    "slack": [
        "xo" + "xb-123456789012-123456789012-" + ALNUM[:24],
        "https://hooks.slack." + "com/services/T0123/B0123/" + ALNUM[:24],
    ],
    "softlayer": [f"softlayer_api_key={HEX}", f"https://api.softlayer.com/soap/v3/{HEX}"],
    "square_oauth": ["sq0" + "csp-" + ALNUM[:43]],
    "stripe": ["sk" + "_live_" + ALNUM[:24], "rk" + "_live_" + ALNUM[:24]],
    "telegram_token": ["123456789:" + ALNUM[:35]],
    "twilio": ["A" + "C" + HEX[:32], "S" + "K" + HEX[:32]],
}
"""By detector, one for each of its patterns."""

OF_ALL = OF_DETECTORS | {f"ctxlog:{name}": some for name, some in MADE_UP.items()}
