"""Prints what python-pcapng reads from a file, as JSON."""

import json
import sys

from pcapng import FileScanner
from pcapng.blocks import EnhancedPacket, InterfaceDescription, SectionHeader

WAYS = {"NA": 0, "inbound": 1, "outbound": 2}

read = {"section": {}, "interfaces": [], "packets": []}
with open(sys.argv[1], "rb") as file:
    for block in FileScanner(file):
        if isinstance(block, SectionHeader):
            read["section"] = {
                "comment": block.options.get("opt_comment"),
                "program": block.options.get("shb_userappl"),
                "system": block.options.get("shb_os"),
            }
        elif isinstance(block, InterfaceDescription):
            read["interfaces"].append({
                "name": block.options.get("if_name"),
                "description": block.options.get("if_description", ""),
                "link": block.link_type,
                "resolution": block.timestamp_resolution,
            })
        elif isinstance(block, EnhancedPacket):
            read["packets"].append({
                "interface": block.interface_id,
                "unix_ns": (block.timestamp_high << 32) + block.timestamp_low,
                "data": block.packet_data.hex(),
                "original": block.packet_len,
                "comment": block.options.get("opt_comment"),
                "direction": WAYS[block.options["epb_flags"].inout],
            })
        else:
            raise SystemExit(f"a block of another kind: {block}")
print(json.dumps(read))
