// Package clients holds what Go programs do with a cluster. Each test takes its cluster from KUBECONFIG and a namespace of
// its own, so that all of them hold on any cluster; test_go.py runs each against a fresh one.
package clients

import (
	"context"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	protobuf = "application/vnd.kubernetes.protobuf"
	json     = "application/json"
	patience = 30 * time.Second
)

// config leads to the cluster, and speaks and understands one format only.
func config(t *testing.T, format string) *rest.Config {
	t.Helper()
	found, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	found.ContentType, found.AcceptContentTypes = format, format
	found.QPS, found.Burst = 500, 1000
	return found
}

func connect(t *testing.T, format string) *kubernetes.Clientset {
	t.Helper()
	return kubernetes.NewForConfigOrDie(config(t, format))
}

// must takes what a call returns and ends the test unless it went well.
func must[T any](value T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: %v, not %v", what, got, want)
	}
}

// namespace is there for one test, with its service account, and goes with it.
func namespace(t *testing.T) string {
	t.Helper()
	client := connect(t, json)
	made := must(client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "suite-"}}, metav1.CreateOptions{}))(t)
	t.Cleanup(func() {
		_ = client.CoreV1().Namespaces().Delete(context.Background(), made.Name, metav1.DeleteOptions{})
	})
	eventually(t, "a service account", func() bool {
		_, err := client.CoreV1().ServiceAccounts(made.Name).Get(t.Context(), "default", metav1.GetOptions{})
		return err == nil
	})
	return made.Name
}

func eventually(t *testing.T, what string, look func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !look(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// needsKubelets skips a test where nobody runs pods.
func needsKubelets(t *testing.T) {
	t.Helper()
	if os.Getenv("WITHOUT_KUBELETS") != "" {
		t.Skip("it needs nodes with kubelets")
	}
}

// run starts informers and ends them with the test.
func run(t *testing.T, factory interface {
	Start(stop <-chan struct{})
	Shutdown()
}) {
	t.Helper()
	running, stop := context.WithCancel(context.Background())
	factory.Start(running.Done())
	t.Cleanup(func() {
		stop()
		factory.Shutdown()
	})
}

// exchange is a request and the format of its answer.
type exchange struct{ method, uri, sent, got string }

// recorder notes what goes over the wire.
type recorder struct {
	next http.RoundTripper
	lock sync.Mutex
	seen []exchange
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	if err == nil {
		r.lock.Lock()
		defer r.lock.Unlock()
		r.seen = append(r.seen, exchange{
			request.Method, request.URL.RequestURI(), request.Header.Get("Content-Type"), response.Header.Get("Content-Type")})
	}
	return response, err
}

// requests are those noted whose address holds a text.
func (r *recorder) requests(part string) []exchange {
	r.lock.Lock()
	defer r.lock.Unlock()
	var found []exchange
	for _, one := range r.seen {
		if strings.Contains(one.uri, part) {
			found = append(found, one)
		}
	}
	return found
}

func listen(config *rest.Config) *recorder {
	noted := &recorder{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		noted.next = next
		return noted
	})
	return noted
}

func names[T metav1.Object](items []T) string {
	var found []string
	for _, item := range items {
		found = append(found, item.GetName())
	}
	return strings.Join(found, " ")
}
