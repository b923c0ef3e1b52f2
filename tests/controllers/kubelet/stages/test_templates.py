"""Go templates of Stages."""

import pytest

from fakekube_controllers.kubelet.stages.functions import BUILT_IN
from fakekube_controllers.kubelet.stages.render import render
from fakekube_controllers.kubelet.stages.template import TemplateError, parse

DATA = {
    "name": "p", "empty": [], "on": True, "count": 3, "half": 0.5, "labels": {"b": "2", "a": "1"},
    "items": [{"name": "x", "ready": True}, {"name": "y"}], "nothing": None,
}


def made(text, data=DATA, **functions):
    return render(parse(text, (*BUILT_IN, *functions)), data, functions)


@pytest.mark.parametrize(("text", "expected"), [
    ("plain", "plain"),
    ("{{ .name }}", "p"),
    ("{{ .labels.a }}{{ .labels.c }}", "1<no value>"),
    ("{{ .nothing.deeper }}", "<no value>"),
    ("a {{- .name -}} b", "apb"),
    ("{{/* nothing */}}x", "x"),
    ('{{ "}}" }}{{ `{{` }}', "}}{{"),
    ("{{ if .on }}yes{{ else }}no{{ end }}", "yes"),
    ('{{ if .empty }}a{{ else if eq .name "p" }}b{{ else }}c{{ end }}', "b"),
    ("{{ with .labels }}{{ .a }}{{ $.name }}{{ end }}", "1p"),
    ("{{ with .empty }}a{{ else }}b{{ end }}", "b"),
    ("{{ with .empty }}a{{ else with .name }}{{ . }}{{ end }}", "p"),
    ("{{ range .items }}{{ .name }},{{ end }}", "x,y,"),
    ("{{ range $i, $e := .items }}{{ $i }}{{ $e.name }}{{ end }}", "0x1y"),
    ("{{ range $k, $v := .labels }}{{ $k }}{{ $v }}{{ end }}", "a1b2"),
    ("{{ range .empty }}a{{ else }}none{{ end }}", "none"),
    ("{{ range .count }}{{ . }}{{ end }}", "012"),
    ("{{ range .items }}{{ if .ready }}{{ continue }}{{ end }}{{ .name }}{{ end }}", "y"),
    ("{{ range .items }}{{ .name }}{{ break }}{{ end }}", "x"),
    ("{{ $x := 0 }}{{ range .items }}{{ $x = add1 $x }}{{ end }}{{ $x }}", "2"),
    ("{{ $x := 1 }}{{ if true }}{{ $x := 2 }}{{ end }}{{ $x }}", "1"),
    ('{{ define "t" }}<{{ .who }}>{{ end }}{{ template "t" dict "who" .name }}', "<p>"),
    ('{{ block "t" .name }}[{{ . }}]{{ end }}', "[p]"),
    ("{{ ( index .items 1 ).name }}", "y"),
    ('{{ index .labels "b" }}{{ index .items 0 "name" }}', "2x"),
    ('{{ .name | printf "%s-%03d" | quote }}', '"p-%!d(MISSING)"'),
    ('{{ printf "%s %d %q %v %5.2f%%" .name 7 "q" true 1.5 }}', 'p 7 "q" true  1.50%'),
    ('{{ and .on .name }}{{ or .empty .nothing "z" }}{{ not .on }}', "pzfalse"),
    ("{{ or .on (index .items 9) }}", "true"),
    ('{{ eq .count 1 2 3 }}{{ ne .name "q" }}{{ lt 1 2 }}{{ ge 1 2 }}', "truetruetruefalse"),
    ("{{ len .items }}{{ .half }}{{ .labels }}", "20.5map[a:1 b:2]"),
    ('{{ default "d" .nothing }}{{ ternary "y" "n" .on }}{{ coalesce .nothing .empty "c" }}', "dyc"),
    ('{{ upper .name }}{{ list 1 2 | last }}{{ hasKey .labels "a" }}{{ trunc 1 "abc" }}', "P2truea"),
    ("{{ sub 5 2 }}{{ mul 2 3 }}{{ div 7 2 }}{{ mod 7 2 }}{{ max 1 9 }}", "36319"),
    ("{{ .name | Quote }} {{ .count | Quote }} {{ .nothing | Quote }}", '"p" "3" "null"'),
    ("k:\n{{ YAML .labels 1 }}", "k:\n\n  a: '1'\n  b: '2'\n  "),
    ("{{ 'a' }}{{ -2 }}{{ 1.5 }}{{ nil }}", "97-21.5<no value>"),
])
def test_a_template_makes_what_gos_would(text, expected):
    """Given a template / then it makes what Go's, with KWOK's functions, would."""
    assert made(text) == expected


@pytest.mark.parametrize(("pattern", "text", "matches"), [
    ("^a+$", "aaa", True),
    ("b", "abc", True),
    ("^b", "abc", False),
    (r"\pL", "é", True),
    (r"\z", "a", True),  # Go's, which Python's own module does not know
    ("(a", "(a", False),
    ("(?=a)", "a", False),
    ("^(a|a)*$", "a" * 200 + "b", False),
])
def test_expressions_are_gos(pattern, text, matches):
    """Given a regular expression, when a template asks whether it matches, then it is read as Go
    does, what is none matches nothing, and none takes longer than its text is long.
    """
    assert made("{{ regexMatch .pattern .text }}", {"pattern": pattern, "text": text}) == str(matches).lower()


def test_functions_of_ones_own_may_be_called():
    """Given functions / then templates call them with what they are given, and what comes down the
    pipe last.
    """
    assert made('{{ greet "hi" .name }}{{ .name | greet "ho" }}', greet=lambda word, name: f"{word} {name};") == "hi p;ho p;"


@pytest.mark.parametrize(("text", "complaint"), [
    ("{{ if .a }}", "line 1: unexpected end of the template: {{end}} is missing"),
    ("a\n{{ end }}", "line 2: unexpected {{end}}"),
    ("{{ foo }}", 'line 1: function "foo" not defined'),
    ("{{ .a", "line 1: unclosed action"),
    ("{{ }}", "line 1: a value is missing"),
    ("{{ (.a }}", "line 1: a parenthesis is not closed"),
    ("{{ $x := }}", "line 1: a value is missing"),
    ("{{ .a ~ }}", "line 1: cannot read '~'"),
    ("{{ define t }}{{ end }}", "line 1: a name in quotes is missing"),
])
def test_what_is_no_template_is_refused(text, complaint):
    """Given a text that is no template / then it is refused, with the line."""
    with pytest.raises(TemplateError) as refused:
        made(text)
    assert str(refused.value) == complaint


@pytest.mark.parametrize(("text", "complaint"), [
    ("{{ $x }}", "undefined variable $x"),
    ("\n{{ index .items 7 }}", "line 2: list index out of range"),
    ("{{ .name.deeper }}", "can't evaluate field deeper in 'p'"),
    ('{{ template "t" }}', 'line 1: template "t" not defined'),
    ("{{ .name 1 }}", "can't give argument to non-function"),
    ('{{ define "t" }}{{ template "t" }}{{ end }}{{ template "t" }}', "line 1: templates call each other without end"),
])
def test_what_does_not_fit_is_told(text, complaint):
    """Given a template that does not fit its data / then it ends with a complaint."""
    with pytest.raises(TemplateError) as refused:
        made(text)
    assert str(refused.value) == complaint
