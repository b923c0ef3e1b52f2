package clients

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	watchtools "k8s.io/client-go/tools/watch"
)

// Frames of protobuf: the list first, its mark, then every change.
func TestWatchInProtobuf(t *testing.T) {
	settings := config(t, protobuf)
	noted := listen(settings)
	client, ns, ctx := kubernetes.NewForConfigOrDie(settings), namespace(t), t.Context()
	maps := client.CoreV1().ConfigMaps(ns)
	must(maps.Create(ctx, configMap("old"), metav1.CreateOptions{}))(t)
	seen := must(maps.Watch(ctx, metav1.ListOptions{LabelSelector: "suite=go", AllowWatchBookmarks: true, SendInitialEvents: at(true),
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, TimeoutSeconds: at(int64(20))}))(t)
	defer seen.Stop()
	next := func() string {
		t.Helper()
		event, open := <-seen.ResultChan()
		if !open {
			t.Fatal("the watch is over")
		}
		object, fine := event.Object.(*corev1.ConfigMap)
		if !fine {
			t.Fatalf("%s %T", event.Type, event.Object)
		}
		if event.Type == watch.Bookmark {
			return "BOOKMARK " + object.Annotations[metav1.InitialEventsAnnotationKey]
		}
		return fmt.Sprintf("%s %s %s", event.Type, object.Name, object.Data["a"])
	}
	equal(t, "list", next(), "ADDED old 1")
	equal(t, "mark", next(), "BOOKMARK true")
	made := must(maps.Create(ctx, configMap("new"), metav1.CreateOptions{}))(t)
	made.Data["a"] = "2"
	made = must(maps.Update(ctx, made, metav1.UpdateOptions{}))(t)
	made.Labels = nil
	must(maps.Update(ctx, made, metav1.UpdateOptions{}))(t)
	ok(t, maps.Delete(ctx, "old", metav1.DeleteOptions{}))
	for _, want := range []string{"ADDED new 1", "MODIFIED new 2", "DELETED new 2", "DELETED old 1"} {
		equal(t, "event", next(), want)
	}
	equal(t, "format", noted.requests("watch=true")[0].got, protobuf+";stream=watch")
}

// Versions that are gone, or that nobody has reached.
func TestWatchesThatCannotBe(t *testing.T) {
	client, ns, ctx := connect(t, protobuf), namespace(t), t.Context()
	_, err := client.CoreV1().ConfigMaps(ns).Watch(ctx, metav1.ListOptions{ResourceVersion: "nonsense"})
	if err == nil {
		t.Fatal("a watch from nonsense")
	}
	_, err = client.CoreV1().ConfigMaps(ns).List(ctx, metav1.ListOptions{Continue: "nonsense"})
	equal(t, "token", apierrors.IsBadRequest(err), true)
	_, err = client.CoreV1().ConfigMaps(ns).List(ctx, metav1.ListOptions{ResourceVersionMatch: "Exact"})
	equal(t, "match", apierrors.IsInvalid(err), true)
}

type history struct {
	lock  sync.Mutex
	lines []string
}

func (h *history) add(format string, values ...any) {
	h.lock.Lock()
	defer h.lock.Unlock()
	h.lines = append(h.lines, fmt.Sprintf(format, values...))
}

func (h *history) has(line string) bool {
	h.lock.Lock()
	defer h.lock.Unlock()
	for _, found := range h.lines {
		if found == line {
			return true
		}
	}
	return false
}

// A shared informer, its handlers, its index and its lister; by default it streams its list, older clients fetch it, as do
// all where the server streams none.
func TestSharedInformer(t *testing.T) {
	settings := config(t, protobuf)
	noted := listen(settings)
	client, ns, ctx := kubernetes.NewForConfigOrDie(settings), namespace(t), t.Context()
	for number := range 5 {
		must(client.CoreV1().ConfigMaps(ns).Create(ctx, configMap(fmt.Sprint("map-", number)), metav1.CreateOptions{}))(t)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(ns),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = "suite=go" }))
	informer, lister := factory.Core().V1().ConfigMaps().Informer(), factory.Core().V1().ConfigMaps().Lister()
	ok(t, informer.AddIndexers(cache.Indexers{"a": func(object any) ([]string, error) {
		return []string{object.(*corev1.ConfigMap).Data["a"]}, nil
	}}))
	heard := &history{}
	registration := must(informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) { heard.add("add %s %t", object.(*corev1.ConfigMap).Name, initial) },
		UpdateFunc: func(old, object any) {
			heard.add("update %s to %s", old.(*corev1.ConfigMap).Data["a"], object.(*corev1.ConfigMap).Data["a"])
		},
		DeleteFunc: func(object any) { heard.add("delete %s", object.(*corev1.ConfigMap).Name) },
	}))(t)
	run(t, factory)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced, registration.HasSynced) {
		t.Fatal("no sync")
	}
	equal(t, "listed", len(must(lister.ConfigMaps(ns).List(labels.Everything()))(t)), 5)
	equal(t, "initial", heard.has("add map-4 true"), true)
	changed := configMap("map-0")
	changed.Data["a"] = "2"
	must(client.CoreV1().ConfigMaps(ns).Update(ctx, changed, metav1.UpdateOptions{}))(t)
	ok(t, client.CoreV1().ConfigMaps(ns).Delete(ctx, "map-1", metav1.DeleteOptions{}))
	must(client.CoreV1().ConfigMaps(ns).Create(ctx, configMap("map-9"), metav1.CreateOptions{}))(t)
	eventually(t, "all is heard", func() bool {
		return heard.has("update 1 to 2") && heard.has("delete map-1") && heard.has("add map-9 false")
	})
	equal(t, "indexed", len(must(informer.GetIndexer().ByIndex("a", "2"))(t)), 1)
	_, err := lister.ConfigMaps(ns).Get("map-1")
	equal(t, "lister", apierrors.IsNotFound(err), true)
	var lists, streams int
	for _, one := range noted.requests("labelSelector") {
		if strings.Contains(one.uri, "sendInitialEvents=true") {
			streams++
		} else if !strings.Contains(one.uri, "watch=true") {
			lists++
		}
	}
	asks, gets := os.Getenv("KUBE_FEATURE_WatchListClient") != "false", os.Getenv("WITHOUT_STREAMED_LISTS") == ""
	equal(t, "streamed lists", streams > 0, asks)
	equal(t, "fetched lists", lists > 0, !asks || !gets)
}

