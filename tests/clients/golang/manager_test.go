package clients

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer = "example.com/ledger"

// balancer gives every Ingress an address, a ConfigMap that belongs to it, and looks after it until it is gone.
type balancer struct{ client.Client }

func (b *balancer) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	entry := &networkingv1.Ingress{}
	if err := b.Get(ctx, request.NamespacedName, entry); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	ledger := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "ledger", Namespace: entry.Namespace}}
	if !entry.DeletionTimestamp.IsZero() {
		if err := client.IgnoreNotFound(b.Delete(ctx, ledger)); err != nil {
			return ctrl.Result{}, err
		}
		if controllerutil.RemoveFinalizer(entry, finalizer) {
			return ctrl.Result{}, b.Update(ctx, entry)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(entry, finalizer) {
		return ctrl.Result{}, b.Update(ctx, entry)
	}
	if err := b.Apply(ctx, coreapply.ConfigMap("ledger", entry.Namespace).WithData(map[string]string{"last": entry.Name}),
		client.FieldOwner("balancer"), client.ForceOwnership); err != nil {
		return ctrl.Result{}, err
	}
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: entry.Name, Namespace: entry.Namespace}}
	if _, err := controllerutil.CreateOrUpdate(ctx, b.Client, child, func() error {
		child.Data = map[string]string{"host": entry.Spec.Rules[0].Host}
		return controllerutil.SetControllerReference(entry, child, b.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	before := entry.DeepCopy()
	entry.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "192.0.2.7"}}
	return ctrl.Result{}, b.Status().Patch(ctx, entry, client.MergeFrom(before))
}

// A manager that leads, its cache with an index, and a reconciler with owners, finalizers, status and apply.
func TestManager(t *testing.T) {
	log.SetLogger(zap.New(zap.WriteTo(t.Output())))
	ns := namespace(t)
	ctx, stop := context.WithCancel(t.Context())
	manager := must(ctrl.NewManager(config(t, ""), ctrl.Options{
		Cache:          cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}},
		Metrics:        server.Options{BindAddress: "0"},
		LeaderElection: true, LeaderElectionID: "balancer", LeaderElectionNamespace: ns, LeaderElectionReleaseOnCancel: true,
	}))(t)
	ok(t, manager.GetFieldIndexer().IndexField(ctx, &corev1.ConfigMap{}, "host", func(object client.Object) []string {
		return []string{object.(*corev1.ConfigMap).Data["host"]}
	}))
	ok(t, ctrl.NewControllerManagedBy(manager).For(&networkingv1.Ingress{}).Owns(&corev1.ConfigMap{}).Complete(&balancer{manager.GetClient()}))
	done := make(chan error)
	go func() { done <- manager.Start(ctx) }()
	defer func() {
		stop()
		select {
		case err := <-done:
			ok(t, err)
		case <-time.After(patience):
			t.Error("the manager does not end")
		}
	}()
	direct := must(client.New(config(t, ""), client.Options{Scheme: manager.GetScheme()}))(t)
	ok(t, direct.Create(ctx, withNamespace(ingress("entry"), ns)))
	key := client.ObjectKey{Namespace: ns, Name: "entry"}
	entry, child := &networkingv1.Ingress{}, &corev1.ConfigMap{}
	eventually(t, "the address", func() bool {
		ok(t, direct.Get(ctx, key, entry))
		return len(entry.Status.LoadBalancer.Ingress) == 1 && entry.Status.LoadBalancer.Ingress[0].IP == "192.0.2.7"
	})
	ok(t, direct.Get(ctx, key, child))
	equal(t, "owner", metav1.IsControlledBy(child, entry), true)
	ok(t, direct.Delete(ctx, child))
	uid := child.UID
	eventually(t, "the child comes back", func() bool { return direct.Get(ctx, key, child) == nil && child.UID != uid })
	eventually(t, "the index has it", func() bool {
		found := &corev1.ConfigMapList{}
		ok(t, manager.GetClient().List(ctx, found, client.InNamespace(ns), client.MatchingFields{"host": "example.com"}))
		return len(found.Items) == 1
	})
	ok(t, direct.Delete(ctx, entry))
	eventually(t, "all are gone", func() bool {
		gone := true
		for _, name := range []string{"entry", "ledger"} {
			gone = gone && errors.IsNotFound(direct.Get(ctx, client.ObjectKey{Namespace: ns, Name: name}, child))
		}
		return gone && errors.IsNotFound(direct.Get(ctx, key, entry))
	})
}

func withNamespace(object *networkingv1.Ingress, namespace string) *networkingv1.Ingress {
	object.Namespace = namespace
	return object
}
