package clients

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	runtimeprotobuf "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/cache"
)

var (
	metadataCodec = runtimeprotobuf.NewSerializer(metadataScheme(), metadataScheme())
	configMaps    = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	deployments   = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

func metadataScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	_ = metav1.AddMetaToScheme(scheme)
	return scheme
}

func unstructuredMap(name, value string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "labels": map[string]any{"suite": "go"}}, "data": map[string]any{"a": value}}}
}

// A client without types, and an informer of it. With CBOR allowed it asks for that first, and takes JSON where that is all.
func TestDynamicClient(t *testing.T) {
	settings := config(t, "")
	noted := listen(settings)
	client, ns, ctx := dynamic.NewForConfigOrDie(settings), namespace(t), t.Context()
	maps := client.Resource(configMaps).Namespace(ns)
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, ns, func(options *metav1.ListOptions) { options.LabelSelector = "suite=go" })
	informer := factory.ForResource(configMaps).Informer()
	run(t, factory)
	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
	made := must(maps.Create(ctx, unstructuredMap("map", "1"), metav1.CreateOptions{}))(t)
	ok(t, unstructured.SetNestedField(made.Object, "2", "data", "a"))
	must(maps.Update(ctx, made, metav1.UpdateOptions{}))(t)
	_, err := maps.Apply(ctx, "map", unstructuredMap("map", "3"), metav1.ApplyOptions{FieldManager: "me"})
	equal(t, "conflict", errors.IsConflict(err), true)
	must(maps.Apply(ctx, "map", unstructuredMap("map", "3"), metav1.ApplyOptions{FieldManager: "me", Force: true}))(t)
	must(maps.Patch(ctx, "map", types.MergePatchType, []byte(`{"data":{"b":"4"}}`), metav1.PatchOptions{}))(t)
	read := must(maps.Get(ctx, "map", metav1.GetOptions{}))(t)
	data, _, _ := unstructured.NestedStringMap(read.Object, "data")
	equal(t, "data", data["a"]+data["b"], "34")
	eventually(t, "the informer has it", func() bool {
		found, there, _ := informer.GetStore().GetByKey(ns + "/map")
		if !there {
			return false
		}
		data, _, _ := unstructured.NestedStringMap(found.(*unstructured.Unstructured).Object, "data")
		return data["b"] == "4"
	})
	equal(t, "listed", len(must(maps.List(ctx, metav1.ListOptions{LabelSelector: "suite=go"}))(t).Items), 1)
	ok(t, maps.Delete(ctx, "map", metav1.DeleteOptions{}))
	eventually(t, "the informer has lost it", func() bool { return len(informer.GetStore().ListKeys()) == 0 })
	_, err = client.Resource(schema.GroupVersionResource{Group: "none.example.com", Version: "v1", Resource: "things"}).List(ctx, metav1.ListOptions{})
	equal(t, "unknown", errors.IsNotFound(err), true)
	_, err = client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Get(ctx, ns, metav1.GetOptions{}, "status")
	ok(t, err)
	for _, one := range noted.requests(ns) {
		equal(t, "format of the answer to "+one.uri, one.got, json)
	}
}

// Metadata alone, in protobuf: what garbage collectors and quota counters live on.
func TestMetadataClient(t *testing.T) {
	client, ns, ctx := metadata.NewForConfigOrDie(config(t, "")), namespace(t), t.Context()
	typed := connect(t, protobuf)
	must(typed.AppsV1().Deployments(ns).Create(ctx, deployment("web"), metav1.CreateOptions{}))(t)
	found := must(client.Resource(deployments).Namespace(ns).Get(ctx, "web", metav1.GetOptions{}))(t)
	equal(t, "metadata", found.Name+" "+found.Labels["suite"], "web go")
	equal(t, "listed", len(must(client.Resource(deployments).Namespace(ns).List(ctx, metav1.ListOptions{}))(t).Items), 1)
	patched := must(client.Resource(deployments).Namespace(ns).Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{}))(t)
	equal(t, "label", patched.Labels["x"], "y")
	factory := metadatainformer.NewFilteredSharedInformerFactory(client, 0, ns, nil)
	informer := factory.ForResource(deployments).Informer()
	run(t, factory)
	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
	equal(t, "cached", strings.Join(informer.GetStore().ListKeys(), " "), ns+"/web")
	ok(t, client.Resource(deployments).Namespace(ns).Delete(ctx, "web", metav1.DeleteOptions{PropagationPolicy: at(metav1.DeletePropagationBackground)}))
	eventually(t, "the informer has lost it", func() bool { return len(informer.GetStore().ListKeys()) == 0 })
}

