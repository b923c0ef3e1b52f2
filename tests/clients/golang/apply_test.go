package clients

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingapply "k8s.io/client-go/applyconfigurations/networking/v1"
)

// Two managers of one object, with apply configurations: what each owns, how they clash, what goes when one lets go.
func TestServerSideApply(t *testing.T) {
	client, ns, ctx := connect(t, protobuf), namespace(t), t.Context()
	deployments := client.AppsV1().Deployments(ns)
	config := func() *appsapply.DeploymentApplyConfiguration {
		return appsapply.Deployment("web", ns).WithLabels(web).WithSpec(appsapply.DeploymentSpec().WithReplicas(0).
			WithSelector(metaapply.LabelSelector().WithMatchLabels(web)).
			WithTemplate(coreapply.PodTemplateSpec().WithLabels(web).WithSpec(coreapply.PodSpec().WithContainers(
				coreapply.Container().WithName("main").WithImage("one").WithEnv(coreapply.EnvVar().WithName("A").WithValue("1"))))))
	}
	made := must(deployments.Apply(ctx, config(), metav1.ApplyOptions{FieldManager: "first"}))(t)
	equal(t, "replicas", *made.Spec.Replicas, 0)
	again := must(deployments.Apply(ctx, config(), metav1.ApplyOptions{FieldManager: "first"}))(t)
	equal(t, "generation after the same once more", again.Generation, made.Generation)

	rival := config()
	rival.Spec.Template.Spec.Containers[0].WithImage("two")
	_, err := deployments.Apply(ctx, rival, metav1.ApplyOptions{FieldManager: "second"})
	equal(t, "conflict", errors.IsConflict(err), true)
	cause := err.(errors.APIStatus).Status().Details.Causes[0]
	equal(t, "cause", cause.Type, metav1.CauseTypeFieldManagerConflict)
	equal(t, "field", cause.Field, `.spec.template.spec.containers[name="main"].image`)
	equal(t, "text", strings.Contains(cause.Message, `conflict with "first"`), true)
	forced := must(deployments.Apply(ctx, rival, metav1.ApplyOptions{FieldManager: "second", Force: true}))(t)
	equal(t, "image", forced.Spec.Template.Spec.Containers[0].Image, "two")

	mine := must(appsapply.ExtractDeployment(forced, "first"))(t)
	if mine.Spec.Template.Spec.Containers[0].Image != nil {
		t.Fatal("the first still owns the image")
	}
	mine.Spec.Template.Spec.Containers[0].Env = nil
	mine.Labels = nil
	shared := must(deployments.Apply(ctx, mine, metav1.ApplyOptions{FieldManager: "first"}))(t)
	equal(t, "what the second holds too", len(shared.Spec.Template.Spec.Containers[0].Env)+len(shared.Labels), 2)
	theirs := must(appsapply.ExtractDeployment(shared, "second"))(t)
	theirs.Spec.Template.Spec.Containers[0].Env, theirs.Labels = nil, nil
	left := must(deployments.Apply(ctx, theirs, metav1.ApplyOptions{FieldManager: "second"}))(t)
	equal(t, "what nobody holds", len(left.Spec.Template.Spec.Containers[0].Env)+len(left.Labels), 0)
}

// Apply on a status touches nothing else.
func TestApplyStatus(t *testing.T) {
	client, ns, ctx := connect(t, protobuf), namespace(t), t.Context()
	ingresses := client.NetworkingV1().Ingresses(ns)
	must(ingresses.Create(ctx, ingress("entry"), metav1.CreateOptions{}))(t)
	status := networkingapply.Ingress("entry", ns).WithStatus(networkingapply.IngressStatus().WithLoadBalancer(
		networkingapply.IngressLoadBalancerStatus().WithIngress(networkingapply.IngressLoadBalancerIngress().WithIP("192.0.2.1"))))
	after := must(ingresses.ApplyStatus(ctx, status, metav1.ApplyOptions{FieldManager: "balancer"}))(t)
	equal(t, "address", after.Status.LoadBalancer.Ingress[0].IP, "192.0.2.1")
	equal(t, "rules", len(after.Spec.Rules), 1)
	for _, entry := range after.ManagedFields {
		if entry.Manager == "balancer" {
			equal(t, "how", string(entry.Operation)+" "+entry.Subresource, "Apply status")
			return
		}
	}
	t.Fatal("the balancer owns nothing")
}

// What is applied once more leaves no trace, not even a new version.
func TestApplyIsIdempotent(t *testing.T) {
	client, ns, ctx := connect(t, protobuf), namespace(t), t.Context()
	config := coreapply.ConfigMap("map", ns).WithData(map[string]string{"a": "1"})
	first := must(client.CoreV1().ConfigMaps(ns).Apply(ctx, config, metav1.ApplyOptions{FieldManager: "me"}))(t)
	second := must(client.CoreV1().ConfigMaps(ns).Apply(ctx, config, metav1.ApplyOptions{FieldManager: "me", Force: true}))(t)
	equal(t, "version", second.ResourceVersion, first.ResourceVersion)
}
