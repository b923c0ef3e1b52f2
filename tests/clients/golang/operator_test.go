package clients

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	extensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Site is a custom kind as kubebuilder would have it.
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              SiteSpec   `json:"spec"`
	Status            SiteStatus `json:"status,omitempty"`
}

type SiteSpec struct {
	Text     string `json:"text"`
	Replicas int32  `json:"replicas,omitempty"`
}

type SiteStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Site `json:"items"`
}

func (s *Site) DeepCopyObject() runtime.Object {
	copied := *s
	copied.ObjectMeta = *s.ObjectMeta.DeepCopy()
	copied.Status.Conditions = append([]metav1.Condition(nil), s.Status.Conditions...)
	return &copied
}

func (l *SiteList) DeepCopyObject() runtime.Object {
	copied := *l
	copied.Items = nil
	for index := range l.Items {
		copied.Items = append(copied.Items, *l.Items[index].DeepCopyObject().(*Site))
	}
	return &copied
}

// definitionOf the sites of a group, as controller-gen writes it.
func definitionOf(group string) *extensionsv1.CustomResourceDefinition {
	text := extensionsv1.JSONSchemaProps{Type: "string", MinLength: at(int64(1))}
	spec := extensionsv1.JSONSchemaProps{Type: "object", Required: []string{"text"}, Properties: map[string]extensionsv1.JSONSchemaProps{
		"text":     text,
		"replicas": {Type: "integer", Format: "int32", Minimum: at(0.0), Default: &extensionsv1.JSON{Raw: []byte(`2`)}}},
		XValidations: extensionsv1.ValidationRules{{Rule: "self.replicas <= 5", Message: "at most five"}}}
	condition := extensionsv1.JSONSchemaProps{Type: "object", Required: []string{"type", "status"}, Properties: map[string]extensionsv1.JSONSchemaProps{
		"type": {Type: "string"}, "status": {Type: "string"}, "reason": {Type: "string"}, "message": {Type: "string"},
		"lastTransitionTime": {Type: "string", Format: "date-time"}, "observedGeneration": {Type: "integer", Format: "int64"}}}
	status := extensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]extensionsv1.JSONSchemaProps{
		"conditions": {Type: "array", XListType: at("map"), XListMapKeys: []string{"type"},
			Items: &extensionsv1.JSONSchemaPropsOrArray{Schema: &condition}}}}
	return &extensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "sites." + group},
		Spec: extensionsv1.CustomResourceDefinitionSpec{Group: group, Scope: extensionsv1.NamespaceScoped,
			Names: extensionsv1.CustomResourceDefinitionNames{Plural: "sites", Kind: "Site"},
			Versions: []extensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Subresources: &extensionsv1.CustomResourceSubresources{Status: &extensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &extensionsv1.CustomResourceValidation{OpenAPIV3Schema: &extensionsv1.JSONSchemaProps{Type: "object",
					Properties: map[string]extensionsv1.JSONSchemaProps{"spec": spec, "status": status}}}}}}}
}

// publisher keeps a ConfigMap with the text of each site, says so in its status, and cleans up after it.
type publisher struct{ client.Client }

func (p *publisher) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	site := &Site{}
	if err := p.Get(ctx, request.NamespacedName, site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !site.DeletionTimestamp.IsZero() {
		farewell := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "farewell-" + site.Name, Namespace: site.Namespace}}
		if err := p.Create(ctx, farewell); client.IgnoreAlreadyExists(err) != nil {
			return ctrl.Result{}, err
		}
		if controllerutil.RemoveFinalizer(site, finalizer) {
			return ctrl.Result{}, p.Update(ctx, site)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(site, finalizer) {
		return ctrl.Result{}, p.Update(ctx, site)
	}
	page := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: site.Name, Namespace: site.Namespace}}
	if _, err := controllerutil.CreateOrUpdate(ctx, p.Client, page, func() error {
		page.Data = map[string]string{"text": site.Spec.Text, "replicas": fmt.Sprint(site.Spec.Replicas)}
		return controllerutil.SetControllerReference(site, page, p.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	if !meta.SetStatusCondition(&site.Status.Conditions, metav1.Condition{
		Type: "Published", Status: metav1.ConditionTrue, Reason: "Written", ObservedGeneration: site.Generation}) {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, p.Status().Update(ctx, site)
}

func (*publisher) ValidateCreate(_ context.Context, site *Site) (admission.Warnings, error) {
	if strings.Contains(site.Spec.Text, "secret") {
		return nil, errors.New("secrets are not published")
	}
	return admission.Warnings{"sites are public"}, nil
}

func (p *publisher) ValidateUpdate(ctx context.Context, _, site *Site) (admission.Warnings, error) {
	return p.ValidateCreate(ctx, site)
}

func (*publisher) ValidateDelete(context.Context, *Site) (admission.Warnings, error) { return nil, nil }

// certificate of a server on loopback: its files are in the folder that is given, what trusts it is returned.
func certificate(t *testing.T, folder string) []byte {
	t.Helper()
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	signed := must(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
	var written bytes.Buffer
	ok(t, pem.Encode(&written, &pem.Block{Type: "CERTIFICATE", Bytes: signed}))
	ok(t, os.WriteFile(filepath.Join(folder, "tls.crt"), written.Bytes(), 0o600))
	var private bytes.Buffer
	ok(t, pem.Encode(&private, &pem.Block{Type: "EC PRIVATE KEY", Bytes: must(x509.MarshalECPrivateKey(key))(t)}))
	ok(t, os.WriteFile(filepath.Join(folder, "tls.key"), private.Bytes(), 0o600))
	return written.Bytes()
}

// publisherAccount is a service account that may do what an operator of sites needs, in one namespace; gives a config that acts as it.
func publisherAccount(t *testing.T, admin client.Client, group, ns string) *rest.Config {
	t.Helper()
	ctx := t.Context()
	ok(t, admin.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "publisher", Namespace: ns}}))
	ok(t, admin.Create(ctx, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "publisher", Namespace: ns}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{group}, Resources: []string{"sites", "sites/status", "sites/finalizers"}, Verbs: []string{"get", "list", "watch", "update", "patch"}},
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch", "create", "update"}}}}))
	ok(t, admin.Create(ctx, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "publisher", Namespace: ns},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "publisher"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "publisher", Namespace: ns}}}))
	token := must(connect(t, json).CoreV1().ServiceAccounts(ns).CreateToken(
		ctx, "publisher", &authenticationv1.TokenRequest{}, metav1.CreateOptions{}))(t)
	limited := rest.AnonymousClientConfig(config(t, ""))
	limited.BearerToken = token.Status.Token
	return limited
}

