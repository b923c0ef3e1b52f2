package clients

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"time"
)

func at[T any](value T) *T { return &value }

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{"suite": "go"}, Annotations: map[string]string{"note": "ü"}}
}

var (
	web      = map[string]string{"app": "web"}
	selector = &metav1.LabelSelector{MatchLabels: web}
	moment   = metav1.NewMicroTime(time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC))
)

// podSpec uses fields of every shape: quantities, int-or-strings, embedded structs, maps, pointers to nothing.
func podSpec() corev1.PodSpec {
	return corev1.PodSpec{
		Volumes: []corev1.Volume{
			{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: at(resource.MustParse("1Gi"))}}},
			{Name: "both", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
				DefaultMode: at(int32(0o400)), Sources: []corev1.VolumeProjection{
					{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, Optional: at(false)}},
					{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
						{Path: "labels", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}}}}}}}}},
		},
		InitContainers: []corev1.Container{{Name: "side", Image: "busybox", RestartPolicy: at(corev1.ContainerRestartPolicyAlways)}},
		Containers: []corev1.Container{{
			Name: "main", Image: "busybox:1.36", Command: []string{"sleep", "1h"}, Args: []string{""},
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
			Env: []corev1.EnvVar{
				{Name: "PLAIN", Value: ""},
				{Name: "SECRET", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
					LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k", Optional: at(true)}}}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("1.5Gi")},
				Limits:   corev1.ResourceList{"memory": resource.MustParse("2Gi"), "example.com/thing": resource.MustParse("2")}},
			VolumeMounts:   []corev1.VolumeMount{{Name: "scratch", MountPath: "/tmp", MountPropagation: at(corev1.MountPropagationNone)}},
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromString("http")}}},
			LivenessProbe:  &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8080)}}, FailureThreshold: 7},
			SecurityContext: &corev1.SecurityContext{RunAsUser: at(int64(0)), AllowPrivilegeEscalation: at(false),
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}}},
		TerminationGracePeriodSeconds: at(int64(0)),
		NodeSelector:                  map[string]string{"disk": "none"},
		Tolerations:                   []corev1.Toleration{{Key: "k", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: at(int64(60))}},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone",
			WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: selector}},
		Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
			{Weight: 1, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: "arch", Operator: corev1.NodeSelectorOpIn, Values: []string{"arm64", "amd64"}}}}}}}},
		SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: at(false), Sysctls: []corev1.Sysctl{{Name: "net.ipv4.ip_local_port_range", Value: "1 2"}}},
	}
}

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: web}, Spec: podSpec()}
}

func jobTemplate() corev1.PodTemplateSpec {
	made := template()
	made.Labels, made.Spec.RestartPolicy = nil, corev1.RestartPolicyNever
	return made
}

func pod(name string) *corev1.Pod { return &corev1.Pod{ObjectMeta: named(name), Spec: podSpec()} }

func secret() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: named("secret"), Data: map[string][]byte{"bytes": {0, 1, 255}, "none": {}}, Immutable: at(false)}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: named(name), Data: map[string]string{"a": "1", "empty": ""}, BinaryData: map[string][]byte{"b": {0xfe}}}
}

func service() *corev1.Service {
	return &corev1.Service{ObjectMeta: named("service"), Spec: corev1.ServiceSpec{Selector: web, Type: corev1.ServiceTypeClusterIP,
		Ports: []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromString("http")}, {Name: "dns", Port: 53, Protocol: "UDP"}}}}
}

func deployment(name string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: named(name), Spec: appsv1.DeploymentSpec{Replicas: at(int32(0)), Selector: selector, Template: template(),
		Strategy: appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: at(intstr.FromString("50%")), MaxUnavailable: at(intstr.FromInt32(0))}}}}
}

func replicaSet() *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{ObjectMeta: named("set"), Spec: appsv1.ReplicaSetSpec{Replicas: at(int32(0)), Selector: selector, Template: template()}}
}

func statefulSet() *appsv1.StatefulSet {
	return &appsv1.StatefulSet{ObjectMeta: named("stateful"), Spec: appsv1.StatefulSetSpec{Replicas: at(int32(0)), ServiceName: "service", Selector: selector, Template: template()}}
}

func daemonSet() *appsv1.DaemonSet {
	return &appsv1.DaemonSet{ObjectMeta: named("daemon"), Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template()}}
}

func job(name string) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: named(name), Spec: batchv1.JobSpec{Suspend: at(true), Completions: at(int32(3)), Parallelism: at(int32(0)),
		CompletionMode: at(batchv1.IndexedCompletion), BackoffLimitPerIndex: at(int32(1)), MaxFailedIndexes: at(int32(2)), Template: jobTemplate(),
		PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{Action: batchv1.PodFailurePolicyActionFailIndex,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{1, 42}}}}}}}
}

func cronJob() *batchv1.CronJob {
	return &batchv1.CronJob{ObjectMeta: named("cron"), Spec: batchv1.CronJobSpec{Schedule: "@yearly", TimeZone: at("Etc/UTC"),
		JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: jobTemplate()}}}}
}

