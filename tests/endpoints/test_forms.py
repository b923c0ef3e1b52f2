"""What is chosen by Accept, ``pretty`` and the User-Agent, header by header."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request
from fakekube.endpoints import negotiation
from fakekube.endpoints.negotiation import Clause, Form, clauses

J, Y, P = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
META = "g=meta.k8s.io;v=v1"
ACCEPTED = f"only the following media types are accepted: {J}, {Y}, {P}"
STREAMED = f"only the following media types are accepted: {J};stream=watch, {P};stream=watch"


def asking(accept: str | None, query: dict[str, str] | None = None, agent: str | None = None) -> Request:
    headers = {name: value for name, value in (("accept", accept), ("user-agent", agent)) if value is not None}
    return Request("GET", "/", {name: [value] for name, value in (query or {}).items()}, headers)


def shown(form: Form) -> tuple[str, bool, str, str]:
    return form.media, form.pretty, form.transform, form.transform_version


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, (J, False, "", "meta.k8s.io/v1")),
        ("", (J, False, "", "meta.k8s.io/v1")),
        (f"{P},{Y}", (Y, False, "", "meta.k8s.io/v1")),
        (P, (P, False, "", "meta.k8s.io/v1")),
        (f"{P};q=0.1,{P}", (P, False, "", "meta.k8s.io/v1")),
        (f"{J};pretty=1", (J, True, "", "meta.k8s.io/v1")),
        (f"{J};pretty=true", (J, False, "", "meta.k8s.io/v1")),
        (f"{J};as=Table;{META}beta1", (J, False, "Table", "meta.k8s.io/v1beta1")),
        (f"{Y};as=Table;{META}", (Y, False, "Table", "meta.k8s.io/v1")),
        (f"{P};as=PartialObjectMetadata;{META}", (P, False, "PartialObjectMetadata", "meta.k8s.io/v1")),
        (f"{J};as=PartialObjectMetadataList;{META}", (J, False, "PartialObjectMetadataList", "meta.k8s.io/v1")),
        (f"{P};as=Table;{META},{J}", (J, False, "", "meta.k8s.io/v1")),
        (f"{P};as=Table;{META}", None),
        (f"{J};as=Table;v=v1", None),
        (f"{J};g=meta.k8s.io", None),
        (f"{J};v=v1", None),
        (f"{J};as=", None),
        (f"{J};as=Table;g=meta.k8s.io", None),
        (f"{J};as=Table;{META}beta2", None),
        (f"{J};as=Status;{META}", None),
        (f"{J};sv=1", None),
        (f"{J};sv=", (J, False, "", "meta.k8s.io/v1")),
        (f"{J};stream=watch", (J, False, "", "meta.k8s.io/v1")),
        (f"{J};stream=x", None),
        ("text/html", None),
        ("*", (J, False, "", "meta.k8s.io/v1")),
        ("application/*", (J, False, "", "meta.k8s.io/v1")),
        ("text", None),
        ("*/yaml", (Y, False, "", "meta.k8s.io/v1")),
        (f"{J};q=x,{Y}", (Y, False, "", "meta.k8s.io/v1")),
        (f" {Y} ; q=0.5 , {J} ;q=0.4", (Y, False, "", "meta.k8s.io/v1")),
    ],
)
def test_which_form_an_answer_takes(accept: str | None, expected: tuple[str, bool, str, str] | None) -> None:
    """Given an Accept header, then the best alternative that is on offer is taken, protobuf only
    where there is no other, or 406 lists what is on offer.
    """
    if expected is not None:
        assert shown(negotiation.negotiate(asking(accept))) == expected
        return
    with pytest.raises(APIError) as refused:
        negotiation.negotiate(asking(accept))
    assert (refused.value.code, refused.value.message) == (406, ACCEPTED)


def test_where_there_are_no_tables_or_transformations() -> None:
    """Given kinds without Tables, endpoints that know no transformation, and other offers, then
    what is not there is refused, the rest is not.
    """
    table, partial = f"{J};as=Table;{META}", f"{J};as=PartialObjectMetadata;{META}"
    assert negotiation.negotiate(asking(partial), table=False).transform == "PartialObjectMetadata"
    for accept, has_table, transforms in ((table, False, True), (table, True, False), (partial, True, False)):
        with pytest.raises(APIError) as refused:
            negotiation.negotiate(asking(accept), table=has_table, transforms=transforms)
        assert refused.value.message == ACCEPTED
        assert negotiation.negotiate(asking(f"{accept},{J}"), table=has_table, transforms=transforms).plain
    with pytest.raises(APIError) as refused:
        negotiation.negotiate(asking(Y), offered=(J,))
    assert refused.value.message == f"only the following media types are accepted: {J}"
    assert negotiation.negotiate(asking(None), offered=(Y, J)).media == Y


def test_the_alternatives_of_a_header() -> None:
    """Given an Accept header, then its alternatives are sorted by quality, then the more specific,
    then as they stand; what is no media type is left out.
    """
    found = clauses("*/*;q=0.5, text, a/*;q=0.5;x=y;flag, b/c ;q= 0.5, d/e, *;q=bad, f/g;q=0.5")
    assert [(each.type, each.subtype, each.quality, each.params) for each in found] == [
        ("d", "e", 1.0, {}),
        ("b", "c", 0.5, {}),
        ("f", "g", 0.5, {}),
        ("a", "*", 0.5, {"x": "y"}),
        ("*", "*", 0.5, {}),
        ("*", "*", 0.0, {}),
    ]
    matching = [
        [Clause(*pair, 1.0, {}).matches(media) for media in ("a/b", "a/c", "d/b")]
        for pair in (("a", "b"), ("a", "*"), ("*", "b"), ("*", "*"), ("d", "c"))
    ]
    assert matching == [[True, False, False], [True, True, False], [True, False, True], [True, True, True], [False, False, False]]


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, J),
        (J, J),
        (P, P),
        (f"{P};stream=watch", P),
        (f"{J};as=Table;{META}", J),
        (f"{Y},{J}", None),
        (Y, None),
        ("text/html", None),
        (f"{P},{J}", J),
    ],
)
def test_which_form_a_watch_takes(accept: str | None, expected: str | None) -> None:
    """Given an Accept header, when a watch is asked for, then it is of JSON or of protobuf, else
    406 lists the streams.
    """
    if expected:
        assert negotiation.negotiate_stream(asking(accept)).media == expected
        return
    with pytest.raises(APIError) as refused:
        negotiation.negotiate_stream(asking(accept))
    assert (refused.value.code, refused.value.message) == (406, STREAMED)


def test_a_watch_of_a_kind_without_tables_is_none() -> None:
    """Given a kind without Tables, when it is watched as one, then that is refused."""
    with pytest.raises(APIError, match="stream=watch"):
        negotiation.negotiate_stream(asking(f"{J};as=Table;{META}"), table=False)


@pytest.mark.parametrize(
    ("accept", "query", "agent", "expected"),
    [
        (None, {}, None, (J, False)),
        ("text/html", {}, None, (J, True)),
        (Y, {}, None, (Y, False)),
        (P, {}, None, (P, False)),
        (None, {"pretty": "1"}, None, (J, True)),
        (Y, {"pretty": "1"}, None, (Y, True)),
        (f"{J};pretty=1", {}, None, (J, True)),
        (f"{J};as=Table;{META}", {}, None, (J, False)),
        (None, {}, "curl/8", (J, True)),
        ("text/html", {"pretty": "0"}, None, (J, True)),
    ],
)
def test_which_form_an_error_takes(
    accept: str | None,
    query: dict[str, str],
    agent: str | None,
    expected: tuple[str, bool],
) -> None:
    """Given a failure, then it is told in a form that the client takes, indented where there is
    none or where the client wants it so, and never transformed.
    """
    form = negotiation.form_of_error(asking(accept, query, agent))
    assert (form.media, form.pretty, form.transform) == (*expected, "")


@pytest.mark.parametrize(
    ("query", "agent", "expected"),
    [
        *(({"pretty": word}, None, True) for word in ("1", "t", "T", "TRUE", "true", "True")),
        *(({"pretty": word}, "curl/8", False) for word in ("0", "f", "tRUE", "yes")),
        ({"pretty": ""}, None, False),
        ({}, None, False),
        ({}, "Wget/1", True),
        ({}, "Mozilla/5.0", True),
        ({}, "Mozilla/4.0", False),
        ({}, "my-curl", False),
    ],
)
def test_who_gets_indented_answers(query: dict[str, str], agent: str | None, expected: bool) -> None:
    """Given ``pretty`` and a User-Agent, then the first decides where it says something."""
    assert negotiation.is_pretty(asking(None, query, agent)) is expected
    form = negotiation.negotiate(asking(f"{Y};as=Table;{META}beta1", query, agent))
    assert shown(form) == (Y, expected, "Table", "meta.k8s.io/v1beta1")


def test_stored_bytes_go_out_where_nothing_else_is_asked_for() -> None:
    """Given forms, then only plain JSON is what is stored."""
    forms = [Form(), Form(pretty=True), Form(transform="Table"), Form(Y), Form(P)]
    assert [form.plain for form in forms] == [True, False, False, False, False]


@pytest.mark.parametrize(
    ("accept", "passes"),
    [
        (None, True),
        ("*/*", True),
        (J, True),
        (f"text/html , {Y};q=0", True),
        ("text/html", False),
        ("application/*", False),
    ],
)
def test_the_router_looks_at_names_alone(accept: str | None, passes: bool) -> None:
    """Given an Accept header, when the router looks, then the name of a form on offer will do, or
    406 lists what is on offer, streams where there are any, without details.
    """
    if passes:
        negotiation.check_route(asking(accept))
        return
    for streams, more in ((False, ""), (True, f", {J};stream=watch, {P};stream=watch")):
        with pytest.raises(APIError) as refused:
            negotiation.check_route(asking(accept), streams=streams)
        assert (refused.value.code, refused.value.message, refused.value.details) == (
            406,
            f"406: Not Acceptable\n\nAvailable representations: {J}, {Y}, {P}{more}",
            {},
        )
    with pytest.raises(APIError, match=r"representations: text/plain$"):
        negotiation.check_route(asking(accept), ("text/plain",))
