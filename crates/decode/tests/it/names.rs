//! Built-in names compared with the sample traces, if they are available.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::ControlFlow;

use etwkit_decode::tables::names;
use etwkit_decode::{Decoder, Plan};
use etwkit_etl::source::ByteSource;
use etwkit_etl::{Identity, Order, RawEvent, Session};

/// Passes on the events of a sample, each with its description.
fn each(name: &str, mut visit: impl FnMut(&RawEvent<'_>, Option<&Plan>, &Decoder)) -> Option<()> {
    let bytes = fs::read(etwkit_testkit::traces()?.join(name)).unwrap();
    let session = Session::open(vec![Box::new(bytes) as Box<dyn ByteSource>]).unwrap();
    let mut decoder = Decoder::new();
    let pass = |visit: &mut dyn FnMut(&RawEvent<'_>)| {
        session
            .for_each(Order::File, |event| {
                visit(event);
                ControlFlow::Continue(())
            })
            .unwrap();
    };
    pass(&mut |event| decoder.observe(event));
    decoder.finish_observing();
    pass(&mut |event| {
        let plan = decoder.plan(event);
        visit(event, plan.as_deref(), &decoder);
    });
    Some(())
}

/// In two traces only the built-in tables name some thousands of events of known providers.
#[test]
fn events_of_known_providers_that_the_trace_does_not_name_have_a_name() {
    for (sample, expected) in [
        (
            "demikernel_PktMon.etl",
            "20 ComponentInfo 44, 30 CompPropUint 111, 40 CompPropGuid 3, 60 CompPropNdisMedium 3, \
             65 CompPropIPv4Address 5, 66 CompPropIPv6Address 5, 70 CompPropBinary 5, \
             75 CompPropEtherType 18, 80 PacketDropCounters 44, 90 PacketFlowCounters 50, \
             100 PktFilterIPv4 1, 160 FramePayload 114",
        ),
        (
            "net.4.5.2.x64.etl",
            "2 GarbageCollectionPrivate/GCSettings 1, 4 GarbageCollectionPrivate/GCPerHeapHistory 264, \
             5 GarbageCollectionPrivate/GCGlobalHeapHistory 264, \
             7 GarbageCollectionPrivate/PrvGCMarkStackRoots 264, \
             8 GarbageCollectionPrivate/PrvGCMarkFinalizeQueueRoots 264, \
             9 GarbageCollectionPrivate/PrvGCMarkHandles 264, \
             10 GarbageCollectionPrivate/PrvGCMarkCards 264, \
             161 Binding/BindingNgenPhaseStart 1, 162 Binding/BindingNgenPhaseEnd 1, \
             165 Binding/LoaderPhaseStart 1, 166 Binding/LoaderPhaseEnd 1, \
             171 Binding/LoaderAssemblyInitPhaseStart 2, 172 Binding/LoaderAssemblyInitPhaseEnd 2, \
             173 Binding/LoaderMappingPhaseStart 4, 174 Binding/LoaderMappingPhaseEnd 4, \
             175 Binding/LoaderDeliverEventsPhaseStart 2, 176 Binding/LoaderDeliverEventsPhaseEnd 2, \
             188 CLRNgenBinder/NgenBind 2, 196 Binding/FusionMessage 20, 65534 ManifestData 4",
        ),
    ] {
        let mut named: BTreeMap<(u16, String), u32> = BTreeMap::new();
        let is_there = each(sample, |event, plan, decoder| {
            let identity = event.identity();
            let Identity::Manifest { provider, id, .. } = identity else {
                return;
            };
            let own = plan.is_some_and(|plan| *plan.schema().name != *format!("EventID({id})"));
            if own || decoder.provider_name(provider).is_none() {
                return;
            }
            let name = names::of_event(identity, plan).unwrap_or("?").to_owned();
            *named.entry((id, name)).or_default() += 1;
        });
        if is_there.is_none() {
            return;
        }
        let list: Vec<String> = named
            .iter()
            .map(|((id, name), count)| format!("{id} {name} {count}"))
            .collect();
        assert_eq!(list.join(", "), expected, "{sample}");
    }
}

/// The names of events in a trace equal the names in the tables if both exist. The exceptions are
/// other editions of a manifest.
#[test]
fn built_in_names_are_those_that_traces_have() {
    let mut compared = BTreeSet::new();
    for sample in [
        "net.4.5.2.x64.etl",
        "dotnetperf_DynamicEvents.etl",
        "demikernel_PktMon.etl",
    ] {
        let is_there = each(sample, |event, plan, decoder| {
            let (Some(plan), Some(built_in)) = (plan, names::of_kind(event.identity())) else {
                return;
            };
            if decoder.own_plan(event).is_none() || plan.schema().name.starts_with("EventID(") {
                return;
            }
            let provider = decoder.provider_name(event.provider()).unwrap_or_default();
            compared.insert(format!("{provider} {built_in}"));
            assert_eq!(&*plan.schema().name, built_in, "{provider} in {sample}");
        });
        if is_there.is_none() {
            return;
        }
    }
    assert_eq!(
        compared.into_iter().collect::<Vec<_>>(),
        [
            "Microsoft-Windows-DNS-Client DnsServerForInterface",
            "Microsoft-Windows-Immersive-Shell ImmersiveShellAppManagerSetActiveProcess/Start",
            "Microsoft-Windows-Immersive-Shell ImmersiveShellAppManagerSetActiveProcess/Stop",
        ]
    );
}
