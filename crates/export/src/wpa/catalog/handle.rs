//! Handles: of kernel objects, and of GDI and USER.

use super::{Graph, Kind, Time, col, join, named, process, process_name};
use crate::wpa::format::Unit;

/// A row for each handle.
pub(super) static HANDLES: Graph = Graph {
    name: "Handles",
    guid: Some("7b47975b-040d-4901-9a3f-e410228e30df"),
    element: None,
    table: "handle",
    rows: None,
    only: None,
    joins: &[
        join(
            "owner",
            "LEFT JOIN process owner ON owner.process_key = r.process_key",
        ),
        join(
            "creator",
            "LEFT JOIN process creator ON creator.process_key = r.open_process_key",
        ),
        join("o", "LEFT JOIN object o ON o.object_id = r.object_id"),
    ],
    // A handle that was open before the trace has no time of opening, and one that stays open none
    // of closing.
    time: Time::Span("coalesce(r.open_ns, 0)", "coalesce(r.close_ns, $to)"),
    columns: &[
        col(
            "Creating Process Name",
            "a6df4644-c240-46a3-be94-3a6ee20f014d",
            process_name!("creator"),
            Kind::Text,
        ),
        col(
            "Creating Process",
            "d87ad21b-694e-4695-ad72-06419899de8d",
            process!("creator"),
            Kind::Process(process_name!("creator")),
        ),
        col(
            "Owning Process Name",
            "413c831c-60bb-4f85-84f7-331b2d4cd5dd",
            process_name!("owner"),
            Kind::Text,
        ),
        col(
            "Owning Process",
            "21170045-d387-4203-afcf-687a3376d1e6",
            process!("owner"),
            Kind::Process(process_name!("owner")),
        ),
        col(
            "Lifetime",
            "650bd3c8-5ac9-47cf-bd80-1f6b3b23667f",
            "CASE WHEN r.open_ns IS NULL AND r.close_ns IS NULL THEN 'Permanent' WHEN r.open_ns IS NULL THEN 'Ended in trace' WHEN r.close_ns IS NULL THEN 'Started in trace' ELSE 'Transient' END",
            Kind::Text,
        ),
        col(
            "Create Stack",
            "bd18fc7d-8d6f-4e6c-9571-4f563e53010a",
            "r.open_stack_id",
            Kind::Stack,
        ),
        col(
            "Handle Type",
            "a325601f-9e7e-4bfc-aeb8-fc93e3f8a431",
            "coalesce(o.type_name, 'Unknown')",
            Kind::Text,
        ),
        col(
            "Object Name",
            "0fadff09-6733-477c-b84e-78d4c591f38a",
            "coalesce(o.name, '')",
            Kind::Text,
        ),
        col(
            "Count",
            "51f12d50-e733-4210-8b26-20bddd55c2e1",
            "1",
            Kind::Number,
        ),
        col(
            "Create Time",
            "575d5e07-07a3-48c3-9449-fdf602ae4760",
            "r.open_ns",
            Kind::Moment,
        ),
        col(
            "Close Time",
            "37f52b05-ffc2-4a2e-8082-09c618e785d2",
            "r.close_ns",
            Kind::Moment,
        ),
        named("Close Stack", "r.close_stack_id", Kind::Stack),
        named("Handle", "r.handle", Kind::Hex),
    ],
    unfilled: &[],
};

