package clients

import (
	"context"
	"net/http"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
)

// typedClient is what the generated clients have in common.
type typedClient[T any] interface {
	Create(context.Context, T, metav1.CreateOptions) (T, error)
	Get(context.Context, string, metav1.GetOptions) (T, error)
	Update(context.Context, T, metav1.UpdateOptions) (T, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (T, error)
}

// lives sends an object in protobuf, and holds what comes back against what a client gets that speaks JSON.
func lives[T metav1.Object](t *testing.T, inProtobuf, inJSON typedClient[T], object T) {
	t.Helper()
	made, err := inProtobuf.Create(t.Context(), object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		t.Errorf("%T: %v", object, err)
		return
	}
	t.Cleanup(func() { _ = inJSON.Delete(context.Background(), made.GetName(), metav1.DeleteOptions{}) })
	same := func(step string) T {
		first, err := inProtobuf.Get(t.Context(), made.GetName(), metav1.GetOptions{})
		if err != nil {
			t.Fatalf("%T: %s: %v", object, step, err)
		}
		second, err := inJSON.Get(t.Context(), made.GetName(), metav1.GetOptions{ResourceVersion: first.GetResourceVersion()})
		if err != nil {
			t.Fatalf("%T: %s: %v", object, step, err)
		}
		if first.GetResourceVersion() == second.GetResourceVersion() && !equality.Semantic.DeepEqual(first, second) {
			t.Errorf("%T: %s: %s", object, step, diff.Diff(first, second))
		}
		return first
	}
	same("created")
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		read := same("to be updated")
		read.SetAnnotations(map[string]string{"note": "updated"})
		_, err := inProtobuf.Update(t.Context(), read, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
		return err
	})
	if err != nil {
		t.Errorf("%T: update: %v", object, err)
	}
	patch := []byte(`{"metadata":{"annotations":{"patched":"yes"}}}`)
	patched, err := inProtobuf.Patch(t.Context(), made.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		t.Errorf("%T: patch: %v", object, err)
	} else if patched.GetAnnotations()["patched"] != "yes" || patched.GetAnnotations()["note"] != "updated" {
		t.Errorf("%T: annotations: %v", object, patched.GetAnnotations())
	}
	same("patched")
}

// Every kind that a client is likely to meet survives the way there and back in protobuf.
func TestObjectsInProtobuf(t *testing.T) {
	settings := config(t, protobuf)
	noted := listen(settings)
	p, j, ns := kubernetes.NewForConfigOrDie(settings), connect(t, json), namespace(t)
	lives(t, p.CoreV1().ConfigMaps(ns), j.CoreV1().ConfigMaps(ns), configMap("map"))
	lives(t, p.CoreV1().Secrets(ns), j.CoreV1().Secrets(ns), secret())
	lives(t, p.CoreV1().LimitRanges(ns), j.CoreV1().LimitRanges(ns), limits())
	lives(t, p.CoreV1().Pods(ns), j.CoreV1().Pods(ns), pod("pod"))
	lives(t, p.CoreV1().Services(ns), j.CoreV1().Services(ns), service())
	lives(t, p.CoreV1().PersistentVolumeClaims(ns), j.CoreV1().PersistentVolumeClaims(ns), claim("claim"))
	lives(t, p.CoreV1().PersistentVolumes(), j.CoreV1().PersistentVolumes(), volume())
	lives(t, p.CoreV1().ResourceQuotas(ns), j.CoreV1().ResourceQuotas(ns), quota())
	lives(t, p.CoreV1().ServiceAccounts(ns), j.CoreV1().ServiceAccounts(ns), account())
	lives(t, p.CoreV1().PodTemplates(ns), j.CoreV1().PodTemplates(ns), &corev1.PodTemplate{ObjectMeta: named("template"), Template: template()})
	lives(t, p.AppsV1().Deployments(ns), j.AppsV1().Deployments(ns), deployment("web"))
	lives(t, p.AppsV1().ReplicaSets(ns), j.AppsV1().ReplicaSets(ns), replicaSet())
	lives(t, p.AppsV1().StatefulSets(ns), j.AppsV1().StatefulSets(ns), statefulSet())
	lives(t, p.AppsV1().DaemonSets(ns), j.AppsV1().DaemonSets(ns), daemonSet())
	lives(t, p.BatchV1().Jobs(ns), j.BatchV1().Jobs(ns), job("job"))
	lives(t, p.BatchV1().CronJobs(ns), j.BatchV1().CronJobs(ns), cronJob())
	lives(t, p.PolicyV1().PodDisruptionBudgets(ns), j.PolicyV1().PodDisruptionBudgets(ns), budget())
	lives(t, p.AutoscalingV2().HorizontalPodAutoscalers(ns), j.AutoscalingV2().HorizontalPodAutoscalers(ns), autoscaler())
	lives(t, p.NetworkingV1().Ingresses(ns), j.NetworkingV1().Ingresses(ns), ingress("ingress"))
	lives(t, p.NetworkingV1().NetworkPolicies(ns), j.NetworkingV1().NetworkPolicies(ns), networkPolicy())
	lives(t, p.RbacV1().Roles(ns), j.RbacV1().Roles(ns), role())
	lives(t, p.RbacV1().RoleBindings(ns), j.RbacV1().RoleBindings(ns), roleBinding())
	lives(t, p.CoordinationV1().Leases(ns), j.CoordinationV1().Leases(ns), lease("lease"))
	lives(t, p.DiscoveryV1().EndpointSlices(ns), j.DiscoveryV1().EndpointSlices(ns), endpointSlice())
	lives(t, p.EventsV1().Events(ns), j.EventsV1().Events(ns), event(ns))
	if _, err := j.Discovery().ServerResourcesForGroupVersion("resource.k8s.io/v1"); err == nil { // since 1.34
		lives(t, p.ResourceV1().ResourceClaims(ns), j.ResourceV1().ResourceClaims(ns), resourceClaim())
	}
	lives(t, p.AdmissionregistrationV1().ValidatingWebhookConfigurations(), j.AdmissionregistrationV1().ValidatingWebhookConfigurations(), webhook())
	lives(t, p.AdmissionregistrationV1().ValidatingAdmissionPolicies(), j.AdmissionregistrationV1().ValidatingAdmissionPolicies(), admissionPolicy())
	lives(t, p.SchedulingV1().PriorityClasses(), j.SchedulingV1().PriorityClasses(), priorityClass())
	lives(t, p.StorageV1().StorageClasses(), j.StorageV1().StorageClasses(), storageClass())
	for _, one := range noted.requests("/") {
		if one.got != protobuf {
			t.Errorf("%s %s is answered in %s", one.method, one.uri, one.got)
		}
		if (one.method == http.MethodPost || one.method == http.MethodPut) && one.sent != protobuf {
			t.Errorf("%s %s is sent in %s", one.method, one.uri, one.sent)
		}
	}
}

