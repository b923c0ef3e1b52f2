package clients;

import static clients.Eventually.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.autoscaling.v1.ScaleBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What programs do with fabric8's client, each in a namespace of its own. */
class Fabric8Test {
  private static final Map<String, String> LABELS = Map.of("suite", "java");

  private KubernetesClient client;
  private String namespace;

  @BeforeEach
  void connect() throws Exception {
    client = new KubernetesClientBuilder().build();
    namespace = client.namespaces().resource(
        new NamespaceBuilder().withNewMetadata().withGenerateName("suite-").endMetadata().build()).create().getMetadata().getName();
    eventually("a service account",
        () -> client.serviceAccounts().inNamespace(namespace).withName("default").get() != null);
  }

  @AfterEach
  void leave() {
    client.namespaces().withName(namespace).delete();
    client.close();
  }

  private ConfigMap map(String name, String value) {
    return new ConfigMapBuilder().withNewMetadata().withName(name).withNamespace(namespace).withLabels(LABELS).endMetadata()
        .withData(Map.of("a", value)).build();
  }

  private Deployment deployment(String image) {
    var labels = Map.of("app", "web");
    return new DeploymentBuilder().withNewMetadata().withName("web").withNamespace(namespace).withLabels(LABELS).endMetadata()
        .withNewSpec().withReplicas(0).withNewSelector().withMatchLabels(labels).endSelector().withNewTemplate()
        .withNewMetadata().withLabels(labels).endMetadata()
        .withNewSpec().addNewContainer().withName("main").withImage(image).endContainer().endSpec()
        .endTemplate().endSpec().build();
  }

  @Test
  void objectsAreCreatedEditedListedAndDeleted() {
    var maps = client.configMaps().inNamespace(namespace);
    for (int number = 1; number <= 3; number++) {
      maps.resource(map("map-" + number, "1")).create();
    }
    assertEquals(409, assertThrows(KubernetesClientException.class, () -> maps.resource(map("map-1", "1")).create()).getCode());
    var edited = maps.withName("map-1").edit(found -> new ConfigMapBuilder(found).addToData("b", "2").build());
    assertEquals(Map.of("a", "1", "b", "2"), edited.getData());
    assertEquals("3", maps.resource(map("map-1", "3")).update().getData().get("a"));
    var stale = map("map-1", "4");
    stale.getMetadata().setResourceVersion("1");
    assertEquals(409, assertThrows(KubernetesClientException.class, () -> maps.resource(stale).update()).getCode());
    var page = maps.withLabel("suite", "java").list(new ListOptionsBuilder().withLimit(2L).build());
    assertEquals(2, page.getItems().size());
    var rest = maps.withLabel("suite", "java")
        .list(new ListOptionsBuilder().withLimit(2L).withContinue(page.getMetadata().getContinue()).build());
    assertEquals("map-3", rest.getItems().get(0).getMetadata().getName());
    assertEquals(1, maps.withName("map-2").delete().size());
    assertNull(maps.withName("map-2").get());
    maps.withLabel("suite", "java").delete();
    assertEquals(0, maps.withLabel("suite", "java").list().getItems().size());
  }

