"""Request lines and headers that nobody would send: options, selectors, tokens, paths, verbs,
upgrades.
"""

import base64

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.conftest import APPLY, MAP, MAPS, MERGE_PATCH, NAMESPACE, POD, PODS, Target

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
OPTIONS = [
    "labelSelector",
    "fieldSelector",
    "limit",
    "continue",
    "resourceVersion",
    "resourceVersionMatch",
    "timeoutSeconds",
    "watch",
    "allowWatchBookmarks",
    "sendInitialEvents",
    "pretty",
    "dryRun",
    "fieldManager",
    "fieldValidation",
    "force",
    "gracePeriodSeconds",
    "orphanDependents",
    "propagationPolicy",
    "export",
    "includeObject",
    "timeout",
    "container",
    "follow",
    "previous",
    "sinceSeconds",
    "sinceTime",
    "tailLines",
    "limitBytes",
    "timestamps",
    "stream",
    "command",
    "stdin",
    "stdout",
    "tty",
    "ports",
    "path",
]
HEADERS = [
    "accept",
    "content-type",
    "user-agent",
    "audit-id",
    "impersonate-user",
    "impersonate-group",
    "impersonate-uid",
    "impersonate-extra-x",
    "impersonate-extra-%zz",
    "authorization",
    "if-none-match",
    "accept-encoding",
    "sec-websocket-protocol",
    "upgrade",
    "connection",
    "x-stream-protocol-version",
    "content-encoding",
    "x-forwarded-for",
]
WORDS = st.sampled_from(
    [
        "",
        " ",
        "\0",
        "\ufffd",
        "٣",
        "9" * 5000,
        "-1",
        "+1",
        "1e9",
        "1.5",
        "NaN",
        "null",
        "true",
        "%",
        "%00",
        "../..",
        "a/b",
        "'",
        '"',
        "\\",
        "\t",
        "a" * 5000,
        "🎉",
        "a=b,",
        "a in (",
        "a in (b",
        "a notin ()",
        "a>b",
        "a>1,a<",
        "!",
        "!!a",
        "a==",
        "=x",
        "x,y=",
        "a in (x,y,)",
        "a=b=c",
        "metadata.name=a,metadata.name=b",
        "metadata.name!=x",
        "spec.nodeName=",
        "9223372036854775808",
        "18446744073709551616",
        "0x10",
        "1_0",
        "00",
        "1h",
        "-5s",
        "99999999999999h",
        "All",
        "Orphan",
        "Exact",
        "NotOlderThan",
        "Strict",
        "websocket",
        "SPDY/3.1",
        "Upgrade",
        "v5.channel.k8s.io",
        "Bearer",
        "Bearer ",
        "Bearer a.b.c",
        "Basic !!!",
        "application/json",
        "application/json;as=Table;g=meta.k8s.io;v=v1",
        "application/yaml",
        "*/*",
        "*/*;q=x",
        ";;;",
        "gzip",
        "text/html",
        "base64url.bearer.authorization.k8s.io.a",
        "base64url.bearer.authorization.k8s.io.__4, x",
    ]
)
WORD = WORDS | st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=10)
PATHS = st.sampled_from(
    [
        MAPS,
        MAP,
        PODS,
        POD,
        f"{POD}/status",
        f"{POD}/log",
        f"{POD}/exec",
        f"{POD}/attach",
        f"{POD}/portforward",
        f"{POD}/proxy",
        f"{POD}/eviction",
        f"{POD}/binding",
        f"{NAMESPACE}/services/x/proxy",
        "/api/v1/nodes/x/proxy/y",
        "/apis",
        "/api",
        "/version",
        "/openapi/v2",
        "/openapi/v3",
        "/openapi/v3/api/v1",
        "/readyz",
        "/metrics",
        "/apis/apps/v1/deployments/x/scale",
    ]
)
METHODS = st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "get", "FOO", ""])


