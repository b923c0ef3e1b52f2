//! An operator of kube-rs, whose account may do no more than it needs in one namespace.

use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::authentication::v1::TokenRequest;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::config::AuthInfo;
use kube::runtime::controller::{Action, Controller};
use kube::runtime::finalizer::{self, Event, finalizer};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::watcher;
use kube::{Client, Config, CustomResource, CustomResourceExt, KubeSchema, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

const FINALIZER: &str = "rust.example.com/farewell";
const GROUP: &str = "rust.example.com";

#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "rust.example.com", version = "v1", kind = "Site", namespaced, status = "SiteStatus")]
#[x_kube(validation = Rule::new("self.replicas <= 5").message("at most five"))]
struct SiteSpec {
    #[schemars(length(min = 1))]
    text: String,
    #[serde(default = "two")]
    #[schemars(range(min = 0))]
    replicas: i32,
}

fn two() -> i32 {
    2
}

#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
struct SiteStatus {
    observed_generation: i64,
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    conditions: Vec<Condition>,
}

fn publisher() -> PatchParams {
    PatchParams::apply("publisher").force()
}

/// Applies the ConfigMap with a site's text, and says in the status what is published.
async fn publish(client: &Client, site: &Site) -> Result<Action, kube::Error> {
    let (name, ns) = (site.name_any(), site.namespace().unwrap_or_default());
    let page = ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.clone()),
            owner_references: Some(site.controller_owner_ref(&()).into_iter().collect()),
            ..ObjectMeta::default()
        },
        data: Some([("text".into(), site.spec.text.clone()), ("replicas".into(), site.spec.replicas.to_string())].into()),
        ..ConfigMap::default()
    };
    Api::<ConfigMap>::namespaced(client.clone(), &ns).patch(&name, &publisher(), &Patch::Apply(page)).await?;
    let published = Condition {
        type_: "Published".into(),
        status: "True".into(),
        reason: "Written".into(),
        message: site.spec.text.clone(),
        last_transition_time: Time(Timestamp::UNIX_EPOCH),
        observed_generation: site.metadata.generation,
    };
    let status = SiteStatus { observed_generation: site.metadata.generation.unwrap_or_default(), conditions: vec![published] };
    let applied = json!({"apiVersion": Site::api_version(&()), "kind": Site::kind(&()), "status": status});
    Api::<Site>::namespaced(client.clone(), &ns).patch_status(&name, &publisher(), &Patch::Apply(applied)).await?;
    Ok(Action::await_change())
}

/// Leaves a ConfigMap behind.
async fn clean_up(client: &Client, site: &Site) -> Result<Action, kube::Error> {
    let farewell = named::<ConfigMap>(&format!("farewell-{}", site.name_any()));
    let maps = Api::<ConfigMap>::namespaced(client.clone(), &site.namespace().unwrap_or_default());
    maps.patch(&farewell.name_any(), &publisher(), &Patch::Apply(&farewell)).await?;
    Ok(Action::await_change())
}

async fn reconcile(site: Arc<Site>, client: Arc<Client>) -> Result<Action, finalizer::Error<kube::Error>> {
    let sites = Api::<Site>::namespaced(Client::clone(&client), &site.namespace().unwrap_or_default());
    finalizer(&sites, FINALIZER, site, |event| async {
        match event {
            Event::Apply(site) => publish(&client, &site).await,
            Event::Cleanup(site) => clean_up(&client, &site).await,
        }
    })
    .await
}

fn named<K: Resource<DynamicType = ()> + Default>(name: &str) -> K {
    let mut made = K::default();
    made.meta_mut().name = Some(name.into());
    made
}

