"""What was found to break the server once, by name, and what a real one answers: recorded on
Kubernetes 1.37.
"""

from urllib.parse import parse_qs

import orjson
import pytest

from tests.fuzz.conftest import APPLY, JSON, JSON_PATCH, MAP, MAPS, MERGE_PATCH, POD, STRATEGIC, YAML, Target

NINES = "9" * 5000  # more digits than Python reads
LINES = [b"a: &a [x,x,x,x,x,x,x,x,x,x]"]
LINES += [b"%c: &%c [%b]" % (98 + n, 98 + n, b",".join([b"*%c" % (97 + n)] * 10)) for n in range(6)]
COPIES = b",".join(b'{"op":"copy","from":"/metadata","path":"/metadata/x%d"}' % n for n in range(40))
OPEN_LISTS, OPEN_MAPS = b"[" * 100_000, b'{"a":' * 100_000
UNTIL_JSON = "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: "
UNTIL_YAML = "the object provided is unrecognized (must be of type ConfigMap): "
AS_MAP = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
APPLIED = "?fieldManager=m"
STRICT, LOOSE = "?fieldValidation=Strict", "?fieldValidation=Ignore"
REJECTED = "the server rejected our request due to an error in our request"
TIME = b'{"metadata":{"name":"a","creationTimestamp":"2020-01-01T00:00:00%b"}}'


def generation(number: bytes) -> bytes:
    return b'{"metadata":{"name":"a","generation":' + number + b"}}"


def no_int64(number: str) -> str:
    return f"{AS_MAP}json: cannot unmarshal number {number} into Go struct field ObjectMeta.metadata.generation of type int64"


def no_float(number: str, where: str = "value") -> str:
    return f"json: cannot unmarshal number {number} into Go {where} of type float64"