/// A row for each object of GDI or USER.
pub(super) static GDI_USER: Graph = Graph {
    name: "GDI/User Handles",
    guid: Some("11235813-2134-5589-1442-333776109871"),
    element: None,
    table: "gdi_user_object",
    rows: None,
    only: None,
    joins: &[
        join(
            "owner",
            "LEFT JOIN process owner ON owner.process_key = r.process_key",
        ),
        join(
            "creator",
            "LEFT JOIN process creator ON creator.process_key = r.create_process_key",
        ),
        join(
            "deleter",
            "LEFT JOIN process deleter ON deleter.process_key = r.destroy_process_key",
        ),
        join(
            "ct",
            "LEFT JOIN thread ct ON ct.thread_key = r.create_thread_key",
        ),
        join(
            "dt",
            "LEFT JOIN thread dt ON dt.thread_key = r.destroy_thread_key",
        ),
    ],
    time: Time::Span("coalesce(r.create_ns, 0)", "coalesce(r.destroy_ns, $to)"),
    columns: &[
        col(
            "Owning Process Name",
            "70aab6a1-e358-47cf-bec7-99a788f52a1f",
            process_name!("owner"),
            Kind::Text,
        ),
        col(
            "Owning Process",
            "e46131a5-9724-41b4-9060-cc2ecba243bc",
            process!("owner"),
            Kind::Process(process_name!("owner")),
        ),
        col(
            "Creating Process Name",
            "f65631c7-1421-438b-b960-ad1288fd4cc7",
            process_name!("creator"),
            Kind::Text,
        ),
        col(
            "Creating Process",
            "09f1a640-a2b5-4b7c-8dd5-ba2d4fd2414e",
            process!("creator"),
            Kind::Process(process_name!("creator")),
        ),
        col(
            "Deleting Process Name",
            "c29fc48e-62e6-4a5a-ad73-929ff5dab150",
            process_name!("deleter"),
            Kind::Text,
        ),
        col(
            "Deleting Process",
            "be547c27-8c71-47b8-aff6-db0c0d7fd481",
            process!("deleter"),
            Kind::Process(process_name!("deleter")),
        ),
        col(
            "Lifetime",
            "ec273fd6-002e-4632-a7a5-a532ae23e788",
            "CASE WHEN r.create_ns IS NULL AND r.destroy_ns IS NULL THEN 'Permanent' WHEN r.create_ns IS NULL THEN 'Ended in trace' WHEN r.destroy_ns IS NULL THEN 'Started in trace' ELSE 'Transient' END",
            Kind::Text,
        ),
        col(
            "Create Stack",
            "8602923b-5019-4787-8d77-f7c9d37ff219",
            "r.create_stack_id",
            Kind::Stack,
        ),
        col(
            "Delete Stack",
            "41ff9cec-fd82-4520-abdd-e35a6706e4c3",
            "r.destroy_stack_id",
            Kind::Stack,
        ),
        col(
            "Handle Class",
            "188f571f-028d-4cf5-bdcb-5e48ec2bac94",
            "CASE r.class WHEN 'gdi' THEN 'GDI' ELSE 'User' END",
            Kind::Text,
        ),
        col(
            "Handle Type",
            "4c5555d7-444e-4b1b-9936-908ac65f1daa",
            "coalesce(r.type_name, CAST(r.type_id AS VARCHAR))",
            Kind::Text,
        ),
        col(
            "Count",
            "d1689ba9-2624-4564-b15e-36c3efb78634",
            "1",
            Kind::Number,
        ),
        col(
            "Creating Thread ID",
            "2ac390e5-20d2-4774-b328-a52f4822aa29",
            "ct.tid",
            Kind::Number,
        ),
        col(
            "Deleting Thread ID",
            "b480f9a9-94a1-439b-85c3-ed320112d3ea",
            "dt.tid",
            Kind::Number,
        ),
        col(
            "Duration",
            "73924bb3-445f-46a6-9dfd-a22f6b982d2f",
            "r.lifetime_ns",
            Kind::Duration(Unit::Seconds),
        ),
        col(
            "Handle",
            "36add805-4e6d-4430-b49a-937528932d73",
            "r.handle",
            Kind::Hex,
        ),
        col(
            "Create Time",
            "195886a6-03a4-47ed-a731-56f9c17816f4",
            "r.create_ns",
            Kind::Moment,
        ),
        col(
            "Delete Time",
            "6c4aed2c-cbe2-4546-9ac5-137df6733a2e",
            "r.destroy_ns",
            Kind::Moment,
        ),
        col(
            "Thread Name",
            "cb796d44-2927-5ac1-d231-4b71904c18f5",
            "ct.name",
            Kind::Text,
        ),
    ],
    unfilled: &[],
};
