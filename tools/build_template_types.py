#!/usr/bin/env python3
"""Collect what Go knows of a pod template's structs, release by release, into fakekube/runtime/template_types.txt.

    tools/build_template_types.py              read the module cache of the Go toolchain, which must hold k8s.io/api of each;
                                               what that needs is downloaded

A line a struct and shape: the first minor release that had it, the type, then ``Field:type`` in Go's order, types as
reflection prints them; ``Field=name:type`` where the name in JSON is not the field's with a small first letter, and empty
for what is embedded. A map with a name of its own has ``map:`` and the type of its values. Only these facts are taken, no text.
"""

import os
import subprocess
import tempfile
from pathlib import Path

MINORS = range(25, 38)
OUTPUT = Path(__file__).resolve().parent.parent / "fakekube" / "runtime" / "template_types.txt"
PROGRAM = """
package main

import (
	"fmt"
	"reflect"
	"strings"

	core "k8s.io/api/core/v1"
)

var known = map[string]bool{}

func walk(t reflect.Type) {
	switch t.Kind() {
	case reflect.Ptr, reflect.Slice:
		walk(t.Elem())
	case reflect.Map:
		if t.Name() != "" && !known[t.String()] {
			known[t.String()] = true
			fmt.Println(t.String(), "map:"+t.Elem().String())
		}
		walk(t.Elem())
	case reflect.Struct:
		name := t.String()
		if known[name] || strings.HasPrefix(name, "resource.") || strings.HasPrefix(name, "intstr.") || name == "v1.Time" {
			return
		}
		known[name] = true
		row := []string{name}
		for i := 0; i < t.NumField(); i++ {
			f := t.Field(i)
			tag := strings.Split(f.Tag.Get("json"), ",")[0]
			small := strings.ToLower(f.Name[:1]) + f.Name[1:]
			if tag == small {
				row = append(row, f.Name+":"+f.Type.String())
			} else {
				row = append(row, f.Name+"="+tag+":"+f.Type.String())
			}
			walk(f.Type)
		}
		fmt.Println(strings.Join(row, " "))
	}
}

func main() { walk(reflect.TypeOf(core.PodTemplateSpec{})) }
"""


def rows_of(root: Path, minor: int) -> list[str]:
    """The rows of one release."""
    found = sorted(root.glob(f"api@v0.{minor}.*"), key=lambda path: int(path.name.rpartition(".")[2]))
    required = f"module templatetypes\ngo 1.21\nrequire k8s.io/api {found[-1].name.partition('@')[2]}\n"
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "go.mod").write_text(required)
        Path(directory, "main.go").write_text(PROGRAM)
        environment = {**os.environ, "GOFLAGS": "-mod=mod", "GOSUMDB": "off"}
        done = subprocess.run(["go", "run", "."], cwd=directory, env=environment, capture_output=True, text=True, check=True)
    return sorted(done.stdout.splitlines())


def main() -> None:
    root = Path(subprocess.run(["go", "env", "GOMODCACHE"], capture_output=True, text=True, check=True).stdout.strip()) / "k8s.io"
    known: dict[str, str] = {}
    lines = []
    for minor in MINORS:
        for row in rows_of(root, minor):
            name = row.partition(" ")[0]
            if known.get(name) != row:
                known[name] = row
                lines.append(f"{minor} {row}")
    OUTPUT.write_text("\n".join(lines) + "\n")
    print(f"{OUTPUT}: {len(lines)} shapes of {len(known)} types")


if __name__ == "__main__":
    main()
