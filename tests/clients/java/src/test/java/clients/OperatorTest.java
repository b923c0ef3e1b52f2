package clients;

import static clients.Eventually.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.reconciler.Cleaner;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.DeleteControl;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.Workflow;
import io.javaoperatorsdk.operator.api.reconciler.dependent.Dependent;
import io.javaoperatorsdk.operator.processing.dependent.kubernetes.BooleanWithUndefined;
import io.javaoperatorsdk.operator.processing.dependent.kubernetes.CRUDKubernetesDependentResource;
import io.javaoperatorsdk.operator.processing.dependent.kubernetes.KubernetesDependent;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An operator of java-operator-sdk, whose account may do no more than it needs in one namespace. */
class OperatorTest {
  public static class SiteSpec {
    public String text;
    public Integer replicas;
  }

  public static class SiteStatus {
    public Long observedGeneration;
    public List<Condition> conditions;
  }

  @Group("java.example.com")
  @Version("v1")
  public static class Site extends CustomResource<SiteSpec, SiteStatus> implements Namespaced {}

  /** The ConfigMap with a site's text: applied by the server, matched by what its manager owns. */
  @KubernetesDependent(useSSA = BooleanWithUndefined.TRUE)
  public static class Page extends CRUDKubernetesDependentResource<ConfigMap, Site> {
    public Page() {
      super(ConfigMap.class);
    }

    @Override
    protected ConfigMap desired(Site site, Context<Site> context) {
      return map(site.getMetadata().getNamespace(), site.getMetadata().getName(),
          Map.of("text", site.getSpec().text, "replicas", site.getSpec().replicas.toString()));
    }
  }

  /** Says in the status what is published, and leaves a farewell behind. */
  @Workflow(dependents = @Dependent(type = Page.class))
  @ControllerConfiguration(name = "publisher", finalizerName = "java.example.com/farewell")
  public static class Publisher implements Reconciler<Site>, Cleaner<Site> {
    @Override
    public UpdateControl<Site> reconcile(Site site, Context<Site> context) {
      var page = context.getSecondaryResource(ConfigMap.class).orElseThrow();
      var applied = site(site.getMetadata().getNamespace(), site.getMetadata().getName(), null, null);
      applied.setSpec(null);
      applied.setStatus(new SiteStatus());
      applied.getStatus().observedGeneration = site.getMetadata().getGeneration();
      applied.getStatus().conditions = List.of(new ConditionBuilder().withType("Published").withStatus("True")
          .withReason("Written").withMessage(page.getData().get("text")).withLastTransitionTime(Instant.EPOCH.toString()).build());
      return UpdateControl.patchStatus(applied);
    }

    @Override
    public DeleteControl cleanup(Site site, Context<Site> context) {
      var name = "farewell-" + site.getMetadata().getName();
      context.getClient().resource(map(site.getMetadata().getNamespace(), name, Map.of())).serverSideApply();
      return DeleteControl.defaultDelete();
    }
  }

  private KubernetesClient admin;
  private String namespace;

  @BeforeEach
  void connect() throws Exception {
    admin = new KubernetesClientBuilder().build();
    namespace = admin.namespaces().resource(
        new NamespaceBuilder().withNewMetadata().withGenerateName("suite-").endMetadata().build()).create().getMetadata().getName();
    definition().serverSideApply();
    definition().waitUntilCondition(found -> found != null && found.getStatus() != null && found.getStatus().getConditions().stream()
        .anyMatch(condition -> condition.getType().equals("Established") && condition.getStatus().equals("True")), 30, TimeUnit.SECONDS);
    eventually("sites are served", () -> admin.getApiResources("java.example.com/v1") != null);
  }

  @AfterEach
  void leave() {
    admin.resources(Site.class).inNamespace(namespace).list().getItems().forEach(site -> {
      site.getMetadata().setFinalizers(List.of());
      admin.resource(site).update();
    });
    definition().delete();
    admin.namespaces().withName(namespace).delete();
    admin.close();
  }

  private Resource<CustomResourceDefinition> definition() {
    return admin.apiextensions().v1().customResourceDefinitions().load(getClass().getResourceAsStream("/site.yaml"));
  }

  private static ConfigMap map(String namespace, String name, Map<String, String> data) {
    return new ConfigMapBuilder().withNewMetadata().withName(name).withNamespace(namespace).endMetadata().withData(data).build();
  }

