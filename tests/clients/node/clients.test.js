// What Node programs do with a cluster, with the official client. Each test has a namespace of its own in the cluster of
// KUBECONFIG; test_node.py runs each against a fresh one.
import assert from 'node:assert/strict';
import net from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { after, test } from 'node:test';
import * as k8s from '@kubernetes/client-node';

const config = new k8s.KubeConfig();
config.loadFromFile(process.env.KUBECONFIG);
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);
const objects = k8s.KubernetesObjectApi.makeApiClient(config);

const labels = { suite: 'node' };
const spaces = [];

after(async () => {
  for (const name of spaces) await core.deleteNamespace({ name });
});

async function eventually(what, look) {
  for (const end = Date.now() + 30_000; ;) {
    const found = await look();
    if (found) return found;
    assert.ok(Date.now() < end, `not within 30 s: ${what}`);
    await new Promise((resume) => setTimeout(resume, 20));
  }
}

async function failure(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  assert.fail('it should have failed');
}

async function space() {
  const made = await core.createNamespace({ body: { metadata: { generateName: 'suite-' } } });
  spaces.push(made.metadata.name);
  await eventually('a service account', () =>
    core.readNamespacedServiceAccount({ name: 'default', namespace: made.metadata.name }).catch(() => false));
  return made.metadata.name;
}

const configMap = (name, data = { a: '1' }) => ({ metadata: { name, labels }, data });

const deployment = {
  apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', labels },
  spec: {
    replicas: 0, selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'one' }] } },
  },
};

test('objects are created, read, listed in pages, replaced and deleted', async () => {
  const namespace = await space();
  for (const n of [1, 2, 3]) await core.createNamespacedConfigMap({ namespace, body: configMap(`map-${n}`) });
  const page = await core.listNamespacedConfigMap({ namespace, labelSelector: 'suite=node', limit: 2 });
  assert.deepEqual(page.items.map((item) => item.metadata.name), ['map-1', 'map-2']);
  const rest = await core.listNamespacedConfigMap({ namespace, labelSelector: 'suite=node', limit: 2, _continue: page.metadata._continue });
  assert.deepEqual(rest.items.map((item) => item.metadata.name), ['map-3']);
  const read = await core.readNamespacedConfigMap({ name: 'map-1', namespace });
  assert.ok(read.metadata.creationTimestamp instanceof Date);
  read.data.a = '2';
  const replaced = await core.replaceNamespacedConfigMap({ name: 'map-1', namespace, body: read });
  assert.notEqual(replaced.metadata.resourceVersion, read.metadata.resourceVersion);
  const stale = await failure(core.replaceNamespacedConfigMap({ name: 'map-1', namespace, body: { ...read, data: { a: '3' } } }));
  assert.equal(stale.code, 409);
  assert.equal(JSON.parse(stale.body).reason, 'Conflict');
  assert.equal((await core.deleteNamespacedConfigMap({ name: 'map-1', namespace })).status, 'Success');
  assert.equal((await failure(core.readNamespacedConfigMap({ name: 'map-1', namespace }))).code, 404);
  await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: 'suite=node' });
  assert.equal((await core.listNamespacedConfigMap({ namespace, labelSelector: 'suite=node' })).items.length, 0);
});

test('an invalid pod is refused with its causes', async () => {
  const namespace = await space();
  const body = { metadata: { name: 'Bad' }, spec: { containers: [{ name: 'c', imagePullPolicy: 'Sometimes' }] } };
  const error = await failure(core.createNamespacedPod({ namespace, body }));
  assert.equal(error.code, 422);
  const fields = JSON.parse(error.body).details.causes.map((cause) => cause.field);
  assert.ok(fields.includes('metadata.name') && fields.includes('spec.containers[0].imagePullPolicy'), String(fields));
});