@QUICK
@given(
    method=METHODS,
    path=PATHS,
    query=st.dictionaries(st.sampled_from(OPTIONS) | st.text(max_size=5), st.lists(WORD, min_size=1, max_size=2), max_size=3),
)
def test_any_options(target: Target, method: str, path: str, query: dict[str, list[str]]) -> None:
    """Given options of any value / when they are asked with / then there is an answer."""
    target.send(method, path, b"{}" if method in ("POST", "PUT", "PATCH") else b"", MERGE_PATCH, query={**query, "dryRun": "All"})


@QUICK
@given(method=METHODS, path=PATHS, headers=st.dictionaries(st.sampled_from(HEADERS), WORD, max_size=4))
def test_any_headers(target: Target, method: str, path: str, headers: dict[str, str]) -> None:
    """Given headers of any value / when they are sent / then there is an answer."""
    target.send(method, path, headers=headers, query={"dryRun": "All"})


@QUICK
@given(
    method=METHODS,
    parts=st.lists(
        st.sampled_from(
            [
                "api",
                "apis",
                "v1",
                "apps",
                "namespaces",
                "default",
                "pods",
                "kept",
                "watch",
                "status",
                "",
                ".",
                "..",
                "openapi",
                "v3",
            ]
        )
        | WORD,
        max_size=8,
    ),
    ends=st.sampled_from(["", "/", "//"]),
)
def test_any_path(target: Target, method: str, parts: list[str], ends: str) -> None:
    """Given paths of any parts / when they are asked for / then there is an answer."""
    target.send(method, "/" + "/".join(parts) + ends, b"{}" if method == "POST" else b"", query={"dryRun": "All"})


@QUICK
@given(
    token=st.text('{}[]":,verstamk8s.io/10-9\\u', max_size=30).map(lambda text: base64.urlsafe_b64encode(text.encode()).decode())
    | st.text(max_size=20),
    limit=st.sampled_from(["0", "1", "-1"]),
)
def test_any_continue_token(target: Target, token: str, limit: str) -> None:
    """Given a token that no server made / when a list goes on with it / then it is refused."""
    response = target.send("GET", MAPS, query={"continue": token, "limit": limit})
    assert response.status == (400 if token else 200)
    target.send("DELETE", f"{NAMESPACE}/secrets", query={"continue": token})


def part(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


@QUICK
@given(
    parts=st.lists(
        st.sampled_from(
            [
                '{"alg":"RS256"}',
                '{"alg":"none"}',
                '{"sub":"system:serviceaccount:default:x"}',
                "[]",
                "5",
                "",
                '{"exp":1e999}',
                "{",
                "[" * 3000,
                "\0",
            ]
        ).map(part)
        | WORD,
        max_size=4,
    ),
    scheme=st.sampled_from(["Bearer", "bearer", "Basic", "Negotiate", ""]),
)
def test_any_bearer_token(target: Target, parts: list[str], scheme: str) -> None:
    """Given a token that nobody issued / when it is sent / then it is a 401, or, where it is none,
    nobody minds.
    """
    response = target.send("GET", MAP, headers={"authorization": f"{scheme} {'.'.join(parts)}"})
    assert response.status in (200, 401)


@QUICK
@given(selector=st.text("ab=!,()<> in not.x/-1", max_size=14), field=st.text("metad.nspoC=!,\\", max_size=14))
def test_any_selector(target: Target, selector: str, field: str) -> None:
    """Given a text like a selector / when a list, a watch or a deletion chooses by it / then it
    chooses or is refused.
    """
    query = {"labelSelector": selector, "fieldSelector": field}
    target.send("GET", PODS, query=query)
    target.send("GET", PODS, query={**query, "watch": "1"})
    target.send("DELETE", f"{NAMESPACE}/secrets", query=query)


@QUICK
@given(manager=WORD, body=st.sampled_from([b"{}", b"", b"null", b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{}}', b"- a"]))
def test_any_field_manager(target: Target, manager: str, body: bytes) -> None:
    """Given any name of a manager / when it applies / then it is taken or refused."""
    target.send("PATCH", MAP, body, APPLY, query={"fieldManager": manager, "force": "true", "dryRun": "All"})
