package clients

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
)

// Of two candidates one leads, and when it lets go, the other does.
func TestLeaderElection(t *testing.T) {
	client, ns, ctx := connect(t, protobuf), namespace(t), t.Context()
	heard := &history{}
	run := func(name string) context.CancelFunc {
		running, stop := context.WithCancel(ctx)
		elector := must(leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Name: "leader", Namespace: ns}, Client: client.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: name}},
			LeaseDuration: 2 * time.Second, RenewDeadline: time.Second, RetryPeriod: 200 * time.Millisecond, ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { heard.add("%s leads", name) },
				OnStoppedLeading: func() { heard.add("%s stops", name) },
				OnNewLeader:      func(leader string) { heard.add("%s sees %s", name, leader) },
			}}))(t)
		go elector.Run(running)
		return stop
	}
	stopFirst := run("first")
	eventually(t, "the first leads", func() bool { return heard.has("first leads") })
	stopSecond := run("second")
	defer stopSecond()
	eventually(t, "the second follows", func() bool { return heard.has("second sees first") })
	equal(t, "two leaders", heard.has("second leads"), false)
	stopFirst()
	eventually(t, "the second leads", func() bool { return heard.has("first stops") && heard.has("second leads") })
	lease := must(client.CoordinationV1().Leases(ns).Get(ctx, "leader", metav1.GetOptions{}))(t)
	equal(t, "holder", *lease.Spec.HolderIdentity, "second")
	equal(t, "transitions", *lease.Spec.LeaseTransitions > 0, true)
	equal(t, "microseconds", lease.Spec.RenewTime.Nanosecond()%1000, 0)
}

// Events of both groups, counted up when they come again.
func TestEventRecorders(t *testing.T) {
	client, ns, ctx := connect(t, protobuf), namespace(t), t.Context()
	about := must(client.CoreV1().ConfigMaps(ns).Create(ctx, configMap("map"), metav1.CreateOptions{}))(t)
	old := record.NewBroadcaster(record.WithContext(ctx))
	old.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events(ns)})
	defer old.Shutdown()
	recorder := old.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "suite"})
	for range 3 {
		recorder.Eventf(about, corev1.EventTypeNormal, "Seen", "seen %s", about.Name)
	}
	found := func(selector string) []corev1.Event {
		return must(client.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: selector}))(t).Items
	}
	eventually(t, "three in one", func() bool {
		seen := found("involvedObject.name=map,reason=Seen")
		return len(seen) == 1 && seen[0].Count == 3
	})
	fresh := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	ok(t, fresh.StartRecordingToSinkWithContext(ctx))
	defer fresh.Shutdown()
	fresh.NewRecorder(scheme.Scheme, "example.com/suite").Eventf(about, nil, corev1.EventTypeWarning, "Bad", "Look", "bad %d", 7)
	eventually(t, "the new kind of event", func() bool {
		seen := found("reason=Bad")
		return len(seen) == 1 && seen[0].Message == "bad 7" && seen[0].ReportingController == "example.com/suite"
	})
	equal(t, "by type", fmt.Sprint(len(found("type=Warning"))), "1")
}
