#!/usr/bin/env python3
"""Collect the fields of upstream's internal types that error messages print, into fakekube/apis/internal_types.txt.

    tools/build_internal_types.py              read the module cache of the Go toolchain, which must hold k8s.io/kubernetes

A line a struct: its name, then ``Field:kind`` in Go's order. Kinds: ``s`` a text, ``b`` a boolean, ``i`` a number, ``-Name`` a
type that prints itself as it does elsewhere, another name a struct; ``*`` in front is a pointer, ``[]`` a list, ``[]=`` a
map. Only these facts are taken, no text.
"""

import os
import subprocess
import tempfile
from pathlib import Path

VERSION = "1.37.1"
OUTPUT = Path(__file__).resolve().parent.parent / "fakekube" / "apis" / "internal_types.txt"
PROGRAM = """
package main

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	"k8s.io/kubernetes/pkg/apis/batch"
	"k8s.io/kubernetes/pkg/apis/certificates"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/resource"
)

var rows = map[string]string{}

func kind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Ptr:
		return "*" + kind(t.Elem())
	case reflect.Slice:
		return "[]" + kind(t.Elem())
	case reflect.Map:
		return "[]=" + kind(t.Elem())
	case reflect.String:
		return "s"
	case reflect.Bool:
		return "b"
	case reflect.Struct:
		if strings.Contains(t.PkgPath(), "kubernetes/pkg/apis") {
			walk(t)
			return t.Name()
		}
		return "-" + t.Name()
	}
	return "i"
}

func fields(t reflect.Type) (found []string) {
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		if f.Anonymous && f.Type.Name() == "ObjectMeta" {
			found = append(found, "+ObjectMeta:-ObjectMeta")
		} else if f.Anonymous && f.Type.Name() != "TypeMeta" {
			found = append(found, fields(f.Type)...)
		} else if !f.Anonymous {
			found = append(found, f.Name+":"+kind(f.Type))
		}
	}
	return found
}

func walk(t reflect.Type) {
	if _, known := rows[t.Name()]; !known {
		rows[t.Name()] = ""
		rows[t.Name()] = strings.Join(fields(t), " ")
	}
}

func main() {
	walk(reflect.TypeOf(core.PodSpec{}))
	walk(reflect.TypeOf(core.PersistentVolumeSource{}))
	walk(reflect.TypeOf(core.PersistentVolumeClaimSpec{}))
	walk(reflect.TypeOf(core.PodTemplateSpec{}))
	walk(reflect.TypeOf(core.PersistentVolumeClaim{}))
	walk(reflect.TypeOf(core.VolumeNodeAffinity{}))
	walk(reflect.TypeOf(batch.PodFailurePolicy{}))
	walk(reflect.TypeOf(batch.SuccessPolicy{}))
	walk(reflect.TypeOf(resource.ResourceClaimTemplateSpec{}))
	walk(reflect.TypeOf(certificates.CertificateSigningRequestCondition{}))
	var lines []string
	for name, row := range rows {
		lines = append(lines, name+" "+row)
	}
	sort.Strings(lines)
	fmt.Println(strings.Join(lines, "\\n"))
}
"""


def main() -> None:
    root = Path(subprocess.run(["go", "env", "GOMODCACHE"], capture_output=True, text=True, check=True).stdout.strip()) / "k8s.io"
    staged = sorted(path.name.partition("@")[0] for path in root.glob(f"*@v0.{VERSION.partition('.')[2]}"))
    with tempfile.TemporaryDirectory() as directory:
        lines = ["module internaltypes", "go 1.26", f"require k8s.io/kubernetes v{VERSION}"]
        lines += [f"replace k8s.io/{name} => k8s.io/{name} v0.{VERSION.partition('.')[2]}" for name in staged]
        Path(directory, "go.mod").write_text("\n".join(lines) + "\n")
        Path(directory, "main.go").write_text(PROGRAM)
        environment = {**os.environ, "GOFLAGS": "-mod=mod", "GOSUMDB": "off"}
        found = subprocess.run(
            ["go", "run", "."], cwd=directory, env=environment, capture_output=True, text=True, check=True)
    OUTPUT.write_text(found.stdout)
    print(f"{OUTPUT}: {len(found.stdout.splitlines())} structs")


if __name__ == "__main__":
    main()