  private static Site site(String namespace, String name, String text, Integer replicas) {
    var made = new Site();
    made.getMetadata().setNamespace(namespace);
    made.getMetadata().setName(name);
    made.setSpec(new SiteSpec());
    made.getSpec().text = text;
    made.getSpec().replicas = replicas;
    return made;
  }

  /** A configuration that acts as a service account with the rights of a publisher. */
  private Config publisher() {
    admin.resource(new ServiceAccountBuilder().withNewMetadata().withName("publisher").withNamespace(namespace).endMetadata()
        .build()).create();
    admin.resource(new RoleBuilder().withNewMetadata().withName("publisher").withNamespace(namespace).endMetadata()
        .addNewRule().withApiGroups("java.example.com").withResources("sites", "sites/status", "sites/finalizers")
        .withVerbs("get", "list", "watch", "patch", "update").endRule()
        .addNewRule().withApiGroups("").withResources("configmaps").withVerbs("get", "list", "watch", "create", "patch").endRule()
        .build()).create();
    admin.resource(new RoleBindingBuilder().withNewMetadata().withName("publisher").withNamespace(namespace).endMetadata()
        .withNewRoleRef("rbac.authorization.k8s.io", "Role", "publisher")
        .addNewSubject().withKind("ServiceAccount").withName("publisher").withNamespace(namespace).endSubject().build()).create();
    var token = admin.serviceAccounts().inNamespace(namespace).withName("publisher")
        .tokenRequest(new TokenRequestBuilder().withNewSpec().withExpirationSeconds(3600L).endSpec().build()).getStatus().getToken();
    var given = admin.getConfiguration();
    return new ConfigBuilder(Config.empty()).withMasterUrl(given.getMasterUrl()).withCaCertFile(given.getCaCertFile())
        .withCaCertData(given.getCaCertData()).withTrustCerts(given.isTrustCerts()).withOauthToken(token).build();
  }

  private String refusal(Site site) {
    return assertThrows(KubernetesClientException.class, () -> admin.resource(site).create()).getMessage();
  }

  @Test
  void anOperatorPublishesAndCleansUp() throws Exception {
    assertTrue(refusal(site(namespace, "a", "", 1)).contains("spec.text in body should be at least 1 chars long"));
    assertTrue(refusal(site(namespace, "a", "hello", 6)).contains("spec: Invalid value: at most five"));
    try (var limited = new KubernetesClientBuilder().withConfig(publisher()).build()) {
      var operator = new Operator(settings -> settings.withKubernetesClient(limited).withCloseClientOnStop(false));
      operator.register(new Publisher(), settings -> settings.settingNamespace(namespace));
      operator.start();
      try {
        publish();
      } finally {
        operator.stop();
      }
    }
  }

  private void publish() throws Exception {
    var sites = admin.resources(Site.class).inNamespace(namespace);
    var pages = admin.configMaps().inNamespace(namespace);
    var made = sites.resource(site(namespace, "a", "hello", null)).create();
    assertEquals(2, made.getSpec().replicas);
    eventually("it is published", () -> says(sites.withName("a").get(), "hello"));
    var page = pages.withName("a").get();
    assertEquals(Map.of("text", "hello", "replicas", "2"), page.getData());
    assertEquals(made.getMetadata().getUid(), page.getMetadata().getOwnerReferences().get(0).getUid());
    assertEquals(List.of("java.example.com/farewell"), sites.withName("a").get().getMetadata().getFinalizers());
    sites.withName("a").edit(found -> {
      found.getSpec().text = "welcome";
      return found;
    });
    eventually("the new text", () -> says(sites.withName("a").get(), "welcome"));
    assertEquals(2, sites.withName("a").get().getStatus().observedGeneration);
    pages.withName("a").edit(found -> new ConfigMapBuilder(found).addToData("text", "vandalism").build());
    eventually("the page is mended", () -> pages.withName("a").get().getData().get("text").equals("welcome"));
    sites.withName("a").delete();
    eventually("it is gone", () -> sites.withName("a").get() == null);
    assertNotNull(pages.withName("farewell-a").get());
    eventually("its page is gone", () -> pages.withName("a").get() == null);
  }

  private static boolean says(Site site, String text) {
    return site.getStatus() != null && site.getStatus().conditions.get(0).getMessage().equals(text);
  }
}