// A watch that ends is taken up again where it ended.
func TestRetriedWatch(t *testing.T) {
	client, ns, ctx := connect(t, protobuf), namespace(t), t.Context()
	maps := client.CoreV1().ConfigMaps(ns)
	first := must(maps.Create(ctx, configMap("first"), metav1.CreateOptions{}))(t)
	source := &cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		options.TimeoutSeconds = at(int64(1))
		return maps.Watch(ctx, options)
	}}
	seen := must(watchtools.NewRetryWatcherWithContext(ctx, first.ResourceVersion, source))(t)
	defer seen.Stop()
	for number := range 3 {
		name := fmt.Sprint("map-", number)
		must(maps.Create(ctx, configMap(name), metav1.CreateOptions{}))(t)
		event := <-seen.ResultChan()
		equal(t, "event", string(event.Type)+" "+event.Object.(*corev1.ConfigMap).Name, "ADDED "+name)
		time.Sleep(600 * time.Millisecond) // real time: the watch has to end in between
	}
	limited, stop := context.WithTimeout(ctx, patience)
	defer stop()
	whole := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", ns, fields.Everything())
	last := must(watchtools.UntilWithSync(limited, whole, &corev1.ConfigMap{}, nil, func(event watch.Event) (bool, error) {
		return event.Object.(*corev1.ConfigMap).Name == "map-2", nil
	}))(t)
	equal(t, "last", last.Object.(*corev1.ConfigMap).Name, "map-2")
}

// A list in pages is one state, whatever happens meanwhile.
func TestPages(t *testing.T) {
	client, ns, ctx := connect(t, protobuf), namespace(t), t.Context()
	maps := client.CoreV1().ConfigMaps(ns)
	for number := range 10 {
		must(maps.Create(ctx, configMap(fmt.Sprint("map-", number)), metav1.CreateOptions{}))(t)
	}
	selected := metav1.ListOptions{LabelSelector: "suite=go", Limit: 4}
	page := must(maps.List(ctx, selected))(t)
	equal(t, "first page", len(page.Items), 4)
	ok(t, maps.Delete(ctx, "map-9", metav1.DeleteOptions{}))
	must(maps.Create(ctx, configMap("map-99"), metav1.CreateOptions{}))(t)
	count, version := len(page.Items), page.ResourceVersion
	for page.Continue != "" {
		selected.Continue = page.Continue
		page = must(maps.List(ctx, selected))(t)
		equal(t, "version", page.ResourceVersion, version)
		count += len(page.Items)
	}
	equal(t, "all", count, 10)
	equal(t, "last", page.Items[len(page.Items)-1].Name, "map-9")
	past := must(maps.List(ctx, metav1.ListOptions{LabelSelector: "suite=go", ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatchExact}))(t)
	equal(t, "the past", len(past.Items), 10)
	all := pager.New(pager.SimplePageFunc(func(options metav1.ListOptions) (runtime.Object, error) {
		options.Limit = 3
		return maps.List(ctx, options)
	}))
	var found []string
	enough := errors.New("enough")
	err := all.EachListItem(ctx, metav1.ListOptions{LabelSelector: "suite=go"}, func(object runtime.Object) error {
		found = append(found, object.(*corev1.ConfigMap).Name)
		if len(found) == 8 {
			return enough
		}
		return nil
	})
	equal(t, "stopped", errors.Is(err, enough), true)
	equal(t, "in order", strings.Join(found, " "), "map-0 map-1 map-2 map-3 map-4 map-5 map-6 map-7")
}
