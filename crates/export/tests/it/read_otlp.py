"""Prints what the messages of OpenTelemetry read from a file of profiles, as JSON."""

import json
import sys

from opentelemetry.proto.collector.profiles.v1development.profiles_service_pb2 import (
    ExportProfilesServiceRequest,
)
from opentelemetry.proto.profiles.v1development.profiles_pb2 import ProfilesData

with open(sys.argv[1], "rb") as file:
    content = file.read()
data = ProfilesData.FromString(content)
request = ExportProfilesServiceRequest.FromString(content)
tables = data.dictionary
texts = tables.string_table


def unknown(message):
    """Whether a message, or one inside it, has fields that its definition does not have."""
    if message.ByteSize() != len(message.SerializeToString()):
        return True
    clean = type(message)()
    clean.CopyFrom(message)
    clean.DiscardUnknownFields()
    return clean.SerializeToString() != message.SerializeToString()


def value(any_value):
    return getattr(any_value, any_value.WhichOneof("value"))


def name(location):
    found = tables.location_table[location]
    line = found.lines[0]
    mapping = tables.mapping_table[found.mapping_index]
    function = tables.function_table[line.function_index]
    return [texts[function.name_strindex], texts[mapping.filename_strindex]]


def sample(one):
    stack = tables.stack_table[one.stack_index]
    attributes = [tables.attribute_table[number] for number in one.attribute_indices]
    return {
        "stack": [name(location) for location in reversed(stack.location_indices)],
        "values": list(one.values),
        "attributes": {texts[one.key_strindex]: value(one.value) for one in attributes},
    }


(resource,) = data.resource_profiles
(scope,) = resource.scope_profiles
(profile,) = scope.profiles
first = [
    tables.mapping_table[0],
    tables.location_table[0],
    tables.function_table[0],
    tables.link_table[0],
    tables.attribute_table[0],
    tables.stack_table[0],
]
print(json.dumps({
    "type": texts[profile.sample_type.type_strindex] + "/" + texts[profile.sample_type.unit_strindex],
    "time_ns": profile.time_unix_nano,
    "duration_ns": profile.duration_nano,
    "scope": scope.scope.name,
    "resource": {one.key: value(one.value) for one in resource.resource.attributes},
    "samples": [sample(one) for one in profile.samples],
    "firsts_are_empty": texts[0] == "" and all(one == type(one)() for one in first),
    "has_unknown_fields": unknown(data),
    "is_a_request": request.dictionary == tables,
}))