// The same where nothing but protobuf is understood: objects, lists, watches and failures.
func TestMetadataInProtobuf(t *testing.T) {
	client, ns, ctx := connect(t, protobuf), namespace(t), t.Context()
	must(client.CoreV1().ConfigMaps(ns).Create(ctx, configMap("map"), metav1.CreateOptions{}))(t)
	ask := func(kind, name string) rest.Result {
		t.Helper()
		request := client.CoreV1().RESTClient().Get().Namespace(ns).Resource("configmaps").
			SetHeader("Accept", protobuf+";as="+kind+";g=meta.k8s.io;v=v1")
		if name != "" {
			request.Name(name)
		}
		return request.Do(ctx)
	}
	var format string
	one, all := &metav1.PartialObjectMetadata{}, &metav1.PartialObjectMetadataList{}
	result := ask("PartialObjectMetadata", "map")
	ok(t, result.ContentType(&format).Error())
	equal(t, "format", format, protobuf)
	body := must(result.Raw())(t)
	_, _, err := metadataCodec.Decode(body, nil, one)
	ok(t, err)
	equal(t, "object", one.Name+" "+one.Labels["suite"]+" "+one.Kind, "map go PartialObjectMetadata")
	_, _, err = metadataCodec.Decode(must(ask("PartialObjectMetadataList", "").Raw())(t), nil, all)
	ok(t, err)
	equal(t, "list", all.Items[len(all.Items)-1].Name, "map")
	equal(t, "failure", errors.IsNotFound(ask("PartialObjectMetadata", "none").Error()), true)
	equal(t, "a list's form of an object", ask("PartialObjectMetadataList", "map").Error() != nil, true)
	equal(t, "a Table", errors.IsNotAcceptable(ask("Table", "").Error()), true)
}

// What the server says of itself, and what clients make of it.
func TestDiscovery(t *testing.T) {
	client, ctx := connect(t, json), t.Context()
	groups, resources, err := client.Discovery().ServerGroupsAndResources()
	ok(t, err)
	equal(t, "groups", len(groups) > 15 && len(resources) > 20, true)
	preferred := must(client.Discovery().ServerPreferredNamespacedResources())(t)
	listable := discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "watch"}}, preferred)
	known := must(discovery.GroupVersionResources(listable))(t)
	if _, there := known[deployments]; !there {
		t.Fatal("no deployments among what can be listed")
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	mapping := must(mapper.RESTMapping(schema.GroupKind{Group: "batch", Kind: "CronJob"}))(t)
	equal(t, "mapping", mapping.Resource.String()+" "+string(mapping.Scope.Name()), "batch/v1, Resource=cronjobs namespace")
	short := must(restmapper.NewShortcutExpander(mapper, client.Discovery(), nil).ResourceFor(schema.GroupVersionResource{Resource: "deploy"}))(t)
	equal(t, "short name", short, deployments)
	_, err = mapper.RESTMapping(schema.GroupKind{Group: "none.example.com", Kind: "Thing"})
	equal(t, "no match", meta.IsNoMatchError(err), true)
	legacy := discovery.NewDiscoveryClientForConfigOrDie(config(t, json))
	legacy.UseLegacyDiscovery = true
	plain, _, err := legacy.ServerGroupsAndResources()
	ok(t, err)
	equal(t, "groups by the plain way", len(plain), len(groups))
	equal(t, "major", must(client.Discovery().ServerVersion())(t).Major, "1")
	document := must(client.Discovery().OpenAPISchema())(t) // in protobuf
	equal(t, "definitions", len(document.Definitions.AdditionalProperties) > 300, true)
	paths := must(client.Discovery().OpenAPIV3().Paths())(t)
	body := must(paths["apis/apps/v1"].Schema("application/json"))(t)
	equal(t, "schema", strings.Contains(string(body), "io.k8s.api.apps.v1.Deployment"), true)
	text := must(client.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx))(t)
	equal(t, "ready", string(text), "ok")
}

