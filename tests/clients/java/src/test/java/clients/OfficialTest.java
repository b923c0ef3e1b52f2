package clients;

import static clients.Eventually.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.reflect.TypeToken;
import io.kubernetes.client.PodLogs;
import io.kubernetes.client.custom.IntOrString;
import io.kubernetes.client.custom.Quantity;
import io.kubernetes.client.custom.V1Patch;
import io.kubernetes.client.informer.ResourceEventHandler;
import io.kubernetes.client.informer.SharedInformerFactory;
import io.kubernetes.client.informer.cache.Lister;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.ApiException;
import io.kubernetes.client.openapi.apis.AppsV1Api;
import io.kubernetes.client.openapi.apis.CoordinationV1Api;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import io.kubernetes.client.openapi.apis.VersionApi;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1ConfigMapList;
import io.kubernetes.client.openapi.models.V1Container;
import io.kubernetes.client.openapi.models.V1ContainerPort;
import io.kubernetes.client.openapi.models.V1Deployment;
import io.kubernetes.client.openapi.models.V1DeploymentSpec;
import io.kubernetes.client.openapi.models.V1LabelSelector;
import io.kubernetes.client.openapi.models.V1Lease;
import io.kubernetes.client.openapi.models.V1LeaseSpec;
import io.kubernetes.client.openapi.models.V1Namespace;
import io.kubernetes.client.openapi.models.V1ObjectMeta;
import io.kubernetes.client.openapi.models.V1Pod;
import io.kubernetes.client.openapi.models.V1PodSpec;
import io.kubernetes.client.openapi.models.V1PodTemplateSpec;
import io.kubernetes.client.openapi.models.V1ResourceRequirements;
import io.kubernetes.client.openapi.models.V1Service;
import io.kubernetes.client.openapi.models.V1ServicePort;
import io.kubernetes.client.openapi.models.V1ServiceSpec;
import io.kubernetes.client.util.ClientBuilder;
import io.kubernetes.client.util.KubeConfig;
import io.kubernetes.client.util.PatchUtils;
import io.kubernetes.client.util.Watch;
import io.kubernetes.client.util.generic.GenericKubernetesApi;
import io.kubernetes.client.util.generic.dynamic.DynamicKubernetesApi;
import io.kubernetes.client.util.generic.dynamic.DynamicKubernetesObject;
import io.kubernetes.client.util.generic.options.ListOptions;
import java.io.FileReader;
import java.nio.charset.StandardCharsets;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What programs do with the official client, each in a namespace of its own. */
class OfficialTest {
  private static final Map<String, String> LABELS = Map.of("suite", "java");

  private ApiClient api;
  private CoreV1Api core;
  private String namespace;

  @BeforeEach
  void connect() throws Exception {
    try (var reader = new FileReader(System.getenv("KUBECONFIG"))) {
      api = ClientBuilder.kubeconfig(KubeConfig.loadKubeConfig(reader)).build();
    }
    api.setReadTimeout(0); // for watches
    core = new CoreV1Api(api);
    namespace = core.createNamespace(new V1Namespace().metadata(new V1ObjectMeta().generateName("suite-"))).execute()
        .getMetadata().getName();
    eventually("a service account", () -> {
      try {
        return core.readNamespacedServiceAccount("default", namespace).execute() != null;
      } catch (ApiException missing) {
        return false;
      }
    });
  }

  @AfterEach
  void leave() throws Exception {
    core.deleteNamespace(namespace).execute();
  }

  private V1ConfigMap map(String name, String value) {
    return new V1ConfigMap().metadata(new V1ObjectMeta().name(name).namespace(namespace).labels(LABELS)).data(Map.of("a", value));
  }

  @Test
  void objectsAreCreatedReadListedReplacedAndDeleted() throws Exception {
    for (int number = 1; number <= 3; number++) {
      core.createNamespacedConfigMap(namespace, map("map-" + number, "1")).execute();
    }
    var page = core.listNamespacedConfigMap(namespace).labelSelector("suite=java").limit(2).execute();
    assertEquals(2, page.getItems().size());
    var rest = core.listNamespacedConfigMap(namespace).labelSelector("suite=java").limit(2)
        ._continue(page.getMetadata().getContinue()).execute();
    assertEquals("map-3", rest.getItems().get(0).getMetadata().getName());
    var read = core.readNamespacedConfigMap("map-1", namespace).execute();
    read.setData(Map.of("a", "2"));
    var replaced = core.replaceNamespacedConfigMap("map-1", namespace, read).execute();
    assertNotEquals(read.getMetadata().getResourceVersion(), replaced.getMetadata().getResourceVersion());
    read.setData(Map.of("a", "3"));
    var stale = assertThrows(ApiException.class, () -> core.replaceNamespacedConfigMap("map-1", namespace, read).execute());
    assertEquals(409, stale.getCode());
    assertEquals("Success", core.deleteNamespacedConfigMap("map-1", namespace).execute().getStatus());
    assertEquals(404, assertThrows(ApiException.class,
        () -> core.readNamespacedConfigMap("map-1", namespace).execute()).getCode());
    core.deleteCollectionNamespacedConfigMap(namespace).labelSelector("suite=java").execute();
    assertEquals(0, core.listNamespacedConfigMap(namespace).labelSelector("suite=java").execute().getItems().size());
  }