/// Waits for what another program does.
async fn eventually<F: Future<Output = bool>>(what: &str, look: impl Fn() -> F) {
    let waited = tokio::time::timeout(Duration::from_secs(30), async {
        while !look().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    waited.await.unwrap_or_else(|_| panic!("not within 30 s: {what}"));
}

async fn create<K>(api: &Api<K>, object: serde_json::Value) -> K
where
    K: Clone + DeserializeOwned + Serialize + Debug,
{
    let typed = serde_json::from_value(object).unwrap();
    api.create(&PostParams::default(), &typed).await.unwrap()
}

/// A client that acts as a service account with the rights of a publisher.
async fn limited(admin: &Client, ns: &str) -> Client {
    let accounts = Api::<ServiceAccount>::namespaced(admin.clone(), ns);
    create(&accounts, json!({"metadata": {"name": "publisher"}})).await;
    create(&Api::<Role>::namespaced(admin.clone(), ns), json!({"metadata": {"name": "publisher"}, "rules": [
        {"apiGroups": [GROUP], "resources": ["sites", "sites/status", "sites/finalizers"], "verbs": ["get", "list", "watch", "patch"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch", "create", "patch"]}]})).await;
    create(
        &Api::<RoleBinding>::namespaced(admin.clone(), ns),
        json!({"metadata": {"name": "publisher"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "publisher"},
        "subjects": [{"kind": "ServiceAccount", "name": "publisher", "namespace": ns}]}),
    )
    .await;
    let asked = TokenRequest::default();
    let given: TokenRequest = accounts.create_subresource("token", "publisher", &PostParams::default(), &asked).await.unwrap();
    let mut config = Config::infer().await.unwrap();
    config.auth_info = AuthInfo { token: given.status.unwrap().token.map(Into::into), ..AuthInfo::default() };
    Client::try_from(config).unwrap()
}

async fn refused(sites: &Api<Site>, text: &str, replicas: i32, message: &str) {
    let site = Site::new("a", SiteSpec { text: text.into(), replicas });
    let refusal = sites.create(&PostParams::default(), &site).await.unwrap_err().to_string();
    assert!(refusal.contains(message), "{refusal}");
}

async fn is_published(sites: &Api<Site>, text: &str) -> bool {
    let status = sites.get("a").await.unwrap().status;
    status.is_some_and(|status| status.conditions[0].message == text)
}

/// A custom kind with a default and a rule, a limited account, a finalizer, a status and a child.
#[tokio::test(flavor = "multi_thread")]
async fn an_operator_publishes_and_cleans_up() {
    let admin = Client::try_default().await.unwrap();
    let namespaces = Api::<Namespace>::all(admin.clone());
    let ns = create(&namespaces, json!({"metadata": {"generateName": "suite-"}})).await.name_any();
    let definitions = Api::<CustomResourceDefinition>::all(admin.clone());
    let definition = Site::crd();
    definitions.patch(&definition.name_any(), &publisher(), &Patch::Apply(&definition)).await.unwrap();
    let outcome = tokio::spawn(operate(admin.clone(), ns.clone(), definition.name_any())).await;
    let sites = Api::<Site>::namespaced(admin, &ns);
    for site in sites.list(&ListParams::default()).await.unwrap() {
        let released = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        sites.patch(&site.name_any(), &PatchParams::default(), &released).await.unwrap();
    }
    definitions.delete(&definition.name_any(), &DeleteParams::default()).await.unwrap();
    namespaces.delete(&ns, &DeleteParams::default()).await.unwrap();
    outcome.unwrap();
}

/// Runs the operator in a namespace, and looks at what it does.
async fn operate(admin: Client, ns: String, definition: String) {
    await_condition(Api::all(admin.clone()), &definition, conditions::is_crd_established()).await.unwrap();
    let sites = Api::<Site>::namespaced(admin.clone(), &ns);
    let pages = Api::<ConfigMap>::namespaced(admin.clone(), &ns);
    eventually("sites are served", || async { sites.list(&ListParams::default()).await.is_ok() }).await;
    refused(&sites, "", 1, "spec.text in body should be at least 1 chars long").await;
    refused(&sites, "hello", 6, "spec: Invalid value: at most five").await;

    let client = limited(&admin, &ns).await;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let controller = Controller::new(Api::<Site>::namespaced(client.clone(), &ns), watcher::Config::default())
        .owns(Api::<ConfigMap>::namespaced(client.clone(), &ns), watcher::Config::default().streaming_lists())
        .graceful_shutdown_on(async move { stopped.await.unwrap_or_default() })
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_millis(100)), Arc::new(client))
        .for_each(|done| async move { println!("{done:?}") });
    let running = tokio::spawn(controller);

    let untyped = Api::<DynamicObject>::namespaced_with(admin, &ns, &ApiResource::erase::<Site>(&()));
    let object = json!({"apiVersion": Site::api_version(&()), "kind": Site::kind(&()), "metadata": {"name": "a"}, "spec": {"text": "hello"}});
    assert_eq!(create(&untyped, object).await.data["spec"]["replicas"], 2);
    publishes_and_cleans_up(&sites, &pages).await;
    stop.send(()).unwrap();
    running.await.unwrap();
}

async fn publishes_and_cleans_up(sites: &Api<Site>, pages: &Api<ConfigMap>) {
    eventually("it is published", || is_published(sites, "hello")).await;
    let (page, found) = (pages.get("a").await.unwrap(), sites.get("a").await.unwrap());
    assert_eq!(found.finalizers(), [FINALIZER]);
    assert_eq!(page.data, Some([("replicas".into(), "2".into()), ("text".into(), "hello".into())].into()));
    assert_eq!(page.owner_references(), [found.controller_owner_ref(&()).unwrap()]);

    let options = PatchParams::default();
    sites.patch("a", &options, &Patch::Merge(json!({"spec": {"text": "welcome"}}))).await.unwrap();
    eventually("the new text", || is_published(sites, "welcome")).await;
    assert_eq!(sites.get("a").await.unwrap().status.unwrap().observed_generation, 2);
    // What its status made the controller do may mend the first of them: the others only the watch of its children can.
    for what in ["the page is mended", "it is mended again", "it is mended a third time"] {
        pages.patch("a", &options, &Patch::Merge(json!({"data": {"text": "vandalism"}}))).await.unwrap();
        eventually(what, || async { pages.get("a").await.unwrap().data.unwrap()["text"] == "welcome" }).await;
    }

    sites.delete("a", &DeleteParams::default()).await.unwrap();
    eventually("it is gone", || async { sites.get_opt("a").await.unwrap().is_none() }).await;
    assert!(pages.get_opt("farewell-a").await.unwrap().is_some());
    eventually("its page is gone", || async { pages.get_opt("a").await.unwrap().is_none() }).await;
}