// Failures come as Status in protobuf too, with what programs decide by.
func TestErrorsInProtobuf(t *testing.T) {
	client, ns, ctx := connect(t, protobuf), namespace(t), t.Context()
	maps := client.CoreV1().ConfigMaps(ns)
	_, err := maps.Get(ctx, "none", metav1.GetOptions{})
	equal(t, "not found", errors.IsNotFound(err), true)
	equal(t, "text", err.Error(), `configmaps "none" not found`)
	made := must(maps.Create(ctx, configMap("map"), metav1.CreateOptions{}))(t)
	_, err = maps.Create(ctx, configMap("map"), metav1.CreateOptions{})
	equal(t, "already exists", errors.IsAlreadyExists(err), true)
	must(maps.Update(ctx, made, metav1.UpdateOptions{}))(t)
	stale := made.DeepCopy()
	stale.Data["a"], stale.ResourceVersion = "2", "1"
	_, err = maps.Update(ctx, stale, metav1.UpdateOptions{})
	equal(t, "conflict", errors.IsConflict(err), true)
	broken := pod("Broken_Name")
	broken.Spec.Containers[0].Image, broken.Spec.Containers[0].ImagePullPolicy = "", "Sometimes"
	_, err = client.CoreV1().Pods(ns).Create(ctx, broken, metav1.CreateOptions{})
	equal(t, "invalid", errors.IsInvalid(err), true)
	causes := err.(errors.APIStatus).Status().Details.Causes
	fields := map[string]metav1.CauseType{}
	for _, cause := range causes {
		fields[cause.Field] = cause.Type
	}
	equal(t, "image", fields["spec.containers[0].image"], metav1.CauseTypeFieldValueRequired)
	equal(t, "policy", fields["spec.containers[0].imagePullPolicy"], metav1.CauseTypeFieldValueNotSupported)
	equal(t, "name", fields["metadata.name"], metav1.CauseTypeFieldValueInvalid)
	uid := types.UID("another")
	err = maps.Delete(ctx, "map", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	equal(t, "precondition", errors.IsConflict(err), true)
	_, err = client.CoreV1().Pods("none-such").Create(ctx, pod("pod"), metav1.CreateOptions{})
	equal(t, "namespace", errors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || errors.IsNotFound(err), true)
}

// The sub-resources that typed clients have methods for.
func TestSubresourcesInProtobuf(t *testing.T) {
	client, ns, ctx := connect(t, protobuf), namespace(t), t.Context()
	deployments := client.AppsV1().Deployments(ns)
	made := must(deployments.Create(ctx, deployment("web"), metav1.CreateOptions{}))(t)
	scale := must(deployments.GetScale(ctx, "web", metav1.GetOptions{}))(t)
	equal(t, "selector", scale.Status.Selector, "app=web")
	scale.Spec.Replicas, scale.ResourceVersion = 2, "" // a controller may write meanwhile
	equal(t, "replicas", must(deployments.UpdateScale(ctx, "web", scale, metav1.UpdateOptions{}))(t).Spec.Replicas, 2)
	equal(t, "replicas", *must(deployments.Get(ctx, "web", metav1.GetOptions{}))(t).Spec.Replicas, 2)
	ingresses := client.NetworkingV1().Ingresses(ns)
	entry := must(ingresses.Create(ctx, ingress("entry"), metav1.CreateOptions{}))(t)
	entry.Status.LoadBalancer.Ingress = append(entry.Status.LoadBalancer.Ingress, entry.Status.LoadBalancer.Ingress...)
	entry.Spec.Rules = nil
	after := must(ingresses.UpdateStatus(ctx, entry, metav1.UpdateOptions{}))(t)
	equal(t, "rules that a status keeps", len(after.Spec.Rules), 1)
	equal(t, "generation", after.Generation, made.Generation)
	token := must(client.CoreV1().ServiceAccounts(ns).CreateToken(ctx, "default", &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: at(int64(600))}}, metav1.CreateOptions{}))(t)
	review := must(client.AuthenticationV1().TokenReviews().Create(ctx, &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: token.Status.Token}}, metav1.CreateOptions{}))(t)
	equal(t, "user", review.Status.User.Username, "system:serviceaccount:"+ns+":default")
	access := must(client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: ns, Verb: "create", Resource: "pods"}}}, metav1.CreateOptions{}))(t)
	equal(t, "allowed", access.Status.Allowed, true)
	must(client.CoreV1().Pods(ns).Create(ctx, pod("pod"), metav1.CreateOptions{}))(t)
	ok(t, client.PolicyV1().Evictions(ns).Evict(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: ns}}))
	eventually(t, "an evicted pod is gone", func() bool {
		_, err := client.CoreV1().Pods(ns).Get(ctx, "pod", metav1.GetOptions{})
		return errors.IsNotFound(err)
	})
}