NUMBERS = [
    ("beyond all floats", "POST", MAPS, generation(b"1e999"), JSON, 400, no_int64("1e999")),
    ("of 400 digits", "POST", MAPS, generation(b"9" * 400), JSON, 400, no_int64("9" * 400)),
    ("of 5000 digits", "POST", MAPS, generation(NINES.encode()), JSON, 400, no_int64(NINES)),
    ("without a sign", "POST", MAPS, generation(b"18446744073709551615"), JSON, 400, no_int64("18446744073709551615")),
    ("whole, with an exponent", "POST", MAPS, generation(b"1e18"), JSON, 400, no_int64("1e18")),
    ("that is none", "POST", MAPS, generation(b"NaN"), JSON, 400, UNTIL_JSON + "invalid character 'N' looking for beginning of"),
    ("in an unknown field", "POST", MAPS + STRICT, b'{"metadata":{"name":"a"},"foo":%b}' % (NINES.encode()), JSON, 400,
     AS_MAP + 'strict decoding error: unknown field "foo"'),
    ("merged", "PATCH", MAP, b'{"metadata":{"generation":1e999}}', MERGE_PATCH, 400,
     "error decoding patch: " + no_float("1e999")),
    ("merged, of 400 digits", "PATCH", MAP, b'{"foo":%b}' % (b"9" * 400), MERGE_PATCH, 400,
     "error decoding patch: " + no_float("9" * 400)),
    ("merged strategically", "PATCH", MAP, b'{"metadata":{"generation":-1E400}}', STRATEGIC, 400, no_float("-1E400")),
    ("added", "PATCH", MAP, b'[{"op":"add","path":"/data/x","value":1e999}]', JSON_PATCH, 400,
     "error decoding patch: " + no_float("1e999", "struct field jsonPatchOp.value")),
    ("of an index", "PATCH", MAP, b'[{"op":"remove","path":"/metadata/managedFields/%b"}]' % NINES.encode(), JSON_PATCH, 422,
     REJECTED),
    ("of a version", "PUT", MAP, b'{"metadata":{"name":"kept","resourceVersion":"%b"}}' % (NINES.encode()), JSON, 500,
     f'strconv.ParseUint: parsing "{NINES}": value out of range'),
    ("of a version, in other digits", "PUT", MAP, '{"metadata":{"name":"kept","resourceVersion":"٣"}}'.encode(), JSON, 500,
     'strconv.ParseUint: parsing "٣": invalid syntax'),
    ("of a limit", "GET", f"{MAPS}?limit={NINES}", b"", JSON, 400, f'strconv.ParseInt: parsing "{NINES}": value out of range'),
    ("of a port", "POST", f"{POD}/portforward?ports={NINES}", b"", JSON, 400,
     f'cannot convert to []int32: strconv.ParseUint: parsing "{NINES}": value out of range'),
    ("of a label, with zeros", "GET", f"{MAPS}?labelSelector=a%3E{'0' * 5000}1", b"", JSON, 400, "unable to parse requirement: "),
    ("of a zone's minutes", "POST", MAPS, TIME % b"+99:99", JSON, 400,
     AS_MAP + 'parsing time "2020-01-01T00:00:00+99:99": time zone offset minute out of range'),
    ("of a zone's hours", "POST", MAPS, TIME % b"+25:00", JSON, 400,
     AS_MAP + 'parsing time "2020-01-01T00:00:00+25:00": time zone offset hour out of range'),
]
TEXTS = [
    ("half a character", "POST", MAPS, b'{"metadata":{"name":"a\\ud800"}}', JSON, 422,
     'ConfigMap "a\ufffd" is invalid: metadata.name: Invalid value: "a\ufffd": a lowercase RFC 1123 subdomain'),
    ("no text", "POST", MAPS, b'{"metadata":{"name":"a\xff"}}', JSON, 422,
     'ConfigMap "a\ufffd" is invalid: metadata.name: Invalid value: "a\ufffd": a lowercase RFC 1123 subdomain'),
    ("half a character as a key", "PATCH", MAP, b'[{"op":"add","path":"/data/\\udfff","value":"y"}]', JSON_PATCH, 422,
     'ConfigMap "kept" is invalid: data[\ufffd]: Invalid value: "\ufffd": a valid config key must consist of'),
    ("half a character as an unknown field", "POST", MAPS + STRICT, b'{"metadata":{"name":"a"},"\\ud800":1}', JSON, 400,
     AS_MAP + 'strict decoding error: unknown field "\ufffd"'),
    ("half a character, applied", "PATCH", MAP + APPLIED, b'{"metadata":{"name":"a\\ud800"}}', APPLY, 400,
     "error decoding patch: error converting YAML to JSON: yaml: found invalid Unicode character escape code"),
    ("no text, applied", "PATCH", MAP + APPLIED, b'{"metadata":{"name":"\xff"}}', APPLY, 400,
     "error decoding patch: error converting YAML to JSON: yaml: invalid leading UTF-8 octet"),
    ("no text, applied as YAML", "PATCH", MAP + APPLIED, b"a: \xff", APPLY, 400,
     "error encoding patch: yaml: invalid leading UTF-8 octet"),
    ("a byte order mark", "POST", MAPS, b'\xef\xbb\xbf{"metadata":{"name":"a"}}', JSON, 400,
     UNTIL_JSON + "invalid character 'ï' looking for beginning of value (efbbbf7b22"),
    ("UTF-16", "POST", MAPS, '\ufeff{"metadata":{"name":"a"}}'.encode("utf-16-le"), JSON, 400,
     UNTIL_JSON + "invalid character 'ÿ' looking for beginning of value (fffe7b0022"),
    ("a zero byte", "POST", MAPS, b'{"metadata":{"name":"a\\u0000"}}', JSON, 422,
     'ConfigMap "a\\x00" is invalid: metadata.name: '),
]
DEPTHS = [
    ("lists", "POST", MAPS, OPEN_LISTS, JSON, 400, UNTIL_JSON + "invalid character '[' exceeded max depth (5b5b5b"),
    ("maps", "POST", MAPS, OPEN_MAPS, JSON, 400, UNTIL_JSON + "invalid character '{' exceeded max depth ({\"a\":{\"a\":"),
    ("maps, merged", "PATCH", MAP, OPEN_MAPS, MERGE_PATCH, 400, "invalid JSON patch"),
    ("lists, merged strategically", "PATCH", MAP, OPEN_LISTS, STRATEGIC, 400, "invalid JSON patch"),
    ("lists of operations", "PATCH", MAP, OPEN_LISTS, JSON_PATCH, 400, "invalid JSON patch"),
    ("maps, applied", "PATCH", MAP + APPLIED, OPEN_MAPS + b"1" + b"}" * 100_000, APPLY, 400,
     "error decoding patch: error converting YAML to JSON: yaml: exceeded max depth of 10000"),
    ("lists, applied", "PATCH", MAP + APPLIED, OPEN_LISTS + b"]" * 100_000, APPLY, 400,
     "error encoding patch: yaml: exceeded max depth of 10000"),
    ("lists in YAML", "POST", MAPS, OPEN_LISTS, YAML, 400, UNTIL_YAML + "yaml: exceeded max depth of 10000 (5b5b"),
    ("YAML that grows", "POST", MAPS, b"\n".join(LINES), YAML, 400, UNTIL_YAML + "yaml: document contains excessive aliasing"),
    ("YAML in itself", "POST", MAPS, b"a: &a [*a]", YAML, 400, UNTIL_YAML + "yaml: anchor 'a' value contains itself"),
    ("copies that grow", "PATCH", MAP, b"[%b]" % COPIES, JSON_PATCH, 422, REJECTED),
]
SHAPES = [
    ("YAML, a list as a key", "POST", MAPS, b"? [a]\n: b", YAML, 400, UNTIL_YAML + 'yaml: invalid map key: []interface {}{"a"}'),
    ("YAML, infinity", "POST", MAPS, b"data: .inf", YAML, 400, UNTIL_YAML + "json: unsupported value: +Inf"),
    ("operations, an object", "PATCH", MAP + LOOSE, b'{"op":"add"}', JSON_PATCH, 400,
     "json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
    ("an operation, a number", "PATCH", MAP + LOOSE, b"[1]", JSON_PATCH, 400,
     "json: cannot unmarshal number into Go value of type jsonpatch.Operation"),
    ("an operation of no kind", "PATCH", MAP + LOOSE, b'[{"op":1,"path":"/data/x"}]', JSON_PATCH, 422, REJECTED),
    ("a token of nothing", "GET", f"{MAPS}?continue=e30", b"", JSON, 400,
     "invalid continue token: continue key is not valid: server does not recognize this encoded version "),
]
CASES = {
    f"{what} {name}": case
    for what, cases in (("a number", NUMBERS), ("a text:", TEXTS), ("too deep:", DEPTHS), ("a shape:", SHAPES))
    for name, *case in cases}


@pytest.mark.spec("API-032")
@pytest.mark.parametrize("name", CASES)
def test_what_broke_the_server_once(target: Target, name: str) -> None:
    """Given a request that once was a panic, a hang or taken for another / when it is sent / then
    the answer is upstream's.
    """
    method, url, body, media, code, message = CASES[name]
    path, _, query = url.partition("?")
    response = target.send(method, path, body, media, query=parse_qs(query))
    status = orjson.loads(response.body)
    assert (response.status, status["message"][:len(message)]) == (code, message)


@pytest.mark.parametrize("media", [MERGE_PATCH, STRATEGIC])
def test_a_whole_number_with_a_point_where_it_may_stand(target: Target, media: str) -> None:
    """Given 5.0 seconds / when they are merged in / then only the strategic way takes them for 5.
    """
    response = target.send("PATCH", POD, b'{"spec":{"activeDeadlineSeconds":5.0}}', media, query={"dryRun": "All"})
    if media == STRATEGIC:
        assert orjson.loads(response.body)["spec"]["activeDeadlineSeconds"] == 5
    else:
        assert response.status == 422


def test_aliases_may_not_hide_how_deep_it_is(target: Target) -> None:
    """Given anchors of which each holds the one before, ever deeper / when they are sent / then it
    is too deep.
    """
    lines = [b"a0: &a0 x"] + [b"a%d: &a%d %b*a%d%b" % (n, n, b"[" * 150, n - 1, b"]" * 150) for n in range(1, 9)]
    code, message = target.told(target.send("POST", MAPS, b"\n".join(lines), YAML))
    assert (code, message.partition(" (6")[0]) == (400, f"{UNTIL_YAML}yaml: exceeded max depth of 10000")


def test_copies_may_not_make_it_too_deep(target: Target) -> None:
    """Given a value that is nearly too deep / when it is copied into itself / then the patch is
    refused.
    """
    deep = b"[" * 150 + b"]" * 150
    operations = b'[{"op":"add","path":"/x","value":%b},{"op":"copy","from":"/x","path":"/x%b/-"}]' % (deep, b"/0" * 149)
    assert target.told(target.send("PATCH", MAP, operations, JSON_PATCH)) == (422, REJECTED)
