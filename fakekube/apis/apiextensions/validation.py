"""What is wrong with a CustomResourceDefinition.

Upstream validates its internal version, where what all versions have alike stands once, at the top:
``spec.validation``, ``spec.subresources`` and so on; errors name these paths. What is asked of an
update depends on what the stored definition keeps to already. Schemas, columns and paths are looked
at in ``fakekube/apiextensions/validation``. Upstream:
apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go and v1/conversion.go.
"""

from collections.abc import Iterator
from typing import NamedTuple

from fakekube.apiextensions import approval
from fakekube.apiextensions.validation import internal, paths, schemas, structural
from fakekube.apiextensions.validation.schemas import Rules
from fakekube.apimachinery import conditions, field_errors, names
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError, child, forbidden, index, invalid, key, not_supported, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import immutable
from fakekube.apis.admissionregistration.rules import client_errors
from fakekube.util.turns import Turn

SCOPES, STRATEGIES, REVIEW_VERSIONS = ("Cluster", "Namespaced"), ("None", "Webhook"), ("v1", "v1beta1")
OF_EACH_VERSION = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")
NOT_AT_ONCE = (
    "missing from spec.versions; {0} was previously a storage version, and must remain in spec.versions until a storage "
    "migration ensures no data remains persisted in {0} and removes {0} from status.storedVersions")
NOT_UNKNOWN = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
MAX_WARNING_BYTES = 256


class _Spec(NamedTuple):
    """A spec as upstream's internal version has it: what all versions have alike is in ``top``."""

    top: Tree
    versions: list[Tree]


def definition_errors(
    obj: Tree, of_metadata: list[FieldError], *, release: str, turn: Turn | None = None,
) -> list[FieldError]:
    """All that is wrong with a new definition, what is wrong with its metadata among it.

    ``turn`` is ended now and then: raises TakesLong in the first.
    """
    spec, meta = obj.get("spec") or {}, obj["metadata"]
    wanted = f"{(spec.get('names') or {}).get('plural', '')}.{spec.get('group', '')}"
    found = list(of_metadata)
    places: list[str] = []
    for name in ("generateName", "name"):
        places.append(f"metadata.{name}")
        if meta.get(name) and meta[name] != wanted:
            place = sum(1 for error in found if error.field in places)
            found.insert(place, invalid(places[-1], meta[name], 'must be spec.names.plural+"."+spec.group'))
    found += _spec_errors(spec, Rules(release=release, turn=turn), "spec")
    found += _status_errors(obj) + _approval_errors(obj, None)
    return found + _unknown_field_errors(spec, None)


def update_errors(obj: Tree, old: Tree, *, release: str, turn: Turn | None = None) -> list[FieldError]:
    """All that is wrong with a changed definition, metadata excepted; ``turn`` as above."""
    spec, old_spec = obj.get("spec") or {}, old["spec"]
    found = _spec_errors(spec, _rules_after(spec, old_spec, release)._replace(turn=turn), "spec", old_spec)
    new_names, old_names = spec.get("names") or {}, old_spec["names"]
    if conditions.is_true(old["status"]["conditions"], "Established"):
        found += immutable("spec.scope", spec.get("scope", ""), old_spec["scope"])
        found += immutable("spec.names.kind", new_names.get("kind", ""), old_names["kind"])
    found += immutable("spec.group", spec.get("group", ""), old_spec["group"])
    found += immutable("spec.names.plural", new_names.get("plural", ""), old_names["plural"])
    found += _status_errors(obj) + _approval_errors(obj, old)
    return found + _unknown_field_errors(spec, old_spec)


def status_update_errors(obj: Tree) -> list[FieldError]:
    """What is wrong with a status that somebody writes."""
    return _name_errors((obj.get("status") or {}).get("acceptedNames") or {}, "status.acceptedNames")


