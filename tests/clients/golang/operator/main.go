// An operator that thinks for 0.3 s before it acts: it answers the ConfigMap "mine" by data.seen.
package main

import (
	"context"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		panic(err)
	}
	client, done := kubernetes.NewForConfigOrDie(config), make(chan struct{})
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("default"))
	_, err = factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(found any) {
		if found.(*corev1.ConfigMap).Name != "mine" {
			return
		}
		time.Sleep(300 * time.Millisecond)
		patch := []byte(`{"data": {"seen": "yes"}}`)
		if _, err := client.CoreV1().ConfigMaps("default").Patch(
			context.Background(), "mine", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			panic(err)
		}
		close(done)
	}})
	if err != nil {
		panic(err)
	}
	factory.Start(done)
	<-done
}
