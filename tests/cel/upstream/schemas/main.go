package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

type request struct {
	Schema  *apiextv1.JSONSchemaProps `json:"schema"`
	Root    bool                      `json:"root"`
	Expr    string                    `json:"expr"`
	Self    json.RawMessage           `json:"self"`
	OldSelf json.RawMessage           `json:"oldSelf"`
	Version string                    `json:"version"`
	Plain   bool                      `json:"plain"`
}

type sizeEstimator struct{ root *apiservercel.DeclType }

func (c *sizeEstimator) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	if len(element.Path()) == 0 || c.root == nil {
		return nil
	}
	currentNode := c.root
	for _, name := range element.Path()[1:] {
		switch name {
		case "@items", "@values":
			if currentNode.ElemType == nil {
				return nil
			}
			currentNode = currentNode.ElemType
		case "@keys":
			if currentNode.KeyType == nil {
				return nil
			}
			currentNode = currentNode.KeyType
		default:
			field, ok := currentNode.Fields[name]
			if !ok {
				return nil
			}
			if field.Type == nil {
				return nil
			}
			currentNode = field.Type
		}
	}
	return &checker.SizeEstimate{Min: 0, Max: uint64(currentNode.MaxElements)}
}
func (c *sizeEstimator) EstimateCallCost(function, overloadID string, target *checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	return nil
}

func show(v ref.Val) string {
	switch t := v.(type) {
	case types.Null:
		return "null"
	case types.Bool:
		return fmt.Sprintf("%v", bool(t))
	case types.Int:
		return fmt.Sprintf("%d", int64(t))
	case types.Uint:
		return fmt.Sprintf("%du", uint64(t))
	case types.Double:
		return fmt.Sprintf("double:%x", float64(t))
	case types.String:
		b, _ := json.Marshal(string(t))
		return string(b)
	case types.Bytes:
		return fmt.Sprintf("bytes:%x", []byte(t))
	case types.Duration:
		return fmt.Sprintf("duration:%d", t.Duration.Nanoseconds())
	case types.Timestamp:
		return fmt.Sprintf("timestamp:%d.%09d", t.Unix(), t.Nanosecond())
	case *types.Type:
		return "type:" + t.TypeName()
	case *types.Optional:
		if !t.HasValue() {
			return "optional.none()"
		}
		return "optional.of(" + show(t.GetValue()) + ")"
	}
	if l, ok := v.(traits.Mapper); ok {
		parts := []string{}
		it := l.Iterator()
		for it.HasNext() == types.True {
			k := it.Next()
			parts = append(parts, show(k)+": "+show(l.Get(k)))
		}
		// sort
		for i := range parts {
			for j := i + 1; j < len(parts); j++ {
				if parts[j] < parts[i] {
					parts[i], parts[j] = parts[j], parts[i]
				}
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	if l, ok := v.(traits.Lister); ok {
		parts := []string{}
		n := int64(l.Size().(types.Int))
		for i := int64(0); i < n; i++ {
			parts = append(parts, show(l.Get(types.Int(i))))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprintf("%s:%v", v.Type().TypeName(), v.Value())
}

var envs = map[string]*environment.EnvSet{}

func handle(r request) (out map[string]any) {
	out = map[string]any{}
	defer func() {
		if e := recover(); e != nil {
			out["panic"] = fmt.Sprint(e)
		}
	}()
	if r.Version == "" {
		r.Version = "1.37"
	}
	base := environment.MustBaseEnvSet(version.MustParseGeneric(r.Version))
	var declType *apiservercel.DeclType
	var structural *schema.Structural
	opts := []cel.EnvOption{}
	var decls []*apiservercel.DeclType
	if r.Schema != nil {
		internal := &apiextensions.JSONSchemaProps{}
		if err := apiextv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(r.Schema, internal, nil); err != nil {
			out["schemaError"] = err.Error()
			return
		}
		s, err := schema.NewStructural(internal)
		if err != nil {
			out["schemaError"] = err.Error()
			return
		}
		structural = s
		declType = model.SchemaDeclType(s, r.Root)
		if declType == nil {
			out["schemaError"] = "no decl type"
			return
		}
		scoped := declType.MaybeAssignTypeName("selfType")
		opts = append(opts, cel.Variable("self", scoped.CelType()), cel.Variable("oldSelf", scoped.CelType()))
		decls = append(decls, scoped)
	} else {
		opts = append(opts, cel.Variable("x", cel.DynType), cel.Variable("self", cel.DynType))
	}
	set, err := base.Extend(environment.VersionedOptions{IntroducedVersion: version.MajorMinor(1, 0), EnvOptions: opts, DeclTypes: decls})
	if err != nil {
		out["envError"] = err.Error()
		return
	}
	env := set.NewExpressionsEnv()
	ast, issues := env.Compile(r.Expr)
	if issues != nil {
		out["issues"] = issues.String()
		return
	}
	out["type"] = checker.FormatCELType(ast.OutputType())
	estimator := &library.CostEstimator{SizeEstimator: &sizeEstimator{root: declType}}
	prog, err := env.Program(ast, cel.CostLimit(celconfig.PerCallLimit), cel.CostTracking(estimator), cel.InterruptCheckFrequency(celconfig.CheckFrequency))
	if err != nil {
		out["programError"] = err.Error()
		return
	}
	est, err := env.EstimateCost(ast, estimator)
	if err == nil {
		out["min"] = est.Min
		out["max"] = est.Max
	}
	vars := map[string]any{}
	for name, raw := range map[string]json.RawMessage{"self": r.Self, "oldSelf": r.OldSelf} {
		if raw == nil {
			continue
		}
		var v any
		if err := utiljson.Unmarshal(raw, &v); err != nil {
			out["dataError"] = err.Error()
			return
		}
		if structural != nil {
			vars[name] = schemacel.UnstructuredToVal(v, structural)
		} else {
			vars[name] = v
			vars["x"] = v
		}
	}
	var act interpreter.Activation
	act, err = interpreter.NewActivation(vars)
	val, det, err := prog.Eval(act)
	if det != nil && det.ActualCost() != nil {
		out["cost"] = *det.ActualCost()
	}
	if err != nil {
		out["error"] = err.Error()
		return
	}
	out["value"] = show(val)
	return
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<24)
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			var r request
			if e := json.Unmarshal(line, &r); e != nil {
				fmt.Fprintf(w, "{\"requestError\": %q}\n", e.Error())
			} else {
				b, _ := json.Marshal(handle(r))
				w.Write(b)
				w.WriteByte('\n')
			}
			w.Flush()
		}
		if err != nil {
			return
		}
	}
}