test('patches of every type do what they say', async () => {
  const namespace = await space();
  await apps.createNamespacedDeployment({ namespace, body: deployment });
  const patch = (body, type, more = {}) =>
    apps.patchNamespacedDeployment({ name: 'web', namespace, body, ...more }, k8s.setHeaderOptions('Content-Type', type));
  const json = await patch([{ op: 'add', path: '/metadata/labels/x', value: 'y' }], k8s.PatchStrategy.JsonPatch);
  assert.equal(json.metadata.labels.x, 'y');
  const merge = await patch({ metadata: { labels: { x: null } } }, k8s.PatchStrategy.MergePatch);
  assert.equal(merge.metadata.labels.x, undefined);
  const more = { spec: { template: { spec: { containers: [{ name: 'more', image: 'two' }] } } } };
  const strategic = await patch(more, k8s.PatchStrategy.StrategicMergePatch);
  assert.deepEqual(strategic.spec.template.spec.containers.map((item) => item.name).sort(), ['main', 'more']);
  const mine = { apiVersion: 'apps/v1', kind: 'Deployment', spec: { replicas: 1 } };
  const clash = await failure(patch(mine, k8s.PatchStrategy.ServerSideApply, { fieldManager: 'me' }));
  assert.equal(clash.code, 409);
  assert.equal(JSON.parse(clash.body).details.causes[0].field, '.spec.replicas');
  const applied = await patch(mine, k8s.PatchStrategy.ServerSideApply, { fieldManager: 'me', force: true });
  assert.equal(applied.spec.replicas, 1);
  assert.ok(applied.metadata.managedFields.some((entry) => entry.manager === 'me' && entry.operation === 'Apply'));
});

test('a client without types applies what it reads from YAML', async () => {
  const namespace = await space();
  const manifest = k8s.loadYaml(`
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: ${namespace}, labels: {suite: node}}
spec:
  schedule: "0 3 * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: busybox}]}}}}`);
  await objects.create(manifest);
  const read = await objects.read(manifest);
  assert.equal(read.spec.concurrencyPolicy, 'Allow');
  const change = { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'nightly', namespace }, spec: { suspend: true } };
  const patched = await objects.patch(change, undefined, undefined, 'me', true, k8s.PatchStrategy.ServerSideApply);
  assert.equal(patched.spec.suspend, true);
  const listed = await objects.list('batch/v1', 'CronJob', namespace, undefined, undefined, undefined, undefined, 'suite=node');
  assert.deepEqual(listed.items.map((item) => item.metadata.name), ['nightly']);
  await objects.delete(manifest);
  assert.equal((await failure(objects.read(manifest))).code, 404);
});

test('a watch tells each change in turn', async () => {
  const namespace = await space();
  const { metadata } = await core.listNamespacedConfigMap({ namespace });
  const seen = [];
  let ended;
  const done = new Promise((resolve) => { ended = resolve; });
  const query = { resourceVersion: metadata.resourceVersion, labelSelector: 'suite=node', allowWatchBookmarks: true };
  const request = await new k8s.Watch(config).watch(`/api/v1/namespaces/${namespace}/configmaps`, query,
    (type, object) => seen.push(`${type} ${object.metadata.name} ${object.data?.a}`), ended);
  await core.createNamespacedConfigMap({ namespace, body: configMap('map') });
  await core.replaceNamespacedConfigMap({ name: 'map', namespace, body: configMap('map', { a: '2' }) });
  await core.deleteNamespacedConfigMap({ name: 'map', namespace });
  await eventually('three events', () => seen.length >= 3);
  request.abort();
  await done;
  assert.deepEqual(seen, ['ADDED map 1', 'MODIFIED map 2', 'DELETED map 2']);
});

