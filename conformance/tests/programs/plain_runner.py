#!/usr/bin/env python3
"""A runner in plain Python: one ACP agent in one terminal pane, under the OpenRig runner contract.

Written from the contract's text alone and on the standard library alone (Python 3.11 or newer), so that the kit is
tried on a runner that shares no code and no habits with it. Where the contract leaves a choice, this runner takes
the less usual side. `--fault NAME` breaks one behaviour on purpose; `--list-faults` says which there are.
"""
import sys

sys.dont_write_bytecode = True  # a test's run must leave nothing in the source tree

import argparse  # noqa: E402
import asyncio  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import shlex  # noqa: E402

from plain import faults  # noqa: E402
from plain.seat import Seat  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description="Runs one ACP agent in this terminal, as a seat of OpenRig.")
    parser.add_argument("--agent", default="dsh acp", help="the agent's command line (default: %(default)s)")
    parser.add_argument("--fault", default="", metavar="NAME", help="break one behaviour on purpose")
    parser.add_argument("--list-faults", action="store_true", help="print the faults as JSON and end")
    options = parser.parse_args()
    if options.list_faults:
        print(json.dumps(faults.listing(), indent=1))
        return
    if options.fault and options.fault not in [fault["name"] for fault in faults.listing()]:
        parser.error(f"there is no fault {options.fault!r}; --list-faults names them all")
    command = shlex.split(options.agent)
    if not command:
        parser.error("--agent names no program")
    faults.choose(options.fault)
    loop = asyncio.new_event_loop()
    code = loop.run_until_complete(Seat(loop, command).run())
    os._exit(code)  # the thread that reads the terminal, or a name look-up that hangs, must not hold up the end


if __name__ == "__main__":
    main()
