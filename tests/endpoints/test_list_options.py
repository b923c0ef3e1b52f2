"""Options of lists and watches, and upstream's words for what is wrong with them."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.endpoints.listoptions import ListOptions, parse_list_options
from tests.endpoints.reads import CONFIG_MAP, POD, told

LIST = 'ListOptions.meta.k8s.io "" is invalid: '
NEEDS_MATCH = "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"


def parse(*, watch: bool = False, kind=POD, name: str = "", watch_list: bool = True, **query: str) -> ListOptions:
    return parse_list_options(
        {key: [value] for key, value in query.items()}, kind, watch=watch, name=name, watch_list=watch_list)


@pytest.mark.spec("API-059", "API-063", "API-082")
@pytest.mark.parametrize(("watch", "query", "message"), [
    (False, {"resourceVersionMatch": "Exact"},
     "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"),
    (False, {"resourceVersionMatch": "Exact", "resourceVersion": "5", "continue": "x"},
     "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided"),
    (False, {"resourceVersionMatch": "Roughly", "resourceVersion": "5"},
     'resourceVersionMatch: Unsupported value: "Roughly": supported values: "Exact", "NotOlderThan", ""'),
    (False, {"resourceVersionMatch": "Exact", "resourceVersion": "0"},
     'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
    (False, {"sendInitialEvents": "true"}, "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"),
    (True, {"resourceVersion": "1", "resourceVersionMatch": "NotOlderThan"},
     ("resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
     "provided")),
    (True, {"sendInitialEvents": "true"}, NEEDS_MATCH),
    (True, {"sendInitialEvents": "false"}, NEEDS_MATCH),
    (True, {"sendInitialEvents": "true", "resourceVersion": "1", "resourceVersionMatch": "Exact"},
     f'[{NEEDS_MATCH}, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]'),
])
def test_options_that_cannot_go_together(watch: bool, query: dict[str, str], message: str) -> None:
    """Given options that exclude each other / when they are read / then 422 in upstream's words."""
    with pytest.raises(APIError) as error:
        parse(watch=watch, **query)
    assert told(error.value) == (422, "Invalid", LIST + message)


def test_without_the_gate_no_watch_streams_a_list() -> None:
    """Given WatchList off / when initial events are asked for / then 422; a plain watch asks for
    none by itself.
    """
    with pytest.raises(APIError) as error:
        parse(watch=True, watch_list=False, sendInitialEvents="true", resourceVersionMatch="NotOlderThan")
    assert error.value.message == LIST + (
        "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is "
        "enabled")
    assert parse(watch=True, watch_list=False).send_initial_events is None


@pytest.mark.parametrize(("query", "message"), [
    ({"limit": "many"}, 'strconv.ParseInt: parsing "many": invalid syntax'),
    ({"timeoutSeconds": "1s"}, 'strconv.ParseInt: parsing "1s": invalid syntax'),
    ({"labelSelector": "a in ("}, "unable to parse requirement: found '', expected: ',', ')' or identifier"),
    ({"fieldSelector": "a>b"}, "invalid selector: 'a>b'; can't understand 'a>b'"),
    ({"fieldSelector": "spec.foo=1"}, "field label not supported: spec.foo"),
])
def test_options_that_cannot_be_read(query: dict[str, str], message: str) -> None:
    """Given options of no sense / when they are read / then 400 in upstream's words."""
    with pytest.raises(APIError) as error:
        parse(**query)
    assert told(error.value) == (400, "BadRequest", message)


def test_numbers_are_read_before_selectors_and_selectors_before_rules() -> None:
    """Given several mistakes / when they are read / then upstream's order decides which one is
    told.
    """
    wrong = {"resourceVersionMatch": "Exact", "fieldSelector": "spec.foo=1"}
    with pytest.raises(APIError, match="resourceVersionMatch"):
        parse(**wrong)
    with pytest.raises(APIError, match="unable to parse"):
        parse(labelSelector="a in (", **wrong)
    with pytest.raises(APIError, match="ParseInt"):
        parse(labelSelector="a in (", limit="x", **wrong)


@pytest.mark.spec("API-066")
def test_a_kind_may_word_its_own_refusal_of_a_field() -> None:
    """Given a kind without fields of its own / when one is asked for / then the refusal says which
    there are.
    """
    with pytest.raises(APIError) as error:
        parse(kind=CONFIG_MAP, fieldSelector="data.x=1")
    assert error.value.message == (
        '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"')


def test_a_field_may_have_an_older_name() -> None:
    """Given the older name of a field / when it is asked for / then it is the field."""
    assert parse(fieldSelector="spec.host=n1").exact_field("spec.nodeName") == "n1"


def test_a_watch_from_nothing_streams_a_list() -> None:
    """Given no version, or "0" / when a watch begins / then it is a watch-list, unless it names a
    version.
    """
    assert parse(watch=True).send_initial_events is True
    assert parse(watch=True, resourceVersion="0").send_initial_events is True
    assert parse(watch=True, resourceVersion="5").send_initial_events is None
    said = parse(watch=True, sendInitialEvents="perhaps", resourceVersionMatch="NotOlderThan")
    assert said.send_initial_events is True


def test_a_path_of_the_old_form_names_one_object() -> None:
    """Given a watch path with a name / when a field selector names another / then 400, else it is
    confined to it.
    """
    assert parse(watch=True, name="a").exact_field("metadata.name") == "a"
    with pytest.raises(APIError, match=r"fieldSelector metadata.name doesn't match requested name"):
        parse(watch=True, name="a", fieldSelector="metadata.name=b")


def test_empty_selectors_select_everything() -> None:
    """Given empty selectors and a limit below nothing / when they are read / then nothing narrows
    the list.
    """
    options = parse(labelSelector="", fieldSelector="", limit="-5")
    assert options.selects_all
    assert options.limit == 0
