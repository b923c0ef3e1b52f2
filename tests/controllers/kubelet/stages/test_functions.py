"""What each function of a template comes to, one call after the other."""

from typing import Any

import pytest

from fakekube_controllers.kubelet.stages.functions import BUILT_IN
from fakekube_controllers.kubelet.stages.render import render
from fakekube_controllers.kubelet.stages.template import TemplateError, parse

DATA: dict[str, Any] = {
    "name": "web-0", "on": True, "off": False, "three": 3, "half": 2.5, "whole": 2.0, "huge": 1e21, "none": None, "empty": [],
    "labels": {"b": "2", "a": "1"}, "words": ["x", "y", "z"], "mixed": ["x", 1, None, True], "twice": ["b", "a", "b"],
}


def made(text: str) -> str:
    return render(parse(text, BUILT_IN), DATA, {})


@pytest.mark.parametrize(("call", "expected"), [
    # how values are printed
    (".none", "<no value>"), (".on", "true"), (".off", "false"), (".half", "2.5"), (".whole", "2"), (".huge", "1e+21"),
    (".mixed", "[x 1 <no value> true]"), (".labels", "map[a:1 b:2]"), (".three", "3"),
    # Go's own
    ("lt 1 2", "true"), ("lt 2 2", "false"), ("le 2 2", "true"), ("le 3 2", "false"), ("gt 2 1", "true"), ("gt 2 2", "false"),
    ("ge 2 2", "true"), ("ge 1 2", "false"), ("eq 1 1", "true"), ("eq 1 2", "false"), ("eq 1 2 3 1", "true"),
    ("ne 1 1", "false"), ("ne 1 2", "true"), ("eq .on true", "true"), ("eq .on 1", "false"), ("not .off", "true"),
    ("not .name", "false"), ("and .on .name", "web-0"), ("and .off .name", "false"), ("and .on .empty .name", "[]"),
    ("or .off .name", "web-0"), ("or .on .name", "true"), ("or .off .none", "<no value>"), (".name | and .on", "web-0"),
    (".name | or .off", "web-0"), ("index .words 2", "z"), ('index .labels "b"', "2"), ("index .none 1", "<no value>"),
    ('index .labels "c"', "<no value>"), ("len .words", "3"), ("len .name", "5"), ("len .none", "0"),
    ("print 1 2", "1 2"), ('print "a" 1 2 "b" "c"', "a1 2bc"), ("print .none", "<no value>"), ('println "a" 1 "b"', "a 1 b\n"),
    ("slice .name 1 3", "eb"), ("slice .words 1", "[y z]"), ("slice .name", "web-0"),
    # printf
    ('printf "%d|%3d|%-3d|%03d" 7 7 7 7', "7|  7|7  |007"),
    ('printf "%s|%4s|%-4s|%.2s" "abc" "ab" "ab" "abc"', "abc|  ab|ab  |ab"),
    ('printf "%.1f|%f|%6.2f" 1.25 1.5 3.14159', "1.2|1.500000|  3.14"), ('printf "%x %X %x" 255 255 "az"', "ff FF 617a"),
    ('printf "%q %v %t" "a\\"b" 1.5 true', '"a\\"b" 1.5 true'), ('printf "100%%"', "100%"),
    ('printf "%d %s" 1', "1 %!s(MISSING)"), ('printf "%-05d|" 7', "7    |"), ('printf "%e" 12345.678', "1.234568e+04"),
    # sprig's: what stands in for nothing
    ('default "d" .none', "d"), ('default "d" ""', "d"), ('default "d" .name', "web-0"), ('default "d"', "d"),
    ("empty .empty", "true"), ("empty .name", "false"), ('coalesce .none "" .name "x"', "web-0"),
    ("coalesce .none", "<no value>"),
    ('ternary "y" "n" true', "y"), ('ternary "y" "n" false', "n"), ('.off | ternary "y" "n"', "n"),
    # sprig's: maps
    ('dict "a" 1 "b" 2', "map[a:1 b:2]"), ('dict "a" 1 "b"', "map[a:1 b:]"), ("dict", "map[]"), ('dict 1 "x"', "map[1:x]"),
    ('get .labels "a"', "1"), ('get .labels "c"', ""), ('get .none "c"', ""), ('set (dict "a" 1) "b" 2', "map[a:1 b:2]"),
    ('unset (dict "a" 1 "b" 2) "a"', "map[b:2]"), ('omit .labels "a" "c"', "map[b:2]"), ('pick .labels "a" "c"', "map[a:1]"),
    ('merge (dict "a" 1) (dict "a" 2 "b" 3)', "map[a:1 b:3]"), ('hasKey .labels "a"', "true"), ('hasKey .labels "c"', "false"),
    ('hasKey .none "c"', "false"), ("keys .labels", "[a b]"), ('values (dict "a" 5)', "[5]"),
    # sprig's: lists
    ("list 1 2", "[1 2]"), ("first .words", "x"), ("first .empty", "<no value>"), ("last .words", "z"),
    ("last .empty", "<no value>"), ("rest .words", "[y z]"), ("initial .words", "[x y]"), ('has "y" .words', "true"),
    ('has "q" .words', "false"), ('append .words "w"', "[x y z w]"), ("concat (list 1 2) (list 3)", "[1 2 3]"),
    ("uniq .twice", "[b a]"), ("until 3", "[0 1 2]"), ('join "-" .words', "x-y-z"), ('join "," .mixed', "x,1,<no value>,true"),
    ('join "," .none', ""),
    # sprig's: numbers
    ("add 1 2 3", "6"), ('add "4" 1', "5"), ('add "x" 1', "1"), ('add "2.9" .none', "2"), ("add1 4", "5"), ("sub 5 7", "-2"),
    ("mul 2 3 4", "24"), ("div 7 2", "3"), ("div -7 2", "-3"), ("div 7 -2", "-3"), ("div -7 -2", "3"), ("mod 7 3", "1"),
    ("mod -7 3", "-1"), ("max 1 9 4", "9"), ("min 4 1 9", "1"), ('int "12"', "12"), ("int 2.9", "2"), ('int64 "7"', "7"),
    ('atoi "8"', "8"), ('atoi "eight"', "0"), ('float64 "1.5"', "1.5"), ("float64 .none", "0"),
    # sprig's: texts
    ("toString .none", ""), ("toString .on", "true"), ("toJson .labels", '{"b":"2","a":"1"}'),
    ('fromJson "{\\"a\\": [1, 2]}"', "map[a:[1 2]]"), ("toYaml .labels", "a: '1'\nb: '2'"),
    ("quote .name 3 .none", '"web-0" "3"'),
    ('quote "a\\"b"', '"a\\"b"'), ("squote .name .none 3", "'web-0' '3'"), ('upper "aB"', "AB"), ('lower "aB"', "ab"),
    ('title "ab cd"', "Ab Cd"), ('trim "  a b "', "a b"), ('trimPrefix "web-" .name', "0"), ('trimSuffix "-0" .name', "web"),
    ('trimPrefix "x" .name', "web-0"), ('trunc 3 "abcdef"', "abc"), ('trunc -2 "abcdef"', "ef"), ('trunc -1 "abcdef"', "f"),
    ('trunc 0 "abc"', ""), ('replace "b" "q" "abcb"', "aqcq"), ('contains "eb" .name', "true"), ('contains "be" .name', "false"),
    ('hasPrefix "web" .name', "true"), ('hasPrefix "eb" .name', "false"), ('hasSuffix "0" .name', "true"),
    ('hasSuffix "1" .name', "false"), ('split "-" .name', "map[_0:web _1:0]"), ('splitList "-" .name', "[web 0]"),
    ('repeat 3 "ab"', "ababab"), ('indent 2 "a\\nb"', "  a\n  b"), ('nindent 2 "a\\nb"', "\n  a\n  b"),
    ('b64enc "hi"', "aGk="), ('b64dec "aGk="', "hi"), ('regexMatch "^w.b" .name', "true"), ('regexMatch "^eb" .name', "false"),
    # sprig's: kinds
    ("kindOf .on", "bool"), ("kindOf .three", "int"), ("kindOf .half", "float64"), ("kindOf .name", "string"),
    ("kindOf .words", "slice"), ("kindOf .labels", "map"), ("kindOf .none", "invalid"), ('kindIs "map" .labels', "true"),
    ('kindIs "slice" .labels', "false"),
    # KWOK's
    ("Quote .name", '"web-0"'), ("Quote .three", '"3"'), ("Quote .none", '"null"'), ('Quote (dict "a" 1)', '"{\\"a\\":1}"'),
    ("YAML .labels", "a: '1'\nb: '2'\n"), ("YAML .labels 2", "\n    a: '1'\n    b: '2'\n    "), ('YAML (dict "z" (list 1) "a" 2)',
    "a: 2\nz:\n- 1\n"),
])
def test_a_function_comes_to_what_it_would_in_go(call: str, expected: str) -> None:
    """Given a call / when a template makes it / then its text is Go's, sprig's or KWOK's."""
    assert made(f"{{{{ {call} }}}}") == expected