  @Test
  void typesOfTheirOwnSurvive() throws Exception {
    var container = new V1Container().name("main").image("busybox")
        .resources(new V1ResourceRequirements().putRequestsItem("cpu", Quantity.fromString("1500m")))
        .addPortsItem(new V1ContainerPort().name("http").containerPort(8080));
    var pod = core.createNamespacedPod(namespace, new V1Pod().metadata(new V1ObjectMeta().name("pod"))
        .spec(new V1PodSpec().overhead(null).addContainersItem(container))).execute();
    assertEquals("1500m", pod.getSpec().getContainers().get(0).getResources().getRequests().get("cpu").toSuffixedString());
    var service = core.createNamespacedService(namespace, new V1Service().metadata(new V1ObjectMeta().name("service"))
        .spec(new V1ServiceSpec().addPortsItem(new V1ServicePort().port(80).targetPort(new IntOrString("http"))))).execute();
    assertEquals("http", service.getSpec().getPorts().get(0).getTargetPort().getStrValue());
    var moment = OffsetDateTime.of(2026, 1, 2, 3, 4, 5, 678_901_000, ZoneOffset.UTC);
    var lease = new CoordinationV1Api(api).createNamespacedLease(namespace, new V1Lease().metadata(new V1ObjectMeta().name("lease"))
        .spec(new V1LeaseSpec().holderIdentity("me").leaseDurationSeconds(15).renewTime(moment))).execute();
    assertEquals(moment, lease.getSpec().getRenewTime());
    assertTrue(lease.getMetadata().getCreationTimestamp().getYear() > 2000);
  }

  private V1Deployment deployment() {
    var labels = Map.of("app", "web");
    return new V1Deployment().metadata(new V1ObjectMeta().name("web").labels(LABELS)).spec(new V1DeploymentSpec().replicas(0)
        .selector(new V1LabelSelector().matchLabels(labels)).template(new V1PodTemplateSpec()
            .metadata(new V1ObjectMeta().labels(labels))
            .spec(new V1PodSpec().addContainersItem(new V1Container().name("main").image("one")))));
  }

  private V1Deployment patch(String format, String text, String manager, Boolean force) throws ApiException {
    var apps = new AppsV1Api(api);
    return PatchUtils.patch(V1Deployment.class,
        () -> apps.patchNamespacedDeployment("web", namespace, new V1Patch(text)).fieldManager(manager).force(force).buildCall(null),
        format, api);
  }

  @Test
  void aPodWithAnOverheadOfNothingIsRefused() throws Exception {
    var pod = new V1Pod().metadata(new V1ObjectMeta().name("pod"))
        .spec(new V1PodSpec().addContainersItem(new V1Container().name("main").image("busybox"))); // overhead is {} by default
    var refused = assertThrows(ApiException.class, () -> core.createNamespacedPod(namespace, pod).execute());
    assertEquals(403, refused.getCode());
  }

  @Test
  void patchesOfEveryTypeDoWhatTheySay() throws Exception {
    new AppsV1Api(api).createNamespacedDeployment(namespace, deployment()).execute();
    var json = patch(V1Patch.PATCH_FORMAT_JSON_PATCH, "[{\"op\":\"add\",\"path\":\"/metadata/labels/x\",\"value\":\"y\"}]", null, null);
    assertEquals("y", json.getMetadata().getLabels().get("x"));
    var merge = patch(V1Patch.PATCH_FORMAT_JSON_MERGE_PATCH, "{\"metadata\":{\"labels\":{\"x\":null}}}", null, null);
    assertNull(merge.getMetadata().getLabels().get("x"));
    var strategic = patch(V1Patch.PATCH_FORMAT_STRATEGIC_MERGE_PATCH,
        "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"more\",\"image\":\"two\"}]}}}}", null, null);
    assertEquals(2, strategic.getSpec().getTemplate().getSpec().getContainers().size());
    var mine = "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"spec\":{\"replicas\":1}}";
    var clash = assertThrows(ApiException.class, () -> patch(V1Patch.PATCH_FORMAT_APPLY_YAML, mine, "me", null));
    assertEquals(409, clash.getCode());
    assertTrue(clash.getResponseBody().contains("FieldManagerConflict"), clash.getResponseBody());
    var applied = patch(V1Patch.PATCH_FORMAT_APPLY_YAML, mine, "me", true);
    assertEquals(1, applied.getSpec().getReplicas());
    // this client drops managed fields from its models
    var raw = new DynamicKubernetesApi("apps", "v1", "deployments", api).get(namespace, "web").getObject().getRaw();
    assertEquals("me", raw.getAsJsonObject("metadata").getAsJsonArray("managedFields").get(0).getAsJsonObject().get("manager").getAsString());
  }