test('an informer keeps up, also when its watch has ended', async () => {
  const namespace = await space();
  await core.createNamespacedConfigMap({ namespace, body: configMap('old') });
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const list = () => core.listNamespacedConfigMap({ namespace, labelSelector: 'suite=node' });
  const informer = k8s.makeInformer(config, path, list, 'suite=node');
  const heard = [];
  for (const event of ['add', 'update', 'delete']) {
    informer.on(event, (object) => heard.push(`${event} ${object.metadata.name}`));
  }
  await informer.start();
  await eventually('what was there', () => heard.includes('add old'));
  await core.createNamespacedConfigMap({ namespace, body: configMap('new') });
  await core.replaceNamespacedConfigMap({ name: 'new', namespace, body: configMap('new', { a: '2' }) });
  await core.deleteNamespacedConfigMap({ name: 'old', namespace });
  await eventually('every change', () => ['add new', 'update new', 'delete old'].every((line) => heard.includes(line)));
  assert.deepEqual(informer.list(namespace).map((item) => item.metadata.name), ['new']);
  await informer.stop();
  await core.createNamespacedConfigMap({ namespace, body: configMap('late') });
  await informer.start();
  await eventually('what came meanwhile', () => heard.includes('add late'));
  await informer.stop();
});

test('what a pod has written can be read and followed', async (t) => {
  if (process.env.WITHOUT_KUBELETS) return t.skip('it needs nodes with kubelets');
  const namespace = await space();
  const containers = [{ name: 'main', image: 'busybox', command: ['sh', '-c', 'echo one; echo two'] }];
  await core.createNamespacedPod({ namespace, body: { metadata: { name: 'talker' }, spec: { restartPolicy: 'Never', containers } } });
  await eventually('the pod is done', async () =>
    (await core.readNamespacedPod({ name: 'talker', namespace })).status.phase === 'Succeeded');
  assert.equal(await core.readNamespacedPodLog({ name: 'talker', namespace, tailLines: 1 }), 'two\n');
  const stream = new PassThrough();
  let text = '';
  stream.on('data', (chunk) => { text += chunk; });
  const over = new Promise((resolve) => stream.on('end', resolve));
  await new k8s.Log(config).log(namespace, 'talker', 'main', stream, { follow: true });
  await over;
  assert.equal(text, 'one\ntwo\n');
});

test('commands run in a pod and its ports are forwarded', async (t) => {
  if (process.env.WITHOUT_KUBELETS) return t.skip('it needs nodes with kubelets');
  const namespace = await space();
  await core.createNamespacedPod({ namespace, body: { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'busybox' }] } } });
  await eventually('the pod runs', async () =>
    (await core.readNamespacedPod({ name: 'p', namespace })).status.phase === 'Running');
  const run = (command, stdin = null) => new Promise((resolve, reject) => {
    const said = ['', ''];
    const streams = said.map((_, number) => new PassThrough().on('data', (chunk) => { said[number] += chunk; }));
    new k8s.Exec(config).exec(namespace, 'p', 'c', command, ...streams, stdin, false, (status) =>
      setImmediate(() => resolve([...said, status]))).catch(reject);
  });
  const [out, err, status] = await run(['sh', '-c', 'echo out; echo err >&2; exit 3']);
  assert.deepEqual([out, err, status.reason, status.details.causes[0].message], ['out\n', 'err\n', 'NonZeroExitCode', '3']);
  assert.equal((await run(['cat'], Readable.from(['from ', 'stdin'])))[0], 'from stdin');
  const forward = new k8s.PortForward(config);
  const server = net.createServer((socket) => forward.portForward(namespace, 'p', [80], socket, null, socket));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = net.connect(server.address().port, '127.0.0.1', () => client.write('ping'));
  assert.equal(String(await new Promise((resolve) => client.once('data', resolve))), 'ping');
  client.destroy();
  server.close();
});

test('health and versions are told', async () => {
  const version = await config.makeApiClient(k8s.VersionApi).getCode();
  assert.equal(version.major, '1');
  assert.ok(await new k8s.Health(config).readyz({}));
  const groups = await config.makeApiClient(k8s.ApisApi).getAPIVersions();
  assert.ok(groups.groups.some((group) => group.name === 'apps' && group.preferredVersion.version === 'v1'));
});
