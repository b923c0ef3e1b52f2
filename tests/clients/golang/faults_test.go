package clients

import (
	encoding "encoding/json"
	"fmt"
	"sort"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
)

const faultsPath = "/fakekube/v1/faults"

// plan lets things go wrong from now on; it skips the test where the server does nothing on purpose.
func plan(t *testing.T, client *kubernetes.Clientset, rules string) {
	t.Helper()
	err := client.RESTClient().Post().AbsPath(faultsPath).SetHeader("Content-Type", json).Body([]byte(rules)).Do(t.Context()).Error()
	if apierrors.IsNotFound(err) {
		t.Skip("it needs a server that fails on purpose")
	}
	ok(t, err)
}

// metOf tells how often each fault was met.
func metOf(t *testing.T, client *kubernetes.Clientset) map[string]int {
	t.Helper()
	var answer struct {
		Items []struct {
			Name string
			Met  int
		}
	}
	ok(t, encoding.Unmarshal(must(client.RESTClient().Get().AbsPath(faultsPath).DoRaw(t.Context()))(t), &answer))
	found := map[string]int{}
	for _, item := range answer.Items {
		found[item.Name] = item.Met
	}
	return found
}

// states are names and versions.
func states(items []*corev1.ConfigMap) string {
	var found []string
	for _, item := range items {
		found = append(found, item.Name+"@"+item.ResourceVersion+"="+item.Data["a"])
	}
	sort.Strings(found)
	return strings.Join(found, " ")
}

// A writer that is told to come back, is refused and loses an answer, and an informer whose watches are refused, break,
// expire, come late and lag: in the end it has what the server has, and all was met.
func TestFaults(t *testing.T) {
	admin, ns, ctx := connect(t, json), namespace(t), t.Context()
	watching, writing := config(t, protobuf), config(t, json)
	watching.UserAgent, writing.UserAgent = "informer", "writer"
	maps := kubernetes.NewForConfigOrDie(writing).CoreV1().ConfigMaps(ns)
	plan(t, admin, `{"kind": "FaultPlan", "apiVersion": "fakekube.dev/v1", "faults": [
		{"name": "busy", "userAgents": "writer", "verbs": "create", "error": "TooManyRequests", "retryAfterSeconds": 1, "nth": [1, 2]},
		{"name": "lost", "userAgents": "writer", "verbs": "update", "cut": "after", "nth": 2},
		{"name": "broken", "userAgents": "writer", "verbs": "get", "cut": "body", "nth": 1},
		{"name": "conflict", "userAgents": "writer", "verbs": "update", "error": "Conflict", "nth": 4},
		{"name": "refused", "userAgents": "informer", "verbs": "watch", "error": "TooManyRequests", "retryAfterSeconds": 1, "nth": 2},
		{"name": "cut", "userAgents": "informer", "resources": "configmaps", "watch": "cut", "events": 3, "times": 3},
		{"name": "expired", "userAgents": "informer", "resources": "configmaps", "watch": "expire", "events": 5, "times": 2},
		{"name": "late", "userAgents": "informer", "watch": "late", "lasting": "200ms"}]}`)
	factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(watching), 0, informers.WithNamespace(ns),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = "suite=go" }))
	informer, lister := factory.Core().V1().ConfigMaps().Informer(), factory.Core().V1().ConfigMaps().Lister().ConfigMaps(ns)
	run(t, factory)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Fatal("no sync")
	}
	write := func(name, value string) {
		t.Helper()
		again := func(err error) bool {
			return apierrors.IsConflict(err) || apierrors.ReasonForError(err) == metav1.StatusReasonUnknown
		}
		ok(t, retry.OnError(retry.DefaultBackoff, again, func() error {
			found, err := maps.Get(ctx, name, metav1.GetOptions{})
			if err == nil {
				found.Data["a"] = value
				_, err = maps.Update(ctx, found, metav1.UpdateOptions{})
			}
			return err
		}))
	}
	for number := range 6 {
		must(maps.Create(ctx, configMap(fmt.Sprint("map-", number)), metav1.CreateOptions{}))(t)
	}
	for number := range 4 {
		write(fmt.Sprint("map-", number), fmt.Sprint("changed ", number))
	}
	ok(t, maps.Delete(ctx, "map-5", metav1.DeleteOptions{}))
	same := func() bool {
		all := must(connect(t, json).CoreV1().ConfigMaps(ns).List(ctx, metav1.ListOptions{LabelSelector: "suite=go"}))(t)
		var there []*corev1.ConfigMap
		for index := range all.Items {
			there = append(there, &all.Items[index])
		}
		return len(there) > 0 && states(there) == states(must(lister.List(labels.Everything()))(t))
	}
	eventually(t, "the informer has what there is", same)
	plan(t, admin, `{"name": "behind", "userAgents": "informer", "stale": true}`)
	for number := range 3 {
		write(fmt.Sprint("map-", number), "later")
	}
	equal(t, "the replica lags", same(), false)
	met := metOf(t, admin)
	for _, name := range []string{"busy", "lost", "broken", "conflict", "refused", "cut", "expired", "late"} {
		equal(t, name+" was met", met[name] > 0, true)
	}
	ok(t, admin.RESTClient().Delete().AbsPath(faultsPath).Do(ctx).Error())
	eventually(t, "the informer has caught up", same)
}