// A whole operator: a custom kind with defaults and a rule, a limited account, finalizers, status, children, a webhook.
func TestOperator(t *testing.T) {
	log.SetLogger(zap.New(zap.WriteTo(t.Output())))
	ns := namespace(t)
	group := ns + ".example.com"
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	definitions := extensions.NewForConfigOrDie(config(t, "")).ApiextensionsV1().CustomResourceDefinitions()
	must(definitions.Create(ctx, definitionOf(group), metav1.CreateOptions{}))(t)
	t.Cleanup(func() { _ = definitions.Delete(context.Background(), "sites."+group, metav1.DeleteOptions{}) })
	scheme := runtime.NewScheme()
	ok(t, clientgoscheme.AddToScheme(scheme))
	version := schema.GroupVersion{Group: group, Version: "v1"}
	scheme.AddKnownTypes(version, &Site{}, &SiteList{})
	metav1.AddToGroupVersion(scheme, version)
	admin := must(client.New(config(t, ""), client.Options{Scheme: scheme}))(t)
	eventually(t, "sites are served", func() bool { return admin.List(ctx, &SiteList{}, client.InNamespace(ns)) == nil })

	folder := t.TempDir()
	trusted := certificate(t, folder)
	listener := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	port := listener.Addr().(*net.TCPAddr).Port
	ok(t, listener.Close())
	manager := must(ctrl.NewManager(publisherAccount(t, admin, group, ns), ctrl.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"},
		Cache:         cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}},
		WebhookServer: ctrlwebhook.NewServer(ctrlwebhook.Options{Host: "127.0.0.1", Port: port, CertDir: folder})}))(t)
	operator := &publisher{manager.GetClient()}
	ok(t, ctrl.NewControllerManagedBy(manager).For(&Site{}).Owns(&corev1.ConfigMap{}).Complete(operator))
	manager.GetWebhookServer().Register("/validate", admission.WithValidator[*Site](scheme, operator))
	done := make(chan error)
	go func() { done <- manager.Start(ctx) }()
	defer func() { stop(); ok(t, <-done) }()
	hook := (&url.URL{Scheme: "https", Host: fmt.Sprintf("127.0.0.1:%d", port), Path: "/validate"}).String()
	configuration := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: group},
		Webhooks: []admissionv1.ValidatingWebhook{{Name: "sites." + group, AdmissionReviewVersions: []string{"v1"},
			SideEffects: at(admissionv1.SideEffectClassNone), ClientConfig: admissionv1.WebhookClientConfig{URL: &hook, CABundle: trusted},
			Rules: []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
				Rule: admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{"sites"}}}}}}}
	ok(t, admin.Create(ctx, configuration))
	defer func() { _ = admin.Delete(context.Background(), configuration) }()

	site := func(name, text string, replicas int32) *Site {
		return &Site{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns}, Spec: SiteSpec{Text: text, Replicas: replicas}}
	}
	refused := func(site *Site, text string) {
		t.Helper()
		eventually(t, "a refusal: "+text, func() bool {
			err := admin.Create(ctx, site.DeepCopyObject().(*Site), client.DryRunAll)
			return err != nil && strings.Contains(err.Error(), text)
		})
	}
	refused(site("a", "a secret", 1), "secrets are not published")
	refused(site("a", "", 1), "spec.text in body should be at least 1 chars long")
	refused(site("a", "hello", 6), "spec: Invalid value: at most five")
	ok(t, admin.Create(ctx, site("a", "hello", 0)))
	key, page, found := client.ObjectKey{Namespace: ns, Name: "a"}, &corev1.ConfigMap{}, &Site{}
	eventually(t, "it is published", func() bool {
		ok(t, admin.Get(ctx, key, found))
		return meta.IsStatusConditionTrue(found.Status.Conditions, "Published")
	})
	ok(t, admin.Get(ctx, key, page))
	equal(t, "the default", page.Data["replicas"], "2")
	equal(t, "owner", metav1.IsControlledBy(page, found), true)
	ok(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		ok(t, admin.Get(ctx, key, found))
		found.Spec.Text = "welcome"
		return admin.Update(ctx, found)
	}))
	eventually(t, "the new text", func() bool {
		ok(t, admin.Get(ctx, key, page))
		ok(t, admin.Get(ctx, key, found))
		return page.Data["text"] == "welcome" && found.Status.Conditions[0].ObservedGeneration == found.Generation
	})
	equal(t, "generation", found.Generation, 2)
	ok(t, admin.Delete(ctx, found))
	eventually(t, "it is gone", func() bool { return apierrors.IsNotFound(admin.Get(ctx, key, found)) })
	ok(t, admin.Get(ctx, client.ObjectKey{Namespace: ns, Name: "farewell-a"}, page))
}
