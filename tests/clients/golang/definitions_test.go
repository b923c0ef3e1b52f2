package clients

import (
	"testing"

	extensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A definition of a custom resource, with the parts of its schema that may be one thing or another.
func TestDefinitionsInProtobuf(t *testing.T) {
	props := func(kind string) extensionsv1.JSONSchemaProps { return extensionsv1.JSONSchemaProps{Type: kind} }
	spec := extensionsv1.JSONSchemaProps{Type: "object", Required: []string{"size"}, Properties: map[string]extensionsv1.JSONSchemaProps{
		"size": {Type: "integer", Minimum: at(1.0), Maximum: at(99.0), Format: "int32", Default: &extensionsv1.JSON{Raw: []byte(`3`)}},
		"rate": {Type: "number", Maximum: at(99.5), MultipleOf: at(0.5)},
		"mode": {Type: "string", Enum: []extensionsv1.JSON{{Raw: []byte(`"a"`)}, {Raw: []byte(`"b"`)}}},
		"tags": {Type: "array", XListType: at("set"), Items: &extensionsv1.JSONSchemaPropsOrArray{Schema: at(props("string"))}},
		"free": {Type: "object", XPreserveUnknownFields: at(true), Nullable: true},
		"port": {XIntOrString: true},
		"more": {Type: "object", AdditionalProperties: &extensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: at(props("string"))}}},
		XValidations: extensionsv1.ValidationRules{{Rule: "self.size < 50", Message: "too large", Reason: at(extensionsv1.FieldValueForbidden)}}}
	definition := &extensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets.suite.example.com"},
		Spec: extensionsv1.CustomResourceDefinitionSpec{Group: "suite.example.com", Scope: extensionsv1.NamespaceScoped,
			Names: extensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget", ShortNames: []string{"wd"}},
			Versions: []extensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Subresources:             &extensionsv1.CustomResourceSubresources{Status: &extensionsv1.CustomResourceSubresourceStatus{}},
				AdditionalPrinterColumns: []extensionsv1.CustomResourceColumnDefinition{{Name: "Size", Type: "integer", JSONPath: ".spec.size"}},
				Schema: &extensionsv1.CustomResourceValidation{OpenAPIV3Schema: &extensionsv1.JSONSchemaProps{Type: "object",
					Properties: map[string]extensionsv1.JSONSchemaProps{"spec": spec}}}}}}}
	lives(t, extensions.NewForConfigOrDie(config(t, protobuf)).ApiextensionsV1().CustomResourceDefinitions(),
		extensions.NewForConfigOrDie(config(t, json)).ApiextensionsV1().CustomResourceDefinitions(), definition)
}