def _rules_after(spec: Tree, old_spec: Tree, release: str) -> Rules:
    """What is asked of a change: no more than what the stored definition keeps to, in each respect.
    """
    before = [schema for entry in old_spec["versions"] if (schema := _schema_of(entry)) is not None]
    each = [node for schema in before for node in structural.every_schema(schema)]
    old = {entry["name"]: _schema_of(entry) for entry in old_spec["versions"]}
    unchanged = (
        entry["name"] for entry in spec.get("versions") or ()
        if entry.get("name") in old and same(old[entry["name"]], _schema_of(entry)))
    rules = [rule for node in each for rule in node.get("x-kubernetes-validations") or ()]
    return Rules(
        valid_types=all(node.get("type", "") in ("", *schemas.TYPES) for node in each),
        structural=all(schemas.is_structural(schema) for schema in before),
        pruned_defaults=not any(schemas.has_unpruned_defaults(schema) for schema in before),
        atomic_sets=not any(map(schemas.has_divisible_items, each)),
        map_keys=not any(schemas.key_errors(node, "") for node in each),
        known=frozenset(rule.get(name, "") for rule in rules for name in ("rule", "messageExpression")),
        unchanged=frozenset(unchanged), release=release)


def _schema_of(entry: Tree) -> Tree | None:
    found: Tree | None = (entry.get("schema") or {}).get("openAPIV3Schema")
    return found


def _hoisted(spec: Tree) -> _Spec:
    """What all versions have alike, and the versions without it."""
    versions = spec.get("versions") or []
    if not versions:
        return _Spec({}, [])
    alike = [
        name for name in OF_EACH_VERSION if all(same(entry.get(name), versions[0].get(name)) for entry in versions[1:])]
    top = {name: versions[0][name] for name in alike if name in versions[0]}
    return _Spec(top, [{name: value for name, value in entry.items() if name not in alike} for entry in versions])


# the spec


def _spec_errors(spec: Tree, rules: Rules, path: str, old: Tree | None = None) -> list[FieldError]:
    top, versions = _hoisted(spec)
    group = spec.get("group", "")
    found = _group_errors(group, child(path, "group")) + _word_errors(spec.get("scope", ""), SCOPES, child(path, "scope"))
    if not spec.get("preserveUnknownFields"):
        rules = rules._replace(structural=True)
    found += _missing_schemas(top, versions, child(path, "versions"), old)
    more = _too_many_fields(spec, old)
    for number, entry in enumerate(versions):
        where, name = index(child(path, "versions"), number), entry.get("name", "")
        if texts := names.dns1035_label(name):
            found.append(invalid(child(where, "name"), name, ",".join(texts)))
        subresources = entry.get("subresources", top.get("subresources"))
        found += _version_errors(entry, where, rules, status="status" in (subresources or {}), any_number=name in more)
    found += _version_list_errors(None if spec.get("versions") is None else versions, child(path, "versions"))
    if versions and (texts := names.dns1035_label(versions[0].get("name", ""))) and versions[0].get("name"):
        found.append(invalid(child(path, "version"), versions[0]["name"], ",".join(texts)))
    found += _spec_name_errors(spec.get("names") or {}, child(path, "names"))
    found += schemas.schema_errors(
        top.get("schema"), child(path, "validation"), rules,
        status=any("status" in (entry.get("subresources") or {}) for entry in (top, *versions)),
        unchanged=bool(versions) and versions[0].get("name") in rules.unchanged)
    found += paths.subresource_errors(top.get("subresources"), child(path, "subresources"))
    found += _column_errors(top, path)
    if top.get("selectableFields"):
        found += _hoisted_fields(top, path, any_number="" in more)
    return found + _conversion_errors(spec.get("conversion"), child(path, "conversion"), old)


def _group_errors(group: str, path: str) -> list[FieldError]:
    if not group:
        return [required(path)]
    if texts := names.dns1123_subdomain(group):
        return [invalid(path, group, ",".join(texts))]
    return [] if "." in group else [invalid(path, group, "should be a domain with at least one dot")]


def _word_errors(value: str, words: tuple[str, ...], path: str) -> list[FieldError]:
    if not value:
        return [required(path)]
    return [] if value in words else [not_supported(path, value, words)]