// Rows instead of objects, as kubectl and dashboards ask for them.
func TestTables(t *testing.T) {
	client, ns, ctx := connect(t, json), namespace(t), t.Context()
	must(client.AppsV1().Deployments(ns).Create(ctx, deployment("web"), metav1.CreateOptions{}))(t)
	table := &metav1.Table{}
	ok(t, client.AppsV1().RESTClient().Get().Namespace(ns).Resource("deployments").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json").
		Param("includeObject", string(metav1.IncludeMetadata)).Do(ctx).Into(table))
	equal(t, "first column", table.ColumnDefinitions[0].Name, "Name")
	equal(t, "cell", table.Rows[0].Cells[0].(string), "web")
	equal(t, "object", strings.Contains(string(table.Rows[0].Object.Raw), "PartialObjectMetadata"), true)
}

// Scales without the types of what is scaled.
func TestScaleClient(t *testing.T) {
	typed, ns, ctx := connect(t, protobuf), namespace(t), t.Context()
	must(typed.AppsV1().StatefulSets(ns).Create(ctx, statefulSet(), metav1.CreateOptions{}))(t)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(typed.Discovery()))
	client := must(scale.NewForConfig(config(t, json), mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(typed.Discovery())))(t)
	target := schema.GroupResource{Group: "apps", Resource: "statefulsets"}
	found := must(client.Scales(ns).Get(ctx, target, "stateful", metav1.GetOptions{}))(t)
	found.Spec.Replicas, found.ResourceVersion = 1, "" // a controller may write meanwhile
	must(client.Scales(ns).Update(ctx, target, found, metav1.UpdateOptions{}))(t)
	patched := must(client.Scales(ns).Patch(ctx, target.WithVersion("v1"), "stateful", types.MergePatchType, []byte(`{"spec":{"replicas":2}}`), metav1.PatchOptions{}))(t)
	equal(t, "replicas", patched.Spec.Replicas, 2)
	equal(t, "replicas", *must(typed.AppsV1().StatefulSets(ns).Get(ctx, "stateful", metav1.GetOptions{}))(t).Spec.Replicas, 2)
}

// What a container has written, whole and in part.
func TestLogs(t *testing.T) {
	needsKubelets(t)
	client, ns, ctx := connect(t, protobuf), namespace(t), t.Context()
	must(client.CoreV1().Pods(ns).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "talker"}, Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: "c", Image: "busybox", Command: []string{"sh", "-c", "echo one; echo two"}}}}}, metav1.CreateOptions{}))(t)
	eventually(t, "the pod is done", func() bool {
		return must(client.CoreV1().Pods(ns).Get(ctx, "talker", metav1.GetOptions{}))(t).Status.Phase == corev1.PodSucceeded
	})
	logs := func(options corev1.PodLogOptions) string {
		t.Helper()
		return string(must(client.CoreV1().Pods(ns).GetLogs("talker", &options).DoRaw(ctx))(t))
	}
	equal(t, "all", logs(corev1.PodLogOptions{}), "one\ntwo\n")
	equal(t, "tail", logs(corev1.PodLogOptions{TailLines: at(int64(1)), Follow: true}), "two\n")
	_, err := client.CoreV1().Pods(ns).GetLogs("talker", &corev1.PodLogOptions{Container: "none"}).DoRaw(ctx)
	equal(t, "unknown container", errors.IsBadRequest(err), true)
}