  @Test
  void patchesAndScalesDoWhatTheySay() {
    var web = client.apps().deployments().inNamespace(namespace).resource(deployment("one"));
    web.create();
    var named = client.apps().deployments().inNamespace(namespace).withName("web");
    var json = named.patch(PatchContext.of(PatchType.JSON), "[{\"op\":\"add\",\"path\":\"/metadata/labels/x\",\"value\":\"y\"}]");
    assertEquals("y", json.getMetadata().getLabels().get("x"));
    var merge = named.patch(PatchContext.of(PatchType.JSON_MERGE), "{\"metadata\":{\"labels\":{\"x\":null}}}");
    assertNull(merge.getMetadata().getLabels().get("x"));
    var strategic = named.patch(PatchContext.of(PatchType.STRATEGIC_MERGE),
        "spec: {template: {spec: {containers: [{name: more, image: two}]}}}");
    assertEquals(2, strategic.getSpec().getTemplate().getSpec().getContainers().size());
    assertEquals(3, named.patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"replicas\":3}}").getSpec().getReplicas());
    assertEquals(2, named.scale(new ScaleBuilder().withNewMetadata().withName("web")
        .withNamespace(namespace).endMetadata().withNewSpec().withReplicas(2).endSpec().build()).getSpec().getReplicas());
    assertEquals(2, named.get().getSpec().getReplicas());
  }

  @Test
  void serverSideApplyKnowsWhoOwnsWhat() {
    var one = client.resource(deployment("one")).fieldManager("first").serverSideApply();
    assertEquals(one.getMetadata().getGeneration(), client.resource(deployment("one")).fieldManager("first").serverSideApply().getMetadata().getGeneration());
    var clash = assertThrows(KubernetesClientException.class,
        () -> client.resource(deployment("two")).fieldManager("second").serverSideApply());
    assertEquals(409, clash.getCode());
    assertEquals(".spec.template.spec.containers[name=\"main\"].image", clash.getStatus().getDetails().getCauses().get(0).getField());
    var forced = client.resource(deployment("two")).fieldManager("second").forceConflicts().serverSideApply();
    assertEquals("two", forced.getSpec().getTemplate().getSpec().getContainers().get(0).getImage());
  }

  @Test
  void aWatchTellsEachChangeInTurn() throws Exception {
    var seen = new ConcurrentLinkedQueue<String>();
    var maps = client.configMaps().inNamespace(namespace).withLabel("suite", "java");
    try (var watch = maps.watch(new Watcher<ConfigMap>() {
      @Override
      public void eventReceived(Action action, ConfigMap object) {
        if (action != Action.BOOKMARK) {
          seen.add(action + " " + object.getData().get("a"));
        }
      }

      @Override
      public void onClose(WatcherException cause) {
        seen.add("closed by " + cause);
      }
    })) {
      client.resource(map("map", "1")).create();
      client.resource(map("map", "2")).update();
      client.resource(map("map", "2")).delete();
      eventually("three events", () -> seen.size() >= 3);
    }
    assertEquals(List.of("ADDED 1", "MODIFIED 2", "DELETED 2"), List.copyOf(seen));
  }

  @Test
  void aSharedInformerKeepsUp() throws Exception {
    client.resource(map("old", "1")).create();
    var heard = new ConcurrentLinkedQueue<String>();
    try (var informer = client.configMaps().inNamespace(namespace).withLabel("suite", "java").inform(new ResourceEventHandler<>() {
      @Override
      public void onAdd(ConfigMap object) {
        heard.add("add " + object.getMetadata().getName());
      }

      @Override
      public void onUpdate(ConfigMap old, ConfigMap object) {
        heard.add("update " + old.getData().get("a") + " to " + object.getData().get("a"));
      }

      @Override
      public void onDelete(ConfigMap object, boolean unknown) {
        heard.add("delete " + object.getMetadata().getName());
      }
    })) {
      eventually("what was there", () -> informer.hasSynced() && heard.contains("add old"));
      client.resource(map("new", "1")).create();
      client.resource(map("new", "2")).update();
      client.resource(map("old", "1")).delete();
      eventually("every change", () -> heard.containsAll(List.of("add new", "update 1 to 2", "delete old")));
      assertEquals("2", informer.getIndexer().getByKey(namespace + "/new").getData().get("a"));
    }
  }

  @Test
  void objectsWithoutTypesLiveToo() {
    var made = client.genericKubernetesResources("batch/v1", "CronJob").inNamespace(namespace).load(getClass()
        .getResourceAsStream("/cronjob.yaml")).create();
    assertEquals("Allow", made.<String>get("spec", "concurrencyPolicy"));
    List<GenericKubernetesResource> found =
        client.genericKubernetesResources("batch/v1", "CronJob").inNamespace(namespace).withLabel("suite", "java").list().getItems();
    assertEquals("nightly", found.get(0).getMetadata().getName());
  }

  @Test
  void dependentsGoWithTheirOwner() throws Exception {
    var owner = client.resource(map("owner", "1")).create();
    var child = map("child", "1");
    child.addOwnerReference(owner);
    client.resource(child).create();
    client.configMaps().inNamespace(namespace).withName("owner").withPropagationPolicy(DeletionPropagation.FOREGROUND).delete();
    assertTrue(client.configMaps().inNamespace(namespace).withName("child").informOnCondition(List::isEmpty).get(30, TimeUnit.SECONDS).isEmpty());
    client.configMaps().inNamespace(namespace).withName("owner").waitUntilCondition(found -> found == null, 30, TimeUnit.SECONDS);
  }

  @Test
  void ofTwoCandidatesOneLeads() throws Exception {
    var heard = new ConcurrentLinkedQueue<String>();
    var first = elect("first", heard);
    eventually("the first leads", () -> heard.contains("first leads"));
    var second = elect("second", heard);
    eventually("the second follows", () -> heard.contains("second sees first"));
    first.cancel(true);
    eventually("the second leads", () -> heard.contains("second leads"));
    assertEquals("second", client.leases().inNamespace(namespace).withName("leader").get().getSpec().getHolderIdentity());
    second.cancel(true);
  }

  private CompletableFuture<?> elect(String name, ConcurrentLinkedQueue<String> heard) {
    var config = new LeaderElectionConfigBuilder().withName("leader").withLock(new LeaseLock(namespace, "leader", name))
        .withLeaseDuration(Duration.ofSeconds(2)).withRenewDeadline(Duration.ofSeconds(1)).withRetryPeriod(Duration.ofMillis(200))
        .withReleaseOnCancel(true).withLeaderCallbacks(new LeaderCallbacks(
            () -> heard.add(name + " leads"), () -> heard.add(name + " stops"), leader -> heard.add(name + " sees " + leader)))
        .build();
    return client.leaderElector().withConfig(config).build().start();
  }

  @Test
  void whatAPodHasWrittenCanBeRead() throws Exception {
    assumeTrue(System.getenv("WITHOUT_KUBELETS") == null, "it needs nodes with kubelets");
    client.resource(new PodBuilder().withNewMetadata().withName("talker").withNamespace(namespace).endMetadata().withNewSpec()
        .withRestartPolicy("Never").addNewContainer().withName("main").withImage("busybox").withCommand("sh", "-c", "echo one; echo two")
        .endContainer().endSpec().build()).create();
    var pod = client.pods().inNamespace(namespace).withName("talker");
    pod.waitUntilCondition(found -> "Succeeded".equals(found.getStatus().getPhase()), 30, TimeUnit.SECONDS);
    assertEquals("one\ntwo\n", pod.getLog());
    assertEquals("two\n", pod.tailingLines(1).getLog());
  }

  @Test
  void theServerTellsWhatItServes() {
    assertEquals("1", client.getKubernetesVersion().getMajor());
    assertTrue(client.hasApiGroup("apps", true));
    assertTrue(client.getApiResources("batch/v1").getResources().stream().anyMatch(found -> found.getName().equals("jobs")));
  }
}