def _missing_schemas(top: Tree, versions: list[Tree], path: str, old: Tree | None) -> list[FieldError]:
    """Each version has a schema; a stored definition that lacks one may go on to lack it, where the
    version is not served.
    """
    if _schema_of(top) is not None:
        return []
    lenient = old is not None and any(_schema_of(entry) is None for entry in old["versions"])
    detail = "because otherwise all fields are pruned" if lenient else ""
    return [
        required(child(index(path, number), "schema", "openAPIV3Schema"), detail)
        for number, entry in enumerate(versions) if _schema_of(entry) is None and (entry.get("served") or not lenient)]


def _version_errors(entry: Tree, path: str, rules: Rules, *, status: bool, any_number: bool) -> list[FieldError]:
    warning = entry.get("deprecationWarning")
    found = [
        invalid(child(path, "deprecationWarning"), warning, text)
        for text in _warning_complaints(warning, deprecated=bool(entry.get("deprecated")))]
    found += schemas.schema_errors(
        entry.get("schema"), child(path, "schema"), rules, status=status, unchanged=entry.get("name") in rules.unchanged)
    found += paths.subresource_errors(entry.get("subresources"), child(path, "subresources"))
    found += _column_errors(entry, path)
    if entry.get("selectableFields") and _schema_of(entry) is None:
        text = "may only be set when `version.schema.openAPIV3Schema` is not included"
        found.append(invalid(child(path, "selectableFields"), "", text))
    return found + schemas.selectable_errors(entry, _schema_of(entry), path, any_number=any_number)


def _warning_complaints(warning: str | None, *, deprecated: bool) -> Iterator[str]:
    if warning is None:
        return
    if not deprecated:
        yield "can only be set for deprecated versions"
        return
    if names.is_longer(warning, MAX_WARNING_BYTES):
        yield "must be <= 256 characters long"
    if not warning:
        yield "must not be an empty string"
    place = 0
    for letter in warning:
        if not letter.isprintable():
            yield f"must only contain printable UTF-8 characters; non-printable character found at index {place}"
            return
        place += len(letter.encode())


def _column_errors(entry: Tree, path: str) -> list[FieldError]:
    where = child(path, "additionalPrinterColumns")
    columns = entry.get("additionalPrinterColumns") or ()
    return [error for number, column in enumerate(columns) for error in paths.column_errors(column, index(where, number))]


def _hoisted_fields(top: Tree, path: str, *, any_number: bool) -> list[FieldError]:
    if top.get("schema") is None:
        return [invalid(child(path, "selectableFields"), "", "may only be set when validations.schema is included")]
    return schemas.selectable_errors(top, _schema_of(top), path, any_number=any_number)


def _too_many_fields(spec: Tree, old: Tree | None) -> list[str]:
    """The versions that had too many selectable fields before, and have the same now; empty for
    what all versions have alike.
    """
    if old is None:
        return []
    now, before = _hoisted(spec), _hoisted(old)
    stored = {"": before.top, **{entry["name"]: entry for entry in before.versions}}
    return [
        name for name, entry in (("", now.top), *((entry.get("name", ""), entry) for entry in now.versions))
        if len((stored.get(name) or {}).get("selectableFields") or ()) > paths.MAX_SELECTABLE_FIELDS
        and same(stored[name]["selectableFields"], entry.get("selectableFields"))]


def _version_list_errors(versions: list[Tree] | None, path: str) -> list[FieldError]:
    """What no two versions may share, and what one of them must be; None where nothing is given."""
    texts = []
    if field_errors.repetitions([entry.get("name", "") for entry in versions or ()]):
        texts.append("must contain unique version names")
    if sum(1 for entry in versions or () if entry.get("storage")) != 1:
        texts.append("must have exactly one version marked as storage version")
    if not texts:
        return []
    shown = None if versions is None else internal.printed_versions(versions)
    return [invalid(path, shown, text) for text in texts]


def _spec_name_errors(given: Tree, path: str) -> list[FieldError]:
    found = [required(child(path, name)) for name in ("plural", "singular", "kind", "listKind") if not given.get(name)]
    return found + _name_errors(given, path)