// Patches of three kinds, and dry runs that leave no trace.
func TestPatches(t *testing.T) {
	client, ns, ctx := connect(t, protobuf), namespace(t), t.Context()
	deployments := client.AppsV1().Deployments(ns)
	must(deployments.Create(ctx, deployment("web"), metav1.CreateOptions{}))(t)
	patch := func(kind types.PatchType, text string, options metav1.PatchOptions) *appsv1.Deployment {
		t.Helper()
		return must(deployments.Patch(ctx, "web", kind, []byte(text), options))(t)
	}
	strategic := `{"spec":{"template":{"spec":{"containers":[{"name":"more","image":"i"}],"$setElementOrder/containers":[{"name":"more"},{"name":"main"}]}}}}`
	containers := patch(types.StrategicMergePatchType, strategic, metav1.PatchOptions{}).Spec.Template.Spec.Containers
	equal(t, "containers", containers[0].Name+" "+containers[1].Name, "more main")
	merged := patch(types.MergePatchType, `{"metadata":{"labels":{"suite":null,"x":"y"}}}`, metav1.PatchOptions{})
	equal(t, "labels", len(merged.Labels), 1)
	dry := patch(types.JSONPatchType, `[{"op":"replace","path":"/spec/replicas","value":7}]`, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	equal(t, "dry run", *dry.Spec.Replicas, 7)
	equal(t, "after a dry run", *must(deployments.Get(ctx, "web", metav1.GetOptions{}))(t).Spec.Replicas, 0)
	_, err := deployments.Patch(ctx, "web", types.JSONPatchType, []byte(`[{"op":"test","path":"/spec/replicas","value":9}]`), metav1.PatchOptions{})
	equal(t, "failed test", errors.IsInvalid(err), true)
}

// Owners and those who go with them, as the options of a deletion say.
func TestDeletion(t *testing.T) {
	client, ns, ctx := connect(t, protobuf), namespace(t), t.Context()
	maps := client.CoreV1().ConfigMaps(ns)
	child := func(name string, owner *corev1.ConfigMap) {
		t.Helper()
		made := configMap(name)
		made.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: at(true)}}
		must(maps.Create(ctx, made, metav1.CreateOptions{}))(t)
	}
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		owner := must(maps.Create(ctx, configMap("owner"), metav1.CreateOptions{}))(t)
		child("child", owner)
		ok(t, maps.Delete(ctx, "owner", metav1.DeleteOptions{PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: &owner.UID}}))
		eventually(t, "both are gone", func() bool {
			return len(must(maps.List(ctx, metav1.ListOptions{LabelSelector: "suite=go"}))(t).Items) == 0
		})
	}
	owner := must(maps.Create(ctx, configMap("owner"), metav1.CreateOptions{}))(t)
	child("child", owner)
	ok(t, maps.Delete(ctx, "owner", metav1.DeleteOptions{PropagationPolicy: at(metav1.DeletePropagationOrphan)}))
	eventually(t, "the child is an orphan", func() bool {
		return len(must(maps.Get(ctx, "child", metav1.GetOptions{}))(t).OwnerReferences) == 0
	})
	ok(t, maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "suite=go"}))
	equal(t, "left", len(must(maps.List(ctx, metav1.ListOptions{LabelSelector: "suite=go"}))(t).Items), 0)
}
