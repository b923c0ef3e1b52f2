package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

type est struct{}

func (est) EstimateSize(e checker.AstNode) *checker.SizeEstimate { return nil }
func (est) EstimateCallCost(f, o string, t *checker.AstNode, a []checker.AstNode) *checker.CallEstimate {
	return nil
}

type in struct {
	Expr   string         `json:"expr"`
	Data   map[string]any `json:"data"`
	Minor  uint           `json:"minor"`
	Stored bool           `json:"stored"`
}
type out struct {
	Expr    string `json:"expr"`
	Compile string `json:"compile,omitempty"`
	Type    string `json:"type,omitempty"`
	Error   string `json:"error,omitempty"`
	Value   string `json:"value,omitempty"`
	Cost    uint64 `json:"cost"`
	Min     uint64 `json:"min"`
	Max     uint64 `json:"max"`
}

func main() {
	envs := map[string]*cel.Env{}
	get := func(minor uint, stored bool) *cel.Env {
		k := fmt.Sprint(minor, stored)
		if e, ok := envs[k]; ok {
			return e
		}
		set := environment.MustBaseEnvSet(version.MajorMinor(1, minor))
		e := set.NewExpressionsEnv()
		if stored {
			e = set.StoredExpressionsEnv()
		}
		e, err := e.Extend(cel.Variable("x", cel.DynType), cel.Variable("s", cel.StringType), cel.Variable("l", cel.ListType(cel.StringType)),
			cel.Variable("n", cel.IntType), library.JSONPatch(), ext.Bindings(ext.BindingsVersion(0)))
		if err != nil {
			panic(err)
		}
		envs[k] = e
		return e
	}
	sc := bufio.NewScanner(os.Stdin)
	sc.Buffer(make([]byte, 1<<20), 1<<26)
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for sc.Scan() {
		var i in
		if err := json.Unmarshal(sc.Bytes(), &i); err != nil {
			panic(err)
		}
		enc.Encode(run(get(i.Minor, i.Stored), i))
		w.Flush()
	}
}

func run(env *cel.Env, i in) (o out) {
	o.Expr = i.Expr
	defer func() {
		if r := recover(); r != nil {
			o.Error = fmt.Sprint("PANIC ", r)
		}
	}()
	ast, iss := env.Compile(i.Expr)
	if iss.Err() != nil {
		o.Compile = iss.String()
		return
	}
	o.Type = cel.FormatCELType(ast.OutputType())
	c, err := env.EstimateCost(ast, &library.CostEstimator{SizeEstimator: est{}})
	if err != nil {
		o.Compile = "estimate: " + err.Error()
		return
	}
	o.Min, o.Max = c.Min, c.Max
	prg, err := env.Program(ast)
	if err != nil {
		o.Compile = "program: " + err.Error()
		return
	}
	data := i.Data
	if data == nil {
		data = map[string]any{}
	}
	v, det, err := prg.Eval(data)
	if det != nil && det.ActualCost() != nil {
		o.Cost = *det.ActualCost()
	}
	if err != nil {
		o.Error = err.Error()
		return
	}
	o.Value = show(v)
	return
}

func show(v ref.Val) string {
	switch t := v.(type) {
	case types.String:
		return fmt.Sprintf("%q", string(t))
	case types.Double:
		s, _ := t.ConvertToType(types.StringType).Value().(string)
		return "double " + s
	case types.Bytes:
		return fmt.Sprintf("bytes %x", []byte(t))
	case *types.Optional:
		if !t.HasValue() {
			return "optional.none"
		}
		return "optional " + show(t.GetValue())
	case traits.Lister:
		r := "["
		for it, i := t.Iterator(), 0; it.HasNext() == types.True; i++ {
			if i > 0 {
				r += ", "
			}
			r += show(it.Next())
		}
		return r + "]"
	}
	s, err := ext.FormatString(v, "en_US")
	if err != nil {
		return v.Type().TypeName() + " ?"
	}
	if v.Type() == types.MapType {
		return s
	}
	return v.Type().TypeName() + " " + s
}