def _name_errors(given: Tree, path: str) -> list[FieldError]:
    """Names, in the spec or in the status."""
    found: list[FieldError] = []

    def check(name: str, text: str, *, mixed_case: bool = False) -> None:
        texts = names.dns1035_label(text.lower() if mixed_case else text)
        if texts:
            before = "may have mixed case, but should otherwise match: " if mixed_case else ""
            found.append(invalid(child(path, name), text, before + ",".join(texts)))

    for name in ("plural", "singular", "kind", "listKind"):
        if given.get(name):
            check(name, given[name], mixed_case=name in ("kind", "listKind"))
    for number, text in enumerate(given.get("shortNames") or ()):
        check(index("shortNames", number), text)
    if given.get("kind") and given["kind"] == given.get("listKind"):
        found.append(invalid(child(path, "listKind"), given["kind"], "kind and listKind may not be the same"))
    for number, text in enumerate(given.get("categories") or ()):
        check(index("categories", number), text)
    return found


# conversion


def _conversion_errors(conversion: Tree | None, path: str, old: Tree | None) -> list[FieldError]:
    if conversion is None:
        return []
    strategy, webhook = conversion.get("strategy", ""), conversion.get("webhook") or {}
    found = _word_errors(strategy, STRATEGIES, child(path, "strategy"))
    client, versions = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    if strategy != "Webhook":
        unwanted = (("webhookClientConfig", client is not None), ("conversionReviewVersions", bool(versions)))
        return found + [
            forbidden(child(path, name), "should not be set when strategy is not set to Webhook")
            for name, is_there in unwanted if is_there]
    where = child(path, "webhookClientConfig")
    found += [required(where, "required when strategy is set to Webhook")] if client is None else client_errors(where, client)
    before = (((old or {}).get("conversion") or {}).get("webhook") or {}).get("conversionReviewVersions") or []
    known = not before or any(version in REVIEW_VERSIONS for version in before)
    return found + _review_version_errors(versions, child(path, "conversionReviewVersions"), one_known=known)


def _review_version_errors(versions: list[str], path: str, *, one_known: bool) -> list[FieldError]:
    if not versions:
        return [required(path)]
    found, repeated = [], field_errors.repetitions(versions)
    for number, version in enumerate(versions):
        where = index(path, number)
        if number in repeated:
            found.append(invalid(where, version, "duplicate version"))
        else:
            found += [invalid(where, version, text) for text in names.dns1035_label(version)]
    if one_known and not any(version in REVIEW_VERSIONS for version in versions):
        found.append(invalid(path, versions, f"must include at least one of {', '.join(REVIEW_VERSIONS)}"))
    return found


# what is beside the spec


def _status_errors(obj: Tree) -> list[FieldError]:
    """The status, and the versions that objects may be stored in."""
    found, path = status_update_errors(obj), "status.storedVersions"
    stored = (obj.get("status") or {}).get("storedVersions") or []
    if not stored:
        return [*found, invalid(path, None, "must have at least one stored version")]
    given = [entry.get("name", "") for entry in obj["spec"].get("versions") or ()]
    for entry in obj["spec"].get("versions") or ():
        if entry.get("storage") and entry.get("name") not in stored:
            found.append(invalid(path, stored, f"must have the storage version {entry.get('name', '')}"))
    for number, version in enumerate(stored):
        if version not in given:
            found.append(invalid(index(path, number), version, NOT_AT_ONCE.format(version)))
    return found


def _approval_errors(obj: Tree, old: Tree | None) -> list[FieldError]:
    """The annotation that groups of the community need; nobody is asked twice."""
    found, where = approval.approval_of(obj), key("metadata.annotations", approval.ANNOTATION)
    if found is None or found.reason in ("ApprovedAnnotation", "UnapprovedAnnotation"):
        return []
    if old is not None and approval.approval_of(old) == found:
        return []
    return [required(where, found.message) if found is approval.MISSING else invalid(
        where, approval.annotation_of(obj), found.message)]


def _unknown_field_errors(spec: Tree, old_spec: Tree | None) -> list[FieldError]:
    if not spec.get("preserveUnknownFields") or (old_spec or {}).get("preserveUnknownFields"):
        return []
    return [invalid("spec.preserveUnknownFields", True, NOT_UNKNOWN)]