  @Test
  void aWatchTellsEachChangeInTurn() throws Exception {
    var since = core.listNamespacedConfigMap(namespace).execute().getMetadata().getResourceVersion();
    core.createNamespacedConfigMap(namespace, map("map", "1")).execute();
    core.replaceNamespacedConfigMap("map", namespace, map("map", "2")).execute();
    core.deleteNamespacedConfigMap("map", namespace).execute();
    List<String> seen = new ArrayList<>();
    var call = core.listNamespacedConfigMap(namespace).labelSelector("suite=java").resourceVersion(since).watch(true)
        .allowWatchBookmarks(true).timeoutSeconds(20).buildCall(null);
    try (Watch<V1ConfigMap> watch = Watch.createWatch(api, call, new TypeToken<Watch.Response<V1ConfigMap>>() {}.getType())) {
      for (var event : watch) {
        seen.add(event.type + " " + event.object.getData().get("a"));
        if (event.type.equals("DELETED")) {
          break;
        }
      }
    }
    assertEquals(List.of("ADDED 1", "MODIFIED 2", "DELETED 2"), seen);
  }

  @Test
  void aSharedInformerKeepsUp() throws Exception {
    core.createNamespacedConfigMap(namespace, map("old", "1")).execute();
    var generic = new GenericKubernetesApi<>(V1ConfigMap.class, V1ConfigMapList.class, "", "v1", "configmaps", api);
    var factory = new SharedInformerFactory(api);
    var informer = factory.sharedIndexInformerFor(generic, V1ConfigMap.class, 0, namespace);
    var heard = new ConcurrentLinkedQueue<String>();
    informer.addEventHandler(new ResourceEventHandler<>() {
      @Override
      public void onAdd(V1ConfigMap object) {
        heard.add("add " + object.getMetadata().getName());
      }

      @Override
      public void onUpdate(V1ConfigMap old, V1ConfigMap object) {
        heard.add("update " + old.getData().get("a") + " to " + object.getData().get("a"));
      }

      @Override
      public void onDelete(V1ConfigMap object, boolean unknown) {
        heard.add("delete " + object.getMetadata().getName());
      }
    });
    factory.startAllRegisteredInformers();
    try {
      eventually("what was there", () -> informer.hasSynced() && heard.contains("add old"));
      core.createNamespacedConfigMap(namespace, map("new", "1")).execute();
      core.replaceNamespacedConfigMap("new", namespace, map("new", "2")).execute();
      core.deleteNamespacedConfigMap("old", namespace).execute();
      eventually("every change", () -> heard.containsAll(List.of("add new", "update 1 to 2", "delete old")));
      assertEquals("2", new Lister<>(informer.getIndexer(), namespace).get("new").getData().get("a"));
    } finally {
      factory.stopAllRegisteredInformers(true);
    }
  }

  @Test
  void objectsWithoutTypesLiveToo() throws Exception {
    var maps = new DynamicKubernetesApi("", "v1", "configmaps", api);
    var made = new DynamicKubernetesObject();
    made.setApiVersion("v1");
    made.setKind("ConfigMap");
    made.setMetadata(map("map", "1").getMetadata());
    assertTrue(maps.create(made).isSuccess());
    var patched = maps.patch(namespace, "map", V1Patch.PATCH_FORMAT_JSON_MERGE_PATCH, new V1Patch("{\"data\":{\"a\":\"9\"}}"));
    assertEquals("9", patched.getObject().getRaw().getAsJsonObject("data").get("a").getAsString());
    var options = new ListOptions();
    options.setLabelSelector("suite=java");
    assertEquals(1, maps.list(namespace, options).getObject().getItems().size());
    assertTrue(maps.delete(namespace, "map").isSuccess());
    assertEquals(404, maps.get(namespace, "map").getHttpStatusCode());
  }

  @Test
  void whatAPodHasWrittenCanBeRead() throws Exception {
    assumeTrue(System.getenv("WITHOUT_KUBELETS") == null, "it needs nodes with kubelets");
    var container = new V1Container().name("main").image("busybox").command(List.of("sh", "-c", "echo one; echo two"));
    core.createNamespacedPod(namespace, new V1Pod().metadata(new V1ObjectMeta().name("talker"))
        .spec(new V1PodSpec().overhead(null).restartPolicy("Never").addContainersItem(container))).execute();
    eventually("the pod is done",
        () -> "Succeeded".equals(core.readNamespacedPod("talker", namespace).execute().getStatus().getPhase()));
    assertEquals("two\n", core.readNamespacedPodLog("talker", namespace).tailLines(1).execute());
    try (var stream = new PodLogs(api).streamNamespacedPodLog(namespace, "talker", "main")) {
      assertEquals("one\ntwo\n", new String(stream.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  @Test
  void theServerTellsItsVersion() throws Exception {
    assertEquals("1", new VersionApi(api).getCode().execute().getMajor());
  }
}