def test_no_function_is_there_that_chance_or_the_hour_decides() -> None:
    """Given the functions that a template may call / then these are all."""
    assert sorted(BUILT_IN) == sorted(["and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "index", "len", "print", "printf",
    "println", "slice", "default", "empty", "coalesce", "ternary", "dict", "list", "get", "set", "unset", "omit", "pick", "merge",
    "hasKey", "keys", "values", "first", "last", "rest", "initial", "has", "append", "concat", "uniq", "until", "add", "add1",
    "sub", "mul", "div", "mod", "max", "min", "int", "int64", "atoi", "float64", "toString", "toJson", "fromJson", "toYaml",
    "quote", "squote", "upper", "lower", "title", "trim", "trimPrefix", "trimSuffix", "trunc", "replace", "contains", "hasPrefix",
    "hasSuffix", "split", "splitList", "repeat", "join", "indent", "nindent", "b64enc", "b64dec", "regexMatch", "kindIs",
    "kindOf", "Quote", "YAML"])


@pytest.mark.parametrize(("text", "expected"), [
    # marks and what they stand for
    (r'{{ "a\tb\n\\\"\u00e9\x41\q" }}', 'a\tb\n\\"éAq'), ("{{ `a\\n` }}", "a\\n"), ("{{ '\\n' }}{{ '\\'' }}{{ 'a' }}", "103997"),
    ("{{ 1_000 }} {{ 1e3 }} {{ 1.5e-1 }} {{ -4 }} {{ 2E2 }}", "1000 1000 0.15 -4 200"), ("{{ true }}{{ false }}{{ nil }}",
    "truefalse<no value>"), (r'{{ "\r" }}', "\r"),
    # trim marks and comments
    ("a \n {{- 1 -}} \n b", "a1b"), ("a {{- 1 }} b", "a1 b"), ("a {{ 1 -}} b", "a 1b"), ("a {{- /* no }} - */ -}} b", "ab"),
    ("a {{/* no */}} b", "a  b"), ("a {{-1}} b", "a -1 b"), ("x {{ 1 -}}\n\n{{ 2 }} y", "x 12 y"),
    # variables and their scopes
    ("{{ $x := .labels }}{{ $x.a }}{{ $.name }}", "1web-0"), ("{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ end }}{{ $x }}", "2"),
    ("{{ with $x := .name }}{{ $x }}{{ . }}{{ end }}", "web-0web-0"), ("{{ if $x := .name }}{{ $x }}{{ end }}", "web-0"),
    ("{{ range $e := .words }}{{ $e }}{{ end }}", "xyz"),
    ("{{ range $i, $e := .words }}{{ $i }}{{ $e }}{{ . }}{{ end }}", "0xx1yy2zz"),
    ("{{ range $k, $v := .labels }}{{ $k }}={{ $v }},{{ end }}", "a=1,b=2,"),
    # blocks
    ("{{ range .none }}a{{ else }}none{{ end }}", "none"), ("{{ range 0 }}a{{ else }}none{{ end }}", "none"),
    ("{{ range 2 }}{{ . }}{{ else }}none{{ end }}", "01"),
    ("{{ range .words }}{{ range $.words }}{{ break }}{{ end }}{{ . }}{{ end }}", "xyz"),
    ("{{ if .off }}a{{ else if .none }}b{{ else if .on }}c{{ else }}d{{ end }}", "c"),
    ("{{ if .off }}a{{ else if .none }}b{{ else }}d{{ end }}", "d"), ("{{ if .off }}a{{ end }}", ""),
    ("{{ with .labels }}{{ .b }}{{ else }}no{{ end }}", "2"), ("{{ with .none }}a{{ else with .labels }}{{ .a }}{{ end }}", "1"),
        # templates in templates
    ('{{ define "t" }}[{{ . }}{{ $ }}]{{ end }}{{ template "t" .three }}{{ template "t" }}', "[33][<no value><no value>]"),
    ('{{ define `t` }}{{ with .labels }}{{ $.name }}{{ end }}{{ end }}{{ $x := 1 }}{{ template "t" . }}{{ $x }}', "web-01"),
    ('{{ block "t" .labels }}{{ .a }}{{ end }}{{ template "t" dict "a" 7 }}', "17"),
    # pipelines
    ('{{ "a" | printf "%s%s" "b" | upper | quote }}', '"BA"'),
    ('{{ (index .words 1) }}{{ (dict "a" (dict "b" 5)).a.b }}', "y5"),
    ("{{ add (add 1 2) (mul 2 3) }}", "9"), ("{{ .labels.a }}{{ .none.a.b }}", "1<no value>"), ("{{ len (list) }}", "0"),
])
def test_the_language_is_gos(text: str, expected: str) -> None:
    """Given marks, variables, blocks and pipelines / then they come to what Go makes of them."""
    assert made(text) == expected