func claim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: named(name), Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1Gi")}}, StorageClassName: at("")}}
}

func volume() *corev1.PersistentVolume {
	return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{GenerateName: "suite-"}, Spec: corev1.PersistentVolumeSpec{
		Capacity: corev1.ResourceList{"storage": resource.MustParse("1Gi")}, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		StorageClassName: "none-such", PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/tmp"}}}}
}

func quota() *corev1.ResourceQuota {
	return &corev1.ResourceQuota{ObjectMeta: named("quota"), Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/widgets.example.com": resource.MustParse("1k")}}}
}

func limits() *corev1.LimitRange {
	return &corev1.LimitRange{ObjectMeta: named("limits"), Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer,
		Max: corev1.ResourceList{"memory": resource.MustParse("64Gi")}, Default: corev1.ResourceList{"memory": resource.MustParse("1Gi")}}}}}
}

func account() *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: named("account"), AutomountServiceAccountToken: at(false)}
}

func budget() *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{ObjectMeta: named("budget"), Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: at(intstr.FromString("50%")), Selector: selector}}
}

func autoscaler() *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: named("scaler"), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{MaxReplicas: 3,
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "web", APIVersion: "apps/v1"},
		Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: "cpu",
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: at(int32(60))}}}}}}
}

func ingress(name string) *networkingv1.Ingress {
	return &networkingv1.Ingress{ObjectMeta: named(name), Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: "example.com",
		IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{Path: "/", PathType: at(networkingv1.PathTypePrefix),
			Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "service", Port: networkingv1.ServiceBackendPort{Number: 80}}}}}}}}}}}
}

func networkPolicy() *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{ObjectMeta: named("policy"), Spec: networkingv1.NetworkPolicySpec{PodSelector: *selector,
		Ingress: []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/8", Except: []string{"10.1.0.0/16"}}}},
			Ports: []networkingv1.NetworkPolicyPort{{Port: at(intstr.FromInt32(80)), EndPort: at(int32(90))}}}}}}
}

func role() *rbacv1.Role {
	return &rbacv1.Role{ObjectMeta: named("role"), Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}, ResourceNames: []string{"p"}}}}
}

func roleBinding() *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{ObjectMeta: named("binding"), RoleRef: rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: "role"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "default", Namespace: "default"}, {Kind: "User", Name: "ann"}}}
}

func lease(name string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: named(name), Spec: coordinationv1.LeaseSpec{HolderIdentity: at("me"), LeaseDurationSeconds: at(int32(15)),
		RenewTime: &moment, LeaseTransitions: at(int32(0))}}
}

func endpointSlice() *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{ObjectMeta: named("slice"), AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}, Conditions: discoveryv1.EndpointConditions{Ready: at(false)}, Zone: at("z")}},
		Ports:     []discoveryv1.EndpointPort{{Name: at("http"), Port: at(int32(80)), Protocol: at(corev1.ProtocolTCP)}}}
}

func event(namespace string) *eventsv1.Event {
	return &eventsv1.Event{ObjectMeta: named("event"), EventTime: moment, ReportingController: "example.com/suite", ReportingInstance: "one", Action: "Look", Reason: "Seen", Type: "Normal",
		Regarding: corev1.ObjectReference{Kind: "Pod", Name: "p", Namespace: namespace}, Note: "seen"}
}

func resourceClaim() *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{ObjectMeta: named("devices"), Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
		{Name: "one", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "example.com", Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: "true"}}}}}}}}}
}

func webhook() *admissionv1.ValidatingWebhookConfiguration {
	return &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{GenerateName: "suite-"}, Webhooks: []admissionv1.ValidatingWebhook{{Name: "never.example.com",
		ClientConfig: admissionv1.WebhookClientConfig{URL: at("https://127.0.0.1/"), CABundle: nil}, SideEffects: at(admissionv1.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1"}, FailurePolicy: at(admissionv1.Ignore), Rules: []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{"CREATE"},
			Rule: admissionv1.Rule{APIGroups: []string{"none.example.com"}, APIVersions: []string{"v1"}, Resources: []string{"things"}}}}}}}
}

func admissionPolicy() *admissionv1.ValidatingAdmissionPolicy {
	return &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{GenerateName: "suite-"}, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{"CREATE"}, Rule: admissionv1.Rule{APIGroups: []string{"none.example.com"}, APIVersions: []string{"v1"}, Resources: []string{"things"}}}}}},
		Variables:   []admissionv1.Variable{{Name: "name", Expression: "object.metadata.name"}},
		Validations: []admissionv1.Validation{{Expression: "variables.name != 'x'", Message: "not x"}}}}
}

func priorityClass() *schedulingv1.PriorityClass {
	return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{GenerateName: "suite-"}, Value: -10, PreemptionPolicy: at(corev1.PreemptNever), Description: "low"}
}

func storageClass() *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{GenerateName: "suite-"}, Provisioner: "example.com/none", AllowVolumeExpansion: at(true),
		AllowedTopologies: []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: "zone", Values: []string{"a"}}}}}}
}