@pytest.mark.parametrize(("text", "complaint"), [
    ("{{ if .on }}a{{ else .off }}b{{ end }}", "line 1: unexpected '.off' after else"),
    ("{{ range $a, .b := .c }}{{ end }}", "line 1: a second variable is missing"),
    ("{{ range $a, $b }}{{ end }}", "line 1: nothing is assigned"), ("{{ .a ) }}", "line 1: unexpected ')'"),
    ("{{ .a := 1 }}", "line 1: unexpected ':='"), ('{{ "a }}', "line 1: unclosed action"),
    ("a\n\n{{ `x }}", "line 3: unclosed action"),
    ("x\n{{ if .on }}\n{{ .name }}\n", "line 4: unexpected end of the template: {{end}} is missing"),
    ("\n{{ else }}", "line 2: unexpected {{else}}"), ("{{ template }}", "line 1: a name in quotes is missing"),
    ('{{ block "t" }}{{ end }}', "line 1: a value is missing"), ("{{ .a | }}", "line 1: a value is missing"),
    ("{{ range .words }}{{ else }}{{ else }}{{ end }}", "line 1: unexpected {{else}}"),
    ("{{/* a }}", "line 1: unclosed comment"),
    ("{{ break }}", "line 1: {{break}} outside {{range}}"),
    ("\n{{ if .on }}{{ continue }}{{ end }}", "line 2: {{continue}} outside {{range}}"),
    ("{{ range .words }}{{ else }}{{ break }}{{ end }}", "line 1: {{break}} outside {{range}}"),
    ('{{ range .words }}{{ block "t" . }}{{ break }}{{ end }}{{ end }}', "line 1: {{break}} outside {{range}}"),
    # what reads, and does not fit
    ("{{ range .words }}{{ $x := 1 }}{{ end }}{{ $x }}", "undefined variable $x"),
    ("{{ if .on }}{{ $x := 1 }}{{ end }}{{ $x }}", "undefined variable $x"),
    ("{{ $x = 1 }}", "undefined variable $x"),
    ('{{ define "t" }}{{ $y }}{{ end }}{{ $y := 1 }}{{ template "t" }}', "undefined variable $y"),
    ("{{ 1 | .name }}", "can't give argument to non-function"),
    ("a\n{{ div 1 0 }}", "line 2: integer division or modulo by zero"),
    ("{{ .words.x }}", "can't evaluate field x in '[x y z]'"),
])
def test_what_is_wrong_is_said_with_its_line(text: str, complaint: str) -> None:
    """Given a template that is none, or does not fit / then this is the complaint."""
    with pytest.raises(TemplateError) as refused:
        made(text)
    assert str(refused.value) == complaint
