# Types of the methods that _questions.py makes. python/generate.py writes this file.

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Literal

from ._answer import Answer
from ._run import Progress

Text = str | PathLike[str]
Range = str | int | float | tuple[int | float | None, int | float | None]

class Questions:
    def alpc(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        by: Literal["service", "sender", "receiver"] | None = None,
        receiver: str | int | float | None = None,
        port: str | int | float | None = None,
        wait: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        stack_filter: str | int | float | None = None,
        details: bool | None = None,
        show_stack: bool | None = None,
        sort_by: Literal["wait", "service", "delivery", "count", "time"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Messages of ALPC: who called which service, and how long callers waited

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        by: Group rows by this property
        receiver: Only messages that these processes received: names with or without .exe, or ids
          (*, ?, several with ;, ! excludes)
        port: Only messages at these ports (*, ?, several with ;, ! excludes)
        wait: Only messages whose sender waited this long (us)
        range: Only messages of this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        stack_filter: Only messages whose stack has this frame: module!method, or its method alone
          (*, ?, several with ;, ! excludes)
        details: Single messages
        show_stack: With --details: stacks that sent them
        sort_by: Order; of single messages wait, service, delivery or time
        """

    def boot(
        self,
        *,
        phase: str | int | float | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Phases of a boot, from the kernel to an idle desktop

        phase: Only these phases: kernel, session, logon, desktop (several with ;, ! excludes)
        """

    def cores(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        table: Literal["all", "cores", "states", "processes", "priorities", "methods"] | None = None,
        methods: str | int | float | None = None,
        per_process: bool | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Kinds of cores, their speeds and idle states, and who used them

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        table: Table to show: speeds of cores, their idle states, or the CPU of processes,
          priorities or methods by kind of core. With all, every one but methods
        methods: With --table methods: only these (*, ?, several with ;, ! excludes)
        per_process: Priorities of each process
        """

    def cpu(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        zero_time: str | int | float | None = None,
        zero_process: str | int | float | None = None,
        methods: str | int | float | None = None,
        stack_tags: str | int | float | None = None,
        stack_tag_file: Text | Sequence[Text] | None = None,
        stacks: bool | None = None,
        bottom_up: bool | None = None,
        butterfly: str | int | float | None = None,
        metric: Literal["cpu", "wait", "ready"] | None = None,
        min_percent: float | None = None,
        max_depth: int | None = None,
        top_children: int | None = None,
        over_time: int | bool | None = None,
        by: Literal["process", "method", "module", "thread"] | None = None,
        top_methods: int | None = None,
        skip_methods: int | None = None,
        idle: bool | None = None,
        include_dll: bool | None = None,
        cut_method: str | int | float | None = None,
        sort_by: Literal["default", "cpu", "exclusive", "wait", "ready", "cpu-wait", "cpu-wait-ready", "ready-avg", "switches", "stack-depth", "first", "last", "priority", "start-time"] | None = None,
        cpu: Range | None = None,
        wait: Range | None = None,
        ready: Range | None = None,
        ready_avg: Range | None = None,
        switches: Range | None = None,
        first: Range | None = None,
        last: Range | None = None,
        duration: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        show_total: Literal["none", "total", "process", "method", "file"] | None = None,
        details: bool | None = None,
        normalize: bool | None = None,
        no_frequency: bool | None = None,
        show_core_number: bool | None = None,
        no_core_usage: bool | None = None,
        no_priority: bool | None = None,
        no_ready: bool | None = None,
        first_last: str | int | float | bool | None = None,
        thread_count: bool | None = None,
        show_on_method: bool | None = None,
        show_module: str | int | float | bool | None = None,
        merge: bool | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""CPU, waiting and ready time of processes or methods

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        zero_time: Move times so that this is second 0: marker, first or last (of a method or stack
          tag), process-start or process-end. A filter of marks, methods or command lines follows a
          colon: first:*OnLoad*
        zero_process: Only in these processes
        methods: Show these methods (with --by modules or threads) instead of sums of processes (*,
          ?, several with ;, ! excludes)
        stack_tags: Show these stack tags, paths with \ between; with --methods both; call trees
          have only stacks with them
        stack_tag_file: Also tag stacks by the rules of this file (.stacktags of Windows Performance
          Analyzer); can be repeated
        stacks: Show a call tree of each process, from the outermost frames to their callees
        bottom_up: Show trees from the innermost frames to their callers
        butterfly: Show callers and callees of these methods, with or without module (*, ?, several
          with ;, ! excludes)
        metric: Weight of the trees: sampled CPU, waits or ready times, summed over threads
        min_percent: Fold nodes with a smaller share of their tree, in percent
        max_depth: Fold what is deeper than N levels
        top_children: Fold all but the N heaviest children of a node
        over_time: CPU over time instead of sums: of N equal parts of the trace how busy each was,
          and who had the most
        by: Group rows or trees by this property
        top_methods: Show only the N largest methods (modules, threads, tags) of each process
        skip_methods: Leave the N largest methods of each process out first
        idle: With --methods or --stack-tags: also the idle process, which has the interrupts and
          DPCs of idle processors
        include_dll: Names of methods start with their module: ntdll.dll!NtReadFile
        cut_method: Show only a part of the names of methods: A..B characters A to B, -N the last N
          ones
        sort_by: Order [default: exclusive CPU of methods and modules, CPU of other rows]
        cpu: Only rows with this CPU (unit without one: ms)
        wait: Only rows with this waiting time (ms)
        ready: Only rows with this ready time (ms)
        ready_avg: Only methods with this mean ready time (us)
        switches: Only rows with so many switch-ins
        first: Only rows that are first seen in this part of the trace (s)
        last: Only rows that are last seen in this part of the trace (s)
        duration: Only rows with so much time from first to last (s)
        range: Only this part of the trace (s); intervals are clipped to it
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        show_total: Sums: total, only sums of files; process, of files and processes; method or
          file, also rows; none
        details: Show terminal sessions, threads, switch-ins, mean ready times and their
          percentiles, CPU by kind of core
        normalize: With --details: also CPU by kind of core as it would be at nominal speed
        no_frequency: Leave CPU by kind of core out
        show_core_number: Show which processors a process ran on instead of how many
        no_core_usage: Leave processors out
        no_priority: Leave priorities out
        no_ready: Omit ready times
        first_last: Show when a row is first and last seen, and the time between; =none only the
          time between, =s the first time in that format, =s;utc both
        thread_count: Show the number of threads
        show_on_method: Show the process in the line of each method instead of a heading
        show_module: Show path, version and company of modules; =driver only well-known drivers,
          with their vendors; =TEXT only where one of these matches (*, ?, several with ;, !
          excludes)
        merge: One list over all extracts, which names the trace of each row; of call trees one of
          all processes
        """

    def critical_path(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        thread: int | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        tree: bool | None = None,
        by_process: bool | None = None,
        sums: bool | None = None,
        top: int | None = None,
        show_stack: bool | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Where the time of a process or thread went, with each wait replaced by the work of the thread that ended it

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        thread: The thread with this id [default: the first thread of a process that started in the
          trace, otherwise the thread that ran longest]
        range: Exactly this part of the trace (s) [default: from the first switch-in of the thread
          to its last switch-out]
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        tree: Show a tree instead of the segments, with each thread below the thread that waited for
          it
        by_process: Show only what the time went to, by process
        sums: Show only what the time went to
        top: Only the N longest segments, in the order of time, or the N largest rows of other
          lists; 0: all, as JSON and CSV have by default
        show_stack: Show all frames of stacks
        """

    def diagnose(
        self,
        *,
        rule: str | int | float | None = None,
        rules: str | int | float | None = None,
        cost: Range | None = None,
        no_notes: bool | None = None,
        table: Literal["findings", "rules", "costs"] | None = None,
        details: bool | None = None,
        fail_on: str | int | float | None = None,
        top: int | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""What made it slow: findings of rules, the costliest first

        rule: Only these rules (*, ?, several with ;, ! excludes)
        rules: Also check rules of your own: a file of SQL with a header for each rule
        cost: Only findings with this cost (ms); notes cost nothing
        no_notes: Leave out notes, which are good to know but cost nothing
        table: Table to print
        details: Print the reason, the fix, the limits and the whole stack of each finding
        fail_on: Exit with code 3 if a finding matches, otherwise with 0: any, a minimum cost such
          as 500ms, or names of rules; several with commas
        top: Only the N costliest findings
        """

    def disk(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        dir_level: int | None = None,
        by: Literal["path", "priority"] | None = None,
        per_process: bool | None = None,
        shared: bool | None = None,
        top_processes: int | None = None,
        skip_processes: int | None = None,
        file: str | int | float | None = None,
        operation: Literal["all", "read", "write", "flush"] | None = None,
        sort_by: Literal["total-size", "total-time", "read-size", "write-size", "read-time", "write-time", "flush-time", "count"] | None = None,
        read_size: Range | None = None,
        write_size: Range | None = None,
        total_size: Range | None = None,
        read_time: Range | None = None,
        write_time: Range | None = None,
        total_time: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        reverse_file_name: bool | None = None,
        details: bool | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Disk I/O by folder or file

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        dir_level: Folders below the drive that distinguish rows: 0 drives, 1 first folders, 100
          whole paths
        by: Group rows by path, or by the priority of operations
        per_process: Rows for each process
        shared: Count the I/O of a file for each process that used it. Filters on processes choose
          the files that they used, and --per-process makes rows for each set of processes [default:
          each operation belongs to the process that issued it]
        top_processes: With --per-process: show the N largest processes
        skip_processes: With --per-process: leave out the N largest processes first
        file: Only these files, by whole path (*, ?, several with ;, ! excludes)
        operation: Only rows with these operations
        sort_by: Order
        read_size: Only rows with so many bytes read
        write_size: Only rows with so many bytes written
        total_size: Only rows with so many bytes read and written
        read_time: Only rows with this service time of reads (s)
        write_time: Only rows with this service time of writes (s)
        total_time: Only rows with this service time of all operations (s)
        range: Only this part of the trace (s); times are clipped to it
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        reverse_file_name: Write paths from the file to the drive: a.txt\folder\C:
        details: Show sums of sizes and times, operations, queue times
        """

    def dns(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        query: str | int | float | None = None,
        details: bool | None = None,
        top_details: int | None = None,
        skip_details: int | None = None,
        show_process: bool | None = None,
        show_adapter: bool | None = None,
        show_return_code: bool | None = None,
        sort_by: Literal["time", "count"] | None = None,
        total_by: Literal["union", "longest", "sum"] | None = None,
        total_time: Range | None = None,
        time: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""DNS queries by name

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        query: Only these names (*, ?, several with ;, ! excludes)
        details: A line for each query below its name; JSON and CSV have single queries instead of
          names
        top_details: With --details: only the first N queries of each name
        skip_details: With --details: leave the first N queries of each name out
        show_process: Show the processes that asked, above the names
        show_adapter: Show the network adapters over which names were queried
        show_return_code: Show the errors that queries failed with
        sort_by: Order
        total_by: Meaning of total time: union, the time in which at least one query was under way;
          longest, of the longest query; sum
        total_time: Only names with this total time (s)
        time: Only queries with this duration (s)
        range: Only queries that start in this part of the trace (s); those without a start end in
          it
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        """

    def dpc(
        self,
        *,
        top: int | None = None,
        skip: int | None = None,
        by: Literal["driver", "routine", "kind", "cpu"] | None = None,
        driver: str | int | float | None = None,
        kind: str | int | float | None = None,
        cpu: int | None = None,
        duration: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        details: bool | None = None,
        show_stack: bool | None = None,
        sort_by: Literal["exclusive", "duration", "max", "count", "time"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""DPCs and interrupts: which driver took the processors, and for how long

        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        by: Group rows by this property
        driver: Only DPCs and interrupts of these drivers, by file name (*, ?, several with ;, !
          excludes)
        kind: Only these kinds: dpc, timer_dpc, threaded_dpc, isr (several with ;, ! excludes)
        cpu: Only those on this processor
        duration: Only those with this duration (us)
        range: Only those that started in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        details: Single ones
        show_stack: With --details: the stack of each
        sort_by: Order
        """

    def events(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        provider: str | int | float | None = None,
        event: str | int | float | None = None,
        fields: str | int | float | None = None,
        tid: str | int | float | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        stack_filter: str | int | float | None = None,
        details: bool | None = None,
        show_stack: bool | None = None,
        cut_stack: str | int | float | None = None,
        sort_by: Literal["count", "processes", "stacks", "first"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Events that no other report covers: by name, or each with its fields

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        provider: Only these providers, by name or GUID (*, ?, several with ;, ! excludes)
        event: Only events with these names or ids (*, ?, several with ;, ! excludes)
        fields: Only events whose fields match, written as name=value with blanks between:
          '*user=bob*'
        tid: Only events of these threads
        range: Only events in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        stack_filter: Only events whose stack has this frame: module!method, or its method alone (*,
          ?, several with ;, ! excludes)
        details: Each event
        show_stack: With --details: stacks
        cut_stack: With --details: only frames A to B of stacks
        sort_by: Order of sums
        """

    def exception(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        zero_time: str | int | float | None = None,
        zero_process: str | int | float | None = None,
        type: str | int | float | None = None,
        message: str | int | float | None = None,
        stack_filter: str | int | float | None = None,
        exception_filters: str | int | float | None = None,
        time: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        sort_by: Literal["count", "process", "type", "message", "time"] | None = None,
        show_module: str | int | float | bool | None = None,
        show_stack: bool | None = None,
        cut_stack: str | int | float | None = None,
        max_message: int | None = None,
        show_time: bool | None = None,
        details: bool | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Exceptions of .NET programs

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        zero_time: Move times so that this is second 0: marker, first or last (of a method or stack
          tag), process-start or process-end. A filter of marks, methods or command lines follows a
          colon: first:*OnLoad*
        zero_process: Only in these processes
        type: Only these types, with namespace (*, ?, several with ;, ! excludes)
        message: Only messages with a matching line (*, ?, several with ;, ! excludes)
        stack_filter: Only stacks with this frame: module!method or method (*, ?, several with ;, !
          excludes stacks with this frame)
        exception_filters: Leave out what the rules of this file leave out (ExceptionFilters.xml of
          ETWAnalyzer); how many these are is noted. default: the file that ETWKIT_EXCEPTION_FILTERS
          names
        time: Only exceptions of these seconds, counted from --zero-time
        range: Only exceptions in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        sort_by: count, process, type and message put equal exceptions of a process together; time
          lists each one
        show_module: Show path, version and company of executables; =TEXT only where one of these
          matches (*, ?, several with ;, ! excludes)
        show_stack: Show stacks: equal exceptions with different stacks are rows of their own
        cut_stack: Only frames A to B of stacks
        max_message: Characters of messages; 0 shows all
        show_time: Show when equal exceptions were thrown, and by which threads
        details: Show first and last time, threads, HRESULT and terminal sessions
        """

    def file(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        dir_level: int | None = None,
        per_process: bool | None = None,
        top_processes: int | None = None,
        skip_processes: int | None = None,
        file: str | int | float | None = None,
        operation: Literal["all", "read", "write", "open", "close", "cleanup", "set-info", "set-security", "query-info", "delete", "rename", "flush", "dir-enum", "dir-notify", "fs-control"] | None = None,
        all_files: bool | None = None,
        sort_by: Literal["total-size", "count", "read-size", "write-size", "read-time", "write-time", "total-time", "length", "max-read-pos", "max-write-pos", "open-close-time"] | None = None,
        read_size: Range | None = None,
        write_size: Range | None = None,
        total_size: Range | None = None,
        read_time: Range | None = None,
        write_time: Range | None = None,
        total_time: Range | None = None,
        total_count: Range | None = None,
        show_module: str | int | float | bool | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        show_total: Literal["none", "total", "process", "file"] | None = None,
        reverse_file_name: bool | None = None,
        details: bool | None = None,
        single: bool | None = None,
        status: str | int | float | None = None,
        show_stack: bool | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Operations on files by folder or file

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        dir_level: Folders below the drive that distinguish rows: 0 drives, 1 first folders, 100
          whole paths
        per_process: Rows for each process
        top_processes: With --per-process: show the N largest processes
        skip_processes: With --per-process: leave out the N largest processes first
        file: Only these files, by whole path (*, ?, several with ;, ! excludes)
        operation: Only this kind of operation
        all_files: Also show operations on files without a name
        sort_by: Order
        read_size: Only rows whose reads requested so many bytes
        write_size: Only rows whose writes requested so many bytes
        total_size: Only rows whose reads and writes requested so many bytes
        read_time: Only rows with this duration of reads (s)
        write_time: Only rows with this duration of writes (s)
        total_time: Only rows with this duration of reads and writes (s)
        total_count: Only rows with so many operations
        show_module: With --per-process: show path, version and company of executables; =TEXT only
          where one of these matches (*, ?, several with ;, ! excludes)
        range: Only this part of the trace (s); durations are clipped to it
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        show_total: Sums: total, only of the file; process, only of processes; file, both and rows;
          none
        reverse_file_name: Write paths from the file to the drive: a.txt\folder\C:
        details: Show throughput, largest positions, other operations and errors
        single: List single operations by time; with --sort-by total-time the longest first
        status: With --single: only operations that returned this: numbers (0, 0xc0000034), names
          (ACCESS_DENIED, NO_*) or failed (several with ;, ! excludes)
        show_stack: With --single: show the stack of each operation
        """

    def focus(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        by: Literal["process", "thread"] | None = None,
        duration: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        details: bool | None = None,
        sort_by: Literal["default", "duration", "max", "count", "time"] | None = None,
        show_total: Literal["none", "total"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Which program had the focus, from when to when

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        by: Group rows by process or by thread
        duration: Only stays of this length (s)
        range: Only stays that reach into this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        details: Single stays, from when to when
        sort_by: Order [default: sums by duration, single stays by time]
        show_total: Sums after the rows: total, or none
        """

    def gc(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        by: Literal["process", "generation", "reason"] | None = None,
        generation: int | None = None,
        suspended: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        details: bool | None = None,
        sort_by: Literal["suspended", "max-suspended", "duration", "promoted", "count", "time"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Garbage collections of .NET processes: how many, how long threads were suspended, what survived

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        by: Group rows by this property
        generation: Only collections of this generation
        suspended: Only collections that suspended threads for this long (ms)
        range: Only collections that started in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        details: Single collections
        sort_by: Order
        """

    def gdi_user(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        by: Literal["process-type", "process", "type", "stack"] | None = None,
        leak: bool | None = None,
        class_: Literal["gdi", "user"] | None = None,
        type: str | int | float | None = None,
        handle: str | int | float | None = None,
        lifetime: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        create_stack: str | int | float | None = None,
        destroy_stack: str | int | float | None = None,
        details: bool | None = None,
        show_stack: bool | None = None,
        sort_by: Literal["outstanding", "created", "destroyed", "lifetime", "time"] | None = None,
        show_total: Literal["none", "total"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""GDI and USER objects: created, destroyed, outstanding, and by which stacks

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        by: Group rows by type and process, by process, by type, or by type, process and the stack
          that created the objects
        leak: Only objects that were created in the trace and were there at its end, or rows that
          have any
        class_: Only objects of this class
        type: Only objects of these types: Window, Menu, Bitmap, Font, ... (*, ?, several with ;, !
          excludes)
        handle: Only objects with this handle: 0x1050aaa (*, ?, several with ;, ! excludes)
        lifetime: Only objects with this lifetime (s); one that did not end, or whose creation is
          not known, has 9999 s
        range: Only objects that were created in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        create_stack: Only objects whose creation has this frame in its stack (*, ?, several with ;,
          ! excludes)
        destroy_stack: Only objects whose end has this frame in its stack
        details: Single objects
        show_stack: With --details or --by stack: frames
        sort_by: Order; of single objects time or lifetime
        show_total: Sums after the rows: total, or none
        """

    def hard_fault(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        by: Literal["file", "process"] | None = None,
        per_process: bool | None = None,
        file: str | int | float | None = None,
        duration: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        stack_filter: str | int | float | None = None,
        details: bool | None = None,
        show_stack: bool | None = None,
        sort_by: Literal["duration", "max", "count", "size", "time"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Page faults that read from files: how long threads waited, for which file

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        by: Group rows by this property
        per_process: With --by file: rows for each process
        file: Only these files, by whole path (*, ?, several with ;, ! excludes)
        duration: Only reads with this duration (us)
        range: Only reads that started in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        stack_filter: Only reads whose stack has this frame: module!method, or its method alone (*,
          ?, several with ;, ! excludes)
        details: Single reads
        show_stack: With --details: stacks
        sort_by: Order; of single reads duration, size or time
        """

    def heap(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        by: Literal["heap", "process", "stack"] | None = None,
        heap: str | int | float | None = None,
        size: Range | None = None,
        leak: bool | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        stack_filter: str | int | float | None = None,
        details: bool | None = None,
        show_stack: bool | None = None,
        sort_by: Literal["outstanding", "size", "count", "peak"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Heaps of programs: what was allocated and not freed

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        by: Group rows by this property
        heap: Only heaps with these handles, as rows show them (*, ?, several with ;, ! excludes)
        size: Only blocks of this size (bytes)
        leak: Only blocks that were allocated in the trace and not freed, or rows that have any
        range: Only events in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        stack_filter: Only events whose stack has this frame: module!method, or its method alone (*,
          ?, several with ;, ! excludes)
        details: Single events
        show_stack: With --details or --by stack: frames
        sort_by: Order
        """

    def jit(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        by: Literal["process", "tier", "type"] | None = None,
        method: str | int | float | None = None,
        tier: str | int | float | None = None,
        duration: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        details: bool | None = None,
        sort_by: Literal["duration", "count", "size", "time"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Methods that .NET compiled at run time, and how long that took

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        by: Group rows by this property
        method: Only these methods: Namespace.Type.Method (*, ?, several with ;, ! excludes)
        tier: Only these tiers: tier0, tier1, tier1_osr, optimized, … (several with ;, ! excludes)
        duration: Only compilations with this duration (ms)
        range: Only compilations that ended in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        details: Single compilations
        sort_by: Order
        """

    def lbr(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        methods: str | int | float | None = None,
        show_caller: bool | None = None,
        top_methods: int | None = None,
        skip_methods: int | None = None,
        cut_method: str | int | float | None = None,
        include_dll: bool | None = None,
        scaling_factor: float | None = None,
        count: Range | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Branches that the processor remembered: which method reached which

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        methods: Rows for each method that was reached: only these (*, ?, several with ;, !
          excludes)
        show_caller: Below each method, the methods that it was reached from
        top_methods: Only the N largest methods of each process
        skip_methods: Leave the N largest methods of each process out first
        cut_method: Show only a part of the names of methods: A..B characters A to B, -N the last N
          ones
        include_dll: Names start with their module
        scaling_factor: Multiply counts, which count samples: with 1000 samples a second, 1000 to
          10000 comes close to real counts
        count: Only rows and callers with this count, after scaling
        """

    def loggers(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        name: str | int | float | None = None,
        sort_by: Literal["start", "name", "lost"] | None = None,
        details: bool | None = None,
        provider: str | int | float | None = None,
        kind: str | int | float | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Recording sessions of the trace and others, what they lost, which providers were switched on

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        name: Only these sessions, by name (*, ?, several with ;, ! excludes)
        sort_by: Order of sessions
        details: List what happened: starts, stops, providers that were switched on and off, losses
        provider: With --details: only these providers, by name or GUID (*, ?, several with ;, !
          excludes)
        kind: With --details: only this: start, stop, running, enable, disable, register,
          unregister, lost* … (*, ?, several with ;, ! excludes)
        range: With --details: only this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        """

    def mark(
        self,
        *,
        top: int | None = None,
        skip: int | None = None,
        zero_time: str | int | float | None = None,
        zero_process: str | int | float | None = None,
        marker_filter: str | int | float | None = None,
        diff: Range | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Marks that users or programs set

        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        zero_time: Move times so that this is second 0: marker, first or last (of a method or stack
          tag), process-start or process-end. A filter of marks, methods or command lines follows a
          colon: first:*OnLoad*
        zero_process: Only in these processes
        marker_filter: Only marks with these texts (*, ?, several with ;, ! excludes)
        diff: Only marks at this distance from zero, in seconds; it is negative for marks before
          zero
        """

    def memory(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        total_memory: bool | None = None,
        commit: Range | None = None,
        working_set: Range | None = None,
        first_working_set: Range | None = None,
        private_working_set: Range | None = None,
        shared_commit: Range | None = None,
        min_diff: int | None = None,
        global_diff: int | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        sort_by: Literal["commit", "working-set", "shared-commit", "diff"] | None = None,
        show_module: str | int | float | bool | None = None,
        show_total: Literal["none", "total"] | None = None,
        details: bool | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Memory of processes and of the machine

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        total_memory: Memory of the machine instead of processes
        commit: Only processes that have so much committed at the end (MiB)
        working_set: Only processes that have so much in memory at the end (MiB)
        first_working_set: Only processes that have so much in memory at the first sample (MiB); one
          that came later has 0
        private_working_set: Only processes that have so much in memory, and not shared, at the end
          (MiB)
        shared_commit: Only processes that have so much shared and committed at the end (MiB)
        min_diff: Only processes whose committed memory changed by N MiB, up or down; a process that
          came counts with all it has
        global_diff: Only processes whose committed memory differs by more than N MiB between the
          first and the last extract
        range: The first and last sample of these seconds of the trace instead of all of it
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        sort_by: Order
        show_module: Show path, version and company of executables; =TEXT only where one of these
          matches (*, ?, several with ;, ! excludes)
        show_total: Sums: none, or total without processes [default: both]
        details: Show private working sets and terminal sessions
        """

    def metrics(
        self,
        *,
        top: int | None = None,
        skip: int | None = None,
        metric: str | int | float | None = None,
        process: str | int | float | None = None,
        name: str | int | float | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""All numbers of a trace as one long table, for dashboards and many runs

        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        metric: Only these metrics: method.cpu, disk.* (*, ?, several with ;, ! excludes)
        process: Only processes with these names (*, ?, several with ;, ! excludes)
        name: Only these subjects: methods, tags, drivers, host names, counters (*, ?, several with
          ;, ! excludes)
        """

    def mini_filter(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        by: Literal["driver", "process", "operation", "file"] | None = None,
        per_process: bool | None = None,
        driver: str | int | float | None = None,
        operation: str | int | float | None = None,
        phase: Literal["pre", "post"] | None = None,
        file: str | int | float | None = None,
        duration: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        stack_filter: str | int | float | None = None,
        details: bool | None = None,
        show_stack: bool | None = None,
        sort_by: Literal["duration", "max", "count", "time"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Minifilter drivers: how long they delayed file operations, and which ones they made fail

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        by: Group rows by this property
        per_process: Rows for each process
        driver: Only these drivers, by file name (*, ?, several with ;, ! excludes)
        operation: Only these operations, such as create or read (*, ?, several with ;, ! excludes)
        phase: Only calls before operations, or after them
        file: Only these files, by whole path (*, ?, several with ;, ! excludes)
        duration: Only calls with this duration (us)
        range: Only calls that started in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        stack_filter: Only calls whose stack has this frame: module!method, or its method alone (*,
          ?, several with ;, ! excludes)
        details: Single calls
        show_stack: With --details: stacks
        sort_by: Order; of single calls duration or time
        """

    def net(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        by: Literal["process", "remote", "port", "local"] | None = None,
        protocol: Literal["tcp", "udp"] | None = None,
        remote: str | int | float | None = None,
        port: Range | None = None,
        kind: str | int | float | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        details: bool | None = None,
        show_stack: bool | None = None,
        sort_by: Literal["total", "sent", "received", "retransmits", "time"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Bytes over TCP and UDP by process, remote address or port, or local address

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        by: Group rows by this property
        protocol: Only this protocol
        remote: Only these remote addresses (*, ?, several with ;, ! excludes)
        port: Only these remote ports
        kind: Only operations of these kinds: send, receive, connect, accept, disconnect, retransmit
          (several with ;, ! excludes)
        range: Only operations in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        details: Single operations
        show_stack: With --details: stacks
        sort_by: Order
        """

    def objectref(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        related_process: str | int | float | None = None,
        lifetime: Range | None = None,
        id: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        create_stack: str | int | float | None = None,
        destroy_stack: str | int | float | None = None,
        stack_filter: str | int | float | None = None,
        object: str | int | float | None = None,
        object_name: str | int | float | None = None,
        type: str | int | float | None = None,
        handle: str | int | float | None = None,
        view_base: str | int | float | None = None,
        ptr_in_map: str | int | float | None = None,
        map_size: Range | None = None,
        mapped: Literal["0", "1"] | None = None,
        leak: bool | None = None,
        multi_process: bool | None = None,
        inherit: bool | None = None,
        overlapped: bool | None = None,
        show_ref: bool | None = None,
        show_stack: bool | None = None,
        sort_by: Literal["id", "lifetime", "handles", "leaked"] | None = None,
        show_total: Literal["none", "total", "process"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Handles, objects and mapped files: their events, lifetimes and leaks

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        related_process: Only objects with an event of these processes; --process means those that
          created them
        lifetime: Only objects with this lifetime (s); one that did not end, or whose start is not
          known, has 9999 s
        id: Only objects with these numbers
        range: Only events in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        create_stack: Only objects whose first creation has this frame in its stack (*, ?, several
          with ;, ! excludes)
        destroy_stack: Only objects whose last close or deletion has this frame in its stack
        stack_filter: Only events with this frame in their stack
        object: Only objects at these addresses: 0xffffc28194000900 (*, ?, several with ;, !
          excludes)
        object_name: Only objects with this name; no mapped files
        type: Only objects of these types: Event, File, Key, FileMapping, ...
        handle: Only objects with this handle: 0x1a4; no mapped files
        view_base: Only files that are mapped at this address
        ptr_in_map: Only mapped files around this address: 0x7ff812340000
        map_size: Only mapped files with so many bytes
        mapped: 0: only objects, 1: only mapped files
        leak: Only objects with handles, or mapped files, that were created in the trace and open at
          its end
        multi_process: Only objects with events of several processes
        inherit: Only objects with a handle that a process inherited
        overlapped: Only objects with several open handles at one time
        show_ref: Show changes of references
        show_stack: Show the stacks of events
        sort_by: Order of objects
        show_total: total, handles by type; process, by process and type; none, no sums after
          objects
        """

    def overhead(
        self,
        *,
        top: int | None = None,
        skip: int | None = None,
        by: Literal["product", "company", "file", "tag"] | None = None,
        product: str | int | float | None = None,
        stack_tag_file: Text | Sequence[Text] | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        watts: float | None = None,
        sort_by: Literal["caused", "cpu", "own", "others", "wait", "ready", "disk"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""What products cost: virus scanners, drivers and tracing, in their own threads and in others

        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        by: Group rows by this property
        product: Only products whose name, company or file matches (*, ?, several with ;, !
          excludes)
        stack_tag_file: With --by tag: also tag stacks by the rules of this file (.stacktags of
          Windows Performance Analyzer); can be repeated
        range: Only what ended in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        watts: Power of a processor while it computes: energy is all CPU time x this (W)
        sort_by: Order
        """

    def overview(
        self,
        *,
        top: int | None = None,
        table: Literal["all", "recording", "processes", "modules", "methods", "files", "contents", "providers", "topics", "health", "next"] | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Everything on one screen: machine, processes, modules, methods, files, health, and what to ask next

        top: Rows of each list; 0 is all
        table: Only this table
        range: Processes, modules, methods and files of this part of the trace (s) alone
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        """

    def page_fault(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        by: Literal["process", "kind"] | None = None,
        per_process: bool | None = None,
        kind: str | int | float | None = None,
        function: str | int | float | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        stack_filter: str | int | float | None = None,
        details: bool | None = None,
        show_stack: bool | None = None,
        sort_by: Literal["count", "demand-zero", "hard", "time"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Page faults: who touched memory that was not mapped, by kind

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        by: Group rows by this property
        per_process: With --by kind: rows for each process
        kind: Only these kinds: transition, demand_zero, copy_on_write, guard_page, hard,
          access_violation (*, ?, several with ;, ! excludes)
        function: Only faults of instructions of these functions: name, module!name or module+0x1a2b
          (*, ?, several with ;, ! excludes)
        range: Only faults in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        stack_filter: Only faults whose stack has this frame: module!method, or its method alone (*,
          ?, several with ;, ! excludes)
        details: Single faults
        show_stack: With --details: stacks
        sort_by: Order of sums; single faults are in order of time
        """

    def pmc(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        per_thread: bool | None = None,
        methods: str | int | float | None = None,
        include_dll: bool | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        no_counters: bool | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Performance counters of the processor: instructions, cycles, cache misses

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        per_thread: Rows for each thread
        methods: Rows for each method in the stacks of switch-ins or samples: only these (*, ?,
          several with ;, ! excludes)
        include_dll: Names of methods start with their module
        range: Only scheduling slices that end in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        no_counters: Leave the counters out, keep what is computed from them
        """

    def pool(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        by: Literal["tag", "process", "stack"] | None = None,
        tag: str | int | float | None = None,
        paging: Literal["paged", "nonpaged"] | None = None,
        leak: bool | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        stack_filter: str | int | float | None = None,
        details: bool | None = None,
        show_stack: bool | None = None,
        sort_by: Literal["outstanding", "size", "count"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Kernel pool that drivers allocated and did not free, by tag

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        by: Group rows by this property
        tag: Only blocks with these tags (*, ?, several with ;, ! excludes)
        paging: Only this memory
        leak: Only blocks that were allocated in the trace and not freed, or rows that have any
        range: Only blocks that were allocated (or freed, if the trace has no allocation) in this
          part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        stack_filter: Only blocks whose allocation has this frame in its stack (*, ?, several with
          ;, ! excludes)
        details: Single blocks
        show_stack: With --details or --by stack: frames of the stacks that allocated them
        sort_by: Order
        """

    def power(
        self,
        *,
        diff: bool | None = None,
        all: bool | None = None,
        details: bool | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Power settings, side by side

        diff: Only settings that differ, without columns that equal an earlier one
        all: Also settings that have no name here, by GUID
        details: Also GUIDs, names of powercfg, what settings do, and settings that have no name
          here
        """

    def process(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        zero_time: str | int | float | None = None,
        zero_process: str | int | float | None = None,
        parent: str | int | float | None = None,
        duration: Range | None = None,
        start: Range | None = None,
        crash: bool | None = None,
        sort_by: Literal["default", "cpu", "name", "time", "stop-time", "session", "tree"] | None = None,
        show_user: bool | None = None,
        details: bool | None = None,
        merge: bool | None = None,
        all_processes: bool | None = None,
        show_file_on_line: bool | None = None,
        show_total: Literal["none", "total"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Processes: when they ran, what started them, how they ended

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        zero_time: Move times so that this is second 0: marker, first or last (of a method or stack
          tag), process-start or process-end. A filter of marks, methods or command lines follows a
          colon: first:*OnLoad*
        zero_process: Only in these processes
        parent: Only these parents and their children
        duration: Only processes with this time from start to end, such as 10s..; it is 0 unless
          both are in the trace
        start: Only processes that started at these seconds of the trace
        crash: Only processes that crashed: by exit code, or reported to Windows Error Reporting
        sort_by: Order [default: by name; with --top the most CPU first]
        show_user: Show users
        details: Show terminal sessions and app packages
        merge: One list over all extracts: a process that started in one and ended in a later one
          has both times
        all_processes: With --merge: processes that neither started nor ended once for each extract
        show_file_on_line: Show the name of the trace in each line
        show_total: Sums: none, or total, also over all extracts
        """

    def ready(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        by: Literal["instead", "process", "priority"] | None = None,
        instead: str | int | float | None = None,
        ready: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        focus: bool | None = None,
        details: bool | None = None,
        sort_by: Literal["ready", "instead", "lower", "focus", "max", "count", "time"] | None = None,
        show_total: Literal["none", "total"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Who ran instead of threads that were ready, and with which priority

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        by: Group rows by this property
        instead: Only where threads of these processes ran instead: names with or without .exe, or
          ids (*, ?, several with ;, ! excludes)
        ready: Only ready times of this length (us)
        range: Only switch-ins in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        focus: Only threads of processes that had the focus when they were switched in
        details: Single switch-ins
        sort_by: Order
        show_total: Sums after the rows: total, or none
        """

    def region(
        self,
        *,
        regions: str | int | float,
        tmf: Text | Sequence[Text] | None = None,
        manifest: Text | Sequence[Text] | None = None,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        region: str | int | float | None = None,
        instance: str | int | float | None = None,
        details: bool | None = None,
        open: bool | None = None,
        duration: Range | None = None,
        count: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        sort_by: Literal["default", "time", "duration", "count", "max", "mean", "name"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Regions of interest: the time between two events, as a file of Windows Performance Analyzer defines them

        tmf: Give messages of WPP their text and arguments: a trace message format file (.tmf), or a
          folder with .tmf files; can be repeated
        manifest: Decode the events of providers by this instrumentation manifest (.man); can be
          repeated
        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        regions: Definition of the regions: a Regions of Interest file of Windows Performance
          Analyzer
        region: Only these regions, by name or friendly name (*, ?, several with ;, ! excludes)
        instance: Only instances with these names (*, ?, several with ;, ! excludes)
        details: List instances, each with the instances inside it
        open: With --details: also starts without an end
        duration: Only instances with this duration (ms)
        count: Only regions with this number of instances
        range: Only instances that overlap with this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        sort_by: Order: default is duration, with --details time
        """

    def registry(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        by: Literal["key", "process", "operation", "status", "value"] | None = None,
        per_process: bool | None = None,
        depth: int | None = None,
        details: bool | None = None,
        key: str | int | float | None = None,
        value: str | int | float | None = None,
        operation: str | int | float | None = None,
        status: str | int | float | None = None,
        unknown: bool | None = None,
        duration: Range | None = None,
        count: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        sort_by: Literal["default", "duration", "count", "failed", "max", "mean", "time"] | None = None,
        show_stack: bool | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Operations on the registry by key, process, kind, result or value

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        by: Group rows by this property
        per_process: Rows for each process
        depth: Sum up keys that have so many parts below their root in common: 1 is HKLM\SOFTWARE
        details: List single operations
        key: Only these keys: whole paths such as HKLM\SOFTWARE\* (*, ?, several with ;, ! excludes)
        value: Only these values, by name (*, ?, several with ;, ! excludes)
        operation: Only these operations: open_key, query_value, enumerate_* … (*, ?, several with
          ;, ! excludes)
        status: Only operations that returned this: numbers (0, 0xc0000034), names (ACCESS_DENIED,
          NO_*) or failed (several with ;, ! excludes)
        unknown: Only operations on keys whose path is not known
        duration: Only operations with this duration (us)
        count: Only rows with so many operations
        range: Only operations that started in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        sort_by: Order: default is duration, with --details time; count, failed and mean are orders
          of sums
        show_stack: With --details: the stack of each operation
        """

    def screenshot(
        self,
        *,
        top: int | None = None,
        skip: int | None = None,
        trigger: str | Sequence[str] | None = None,
        file: str | int | float | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Pictures of the screen that ETWController took: when, why, and where they are

        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        trigger: Only pictures that were taken for these reasons, with commas between
        file: Only files with these names (*, ?, several with ;, ! excludes)
        range: Only this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        """

    def service(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        service: str | int | float | None = None,
        sort_by: Literal["cpu", "sharing", "pid"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Services that ran and their processes, each with its number of services and its CPU

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        service: Only these services: names, or names for people (*, ?, several with ;, ! excludes)
        sort_by: Order
        """

    def standby(
        self,
        *,
        top: int | None = None,
        skip: int | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        duration: Range | None = None,
        sort_by: Literal["time", "duration", "non-drips", "drain"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Stays in connected standby: how long, how deep, and who woke the machine

        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        range: Only stays that overlap with this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        duration: Only stays of this length (s)
        sort_by: Order: time, length, time outside the deepest idle state, drain of the battery
        """

    def start(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        creator: str | int | float | None = None,
        cost: Range | None = None,
        exit: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        details: bool | None = None,
        sort_by: Literal["cost", "max", "exit", "max-exit", "count", "time"] | None = None,
        show_total: Literal["none", "total"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Cost of starting and ending processes, by program or for each process

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        creator: Only processes that were started by this process: names with or without .exe (*, ?,
          several with ;, ! excludes)
        cost: Only processes whose start had this cost (ms)
        exit: Only processes whose end took this long (ms)
        range: Only processes that started, or without a start in the trace ended, in this part of
          it (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        details: Single processes
        sort_by: Order
        show_total: Sums after the rows: total, or none
        """

    def stats(
        self,
        *,
        properties: str | int | float | None = None,
        one_line: bool | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Properties of the recording and the machine

        properties: Only these properties: names with , ; or blanks between (*, ?, ! excludes)
        one_line: All properties of an extract on one line
        """

    def syscall(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        by: Literal["function", "process", "thread", "status"] | None = None,
        per_process: bool | None = None,
        details: bool | None = None,
        function: str | int | float | None = None,
        status: str | int | float | None = None,
        thread: int | None = None,
        duration: Range | None = None,
        count: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        sort_by: Literal["default", "duration", "count", "failed", "max", "mean", "time"] | None = None,
        show_stack: bool | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""System calls: sums by function, process, thread or result, or single calls with their results

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        by: Group rows by this property
        per_process: Rows for each process, with --by function or status
        details: List single calls with their results
        function: Only these functions: name, module!name or module+0x1a2b (*, ?, several with ;, !
          excludes)
        status: Only calls that returned this: numbers (0, 0xc0000022), names (ACCESS_DENIED, NO_*)
          or failed (several with ;, ! excludes)
        thread: Only calls of this thread id
        duration: Only calls with this duration (us)
        count: Only rows with so many calls
        range: Only calls that started in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        sort_by: Order: default is duration, with --details time; count, failed and mean are orders
          of sums
        show_stack: With --details: the stack of each call
        """

    def tcp(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        zero_time: str | int | float | None = None,
        zero_process: str | int | float | None = None,
        unknown_process: bool | None = None,
        ip_port: str | int | float | None = None,
        local_ip_port: str | int | float | None = None,
        remote_ip_port: str | int | float | None = None,
        tcb: str | int | float | None = None,
        reset: bool | None = None,
        keep_alive: bool | None = None,
        sort_by: Literal["retransmission-count", "retransmission-time", "max-retransmission-time", "received-count", "sent-count", "received-size", "sent-size", "total-count", "total-size", "connect-time", "disconnect-time", "client-reset-time", "last-sent-time", "last-received-time", "max-send-delay", "max-receive-delay", "send-rate", "receive-rate", "post", "inject"] | None = None,
        group_by: Literal["none", "source-ip-port-remote-ip", "source-ip-remote-ip"] | None = None,
        show_retransmit: bool | None = None,
        sort_retransmit_by: Literal["time", "delay"] | None = None,
        top_retransmits: int | None = None,
        skip_retransmits: int | None = None,
        only_client_retransmit: bool | None = None,
        retransmit_delay: Range | None = None,
        retransmit_bytes: Range | None = None,
        issue: Literal["post"] | None = None,
        details: bool | None = None,
        stats: bool | None = None,
        show_total: Literal["file", "total", "none"] | None = None,
        sent_bytes: Range | None = None,
        received_bytes: Range | None = None,
        bytes: Range | None = None,
        sent_packets: Range | None = None,
        received_packets: Range | None = None,
        packets: Range | None = None,
        stat_bytes: Range | None = None,
        stat_bytes_in: Range | None = None,
        stat_bytes_out: Range | None = None,
        stat_packets: Range | None = None,
        stat_packets_in: Range | None = None,
        stat_packets_out: Range | None = None,
        retransmit_count: Range | None = None,
        connect: Range | None = None,
        disconnect: Range | None = None,
        last_sent: Range | None = None,
        last_received: Range | None = None,
        client_reset: Range | None = None,
        connection_duration: Range | None = None,
        send_delay: Range | None = None,
        receive_delay: Range | None = None,
        send_rate: Range | None = None,
        receive_rate: Range | None = None,
        post: Range | None = None,
        inject: Range | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""TCP connections: bytes, retransmissions, delays, resets

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        zero_time: Move times so that this is second 0: marker, first or last (of a method or stack
          tag), process-start or process-end. A filter of marks, methods or command lines follows a
          colon: first:*OnLoad*
        zero_process: Only in these processes
        unknown_process: Let connections whose process is not known pass filters on processes
        ip_port: Only connections with these ends: local address:port and remote address:port,
          joined (*, ?, several with ;, ! excludes)
        local_ip_port: Only connections with this local address:port
        remote_ip_port: Only connections with this remote address:port
        tcb: Only connections with these control blocks: 0x…
        reset: Only connections that were reset because nothing was acknowledged in time
        keep_alive: Only connections with keep-alive probes
        sort_by: Order
        group_by: One row for several connections
        show_retransmit: A line for each retransmission; JSON and CSV have a row for each, with the
          columns of its connection
        sort_retransmit_by: Order of retransmissions
        top_retransmits: Only the last N retransmissions
        skip_retransmits: Leave out the last N retransmissions first
        only_client_retransmit: Only retransmissions of the other side
        retransmit_delay: Only retransmissions with this delay, and connections with one (ms)
        retransmit_bytes: Only retransmissions of so many bytes
        issue: List what went wrong: post, sends that a filter let go too late
        details: Show times, delays, templates and control blocks
        stats: Show the counts of the system over the whole life of connections, and sends of
          programs
        show_total: Sums: file, below the rows; total, without rows; none
        sent_bytes: Bytes sent
        received_bytes: Bytes received
        bytes: Bytes sent and received
        sent_packets: Packets sent
        received_packets: Packets received
        packets: Packets sent and received
        stat_bytes: Bytes over the whole life, as the system counted; without its numbers a
          connection matches none of these
        stat_bytes_in: Bytes received over the whole life
        stat_bytes_out: Bytes sent over the whole life
        stat_packets: Packets over the whole life
        stat_packets_in: Packets received over the whole life
        stat_packets_out: Packets sent over the whole life
        retransmit_count: Retransmissions that remain
        connect: When it was opened (s; 0 if before the trace)
        disconnect: When it was closed (s; 0 if still open)
        last_sent: Last packet sent (s; 0 if none)
        last_received: Last packet received (s; 0 if none)
        client_reset: When this side reset it (s; 0 if it did not)
        connection_duration: From opening to closing or the end of the trace (s); one that was open
          before is longer than any
        send_delay: Longest time between two sends (s)
        receive_delay: Longest time between two receipts (s)
        send_rate: MiB sent for each second of bursts
        receive_rate: MiB received for each second of bursts
        post: Sends of programs
        inject: Sends that a filter held back
        """

    def test_run(
        self,
        *,
        recursive: bool | None = None,
        test_run_index: int | None = None,
        test_run_count: int | None = None,
        tests_per_run: int | None = None,
        skip_tests: int | None = None,
        last_days: float | None = None,
        test_time: str | int | float | None = None,
        test_case: str | int | float | None = None,
        machine: str | int | float | None = None,
        valid_tests_only: bool | None = None,
        no_test_run_grouping: bool | None = None,
        print_files: bool | None = None,
        recordings: bool | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Runs of automated tests, by the names of their files

        recursive: Also search subfolders
        test_run_index: Start with this test run; the first one is 0
        test_run_count: Only this many test runs; 0 is all
        tests_per_run: At most this many tests of a test case in each run; 0 is all
        skip_tests: Leave out the first N tests of a test case in each run
        last_days: Only tests of the last N days; 0.5 is half a day
        test_time: Only tests with this duration (ms); several with ;
        test_case: Only these test cases (*, ?, several with ;, ! excludes)
        machine: Only recordings of these machines, by the names of files (*, ?, several with ;, !
          excludes)
        valid_tests_only: Only files with the name of a test
        no_test_run_grouping: Treat all tests as one run
        print_files: Print the files of each recording
        recordings: Print each recording, with one x for each 200 ms that its test took
        """

    def thread_pool(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        reason: str | int | float | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Thread pools of .NET programs that starved

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        reason: Changes of the number of threads for other reasons: Starvation unless given, * all
          of them (*, ?, several with ;, ! excludes)
        range: Only these seconds of the trace
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        """

    def time(
        self,
        *,
        time: str | int | float | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""A time from a log or another trace, as seconds and clock time of these traces

        time: Seconds since the start (12.5), a time of day (17:47:38.416) or a date with time
          (2022-10-02 17:47:38). Clock times are in the time zone of the recorded machine unless
          +02:00 or Z follows
        """

    def timer(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        kind: str | int | float | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        tick: Range | None = None,
        details: bool | None = None,
        sort_by: Literal["duration", "tick", "count", "time"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Who asked for a finer tick of the system timer, and for how long

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        kind: Only these kinds: process, kernel, system (several with ;, ! excludes)
        range: Only requests that reach into this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        tick: Only ticks with this period (us)
        details: Single requests
        sort_by: Order
        """

    def trace_stats(
        self,
        *,
        top: int | None = None,
        skip: int | None = None,
        by: Literal["provider", "event", "second"] | None = None,
        provider: str | int | float | None = None,
        event: str | int | float | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        sort_by: Literal["bytes", "events", "stacks", "peak", "time"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""What fills the trace: events and bytes by provider, kind or second, losses, and the cost of tracing

        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        by: Group rows by this property
        provider: Only these providers or classes of the kernel, by name or GUID (*, ?, several with
          ;, ! excludes)
        event: Only events with these names (*, ?, several with ;, ! excludes)
        range: Only whole seconds that start in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        sort_by: Order [default: bytes; seconds by time]
        """

    def tracelog(
        self,
        *,
        tmf: Text | Sequence[Text] | None = None,
        manifest: Text | Sequence[Text] | None = None,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        provider: str | int | float | None = None,
        by: Literal["provider", "kind", "event"] | None = None,
        message: str | int | float | None = None,
        tid: str | int | float | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        max_count: int | None = None,
        all_events: bool | None = None,
        sort_by: Literal["count", "name", "id"] | None = None,
        show_stack: bool | None = None,
        cut_stack: str | int | float | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Self-describing events: TraceLogging, and EventSource of .NET

        tmf: Give messages of WPP their text and arguments: a trace message format file (.tmf), or a
          folder with .tmf files; can be repeated
        manifest: Decode the events of providers by this instrumentation manifest (.man); can be
          repeated
        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        provider: Only these providers, by name or GUID, followed by a colon and events:
          p1:ev1,ev2;p2:7;!p3. Events are ids, patterns with * and ?, or parts of names; ! excludes
        by: Rows: provider (in each process), kind of event, or each event. [default: events if
          --provider names events, otherwise kinds]
        message: Only events whose fields match, written as name=value with blanks between:
          '*user=bob*'
        tid: Only events of these threads
        range: Only this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        max_count: Only the first N matching events
        all_events: Also events that others describe: providers with a manifest of Windows, and the
          kernel
        sort_by: Order of sums
        show_stack: Show stacks of events
        cut_stack: Only frames A to B of stacks
        """

    def ui_delay(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        kind: Literal["message", "input", "wait-cursor"] | None = None,
        class_name: str | int | float | None = None,
        duration: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        details: bool | None = None,
        show_stack: bool | None = None,
        sort_by: Literal["duration", "max", "count", "time"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Delays of programs with windows: input and messages that waited, wait cursors

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        kind: Only this kind: no look at messages, input that waited, the cursor that asks to wait
        class_name: Only delays of windows of this class, or inside one of this class (*, ?, several
          with ;, ! excludes)
        duration: Only delays of this length (ms)
        range: Only delays that reach into this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        details: Single delays
        show_stack: With --details: stacks
        sort_by: Order; of single delays duration or time
        """

    def user_lock(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        by: Literal["process", "thread"] | None = None,
        mode: Literal["exclusive", "shared"] | None = None,
        wait: Range | None = None,
        hold: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        stack_filter: str | int | float | None = None,
        details: bool | None = None,
        show_stack: bool | None = None,
        sort_by: Literal["wait", "max-wait", "hold", "max-hold", "count", "time"] | None = None,
        show_total: Literal["none", "total"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""The global lock of the window manager: who waited for it, who had it

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        by: Group rows by process or by thread
        mode: Only this mode
        wait: Only acquisitions with this wait (ms)
        hold: Only acquisitions after which the thread held the lock this long (ms)
        range: Only acquisitions in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        stack_filter: Only acquisitions whose stack has this frame: module!method, or its method
          alone (*, ?, several with ;, ! excludes)
        details: Single acquisitions
        show_stack: With --details: stacks
        sort_by: Order; of single acquisitions wait, hold or time
        show_total: Sums after the rows: total, or none
        """

    def version(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        dll: str | int | float | None = None,
        version: str | int | float | None = None,
        in_no_stack: bool | None = None,
        missing_pdb: str | int | float | bool | None = None,
        marked: str | int | float | bool | None = None,
        show_total: Literal["none", "total"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Modules and their versions, and missing symbol files

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        dll: Only modules with these file names (*, ?, several with ;, ! excludes)
        version: Only modules where path, versions, product, company and description, joined, match
        in_no_stack: Only modules that are in no recorded stack: loaded, and never seen to run
        missing_pdb: Symbol files that are missing for code with CPU samples instead; only those
          with these names
        marked: Parts of the product and their versions instead, by the modules that mark them; only
          parts with these names. Only extracts of ETWAnalyzer have them
        show_total: Sums: none, or total without modules
        """

    def virtual_alloc(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        stats: bool | None = None,
        details: bool | None = None,
        methods: str | int | float | None = None,
        stack_id: str | int | float | None = None,
        events: bool | None = None,
        show_stack: bool | None = None,
        stack_filter: str | int | float | None = None,
        top_stacks: int | None = None,
        skip_stacks: int | None = None,
        sort_by: Literal["not-released-size", "not-released-count", "commit-size", "commit-count", "freed-size", "freed-count", "max-commit-size", "peak-size"] | None = None,
        not_released_size: Range | None = None,
        not_released_count: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        include_exited: bool | None = None,
        show_total: Literal["none", "total"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Virtual memory that processes committed and did not release

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        stats: Sums of processes; what is shown without any other word
        details: Stacks of each process whose commits were not given back; with --stack-id the
          single allocations of these stacks
        methods: Commits not given back, by method: only these (*, ?, several with ;, ! excludes),
          each with all stacks that contain it
        stack_id: Single allocations of these stacks: numbers that --details shows, with ;
        events: Single allocations
        show_stack: With --details, --stack-id or --events: frames
        stack_filter: Only commits whose stack has this frame: module!method, or its method alone
          (*, ?, several with ;, ! excludes)
        top_stacks: With --details or --methods: only the N largest of each process
        skip_stacks: Leave the N largest of each process out first
        sort_by: Order; of stacks by memory that was committed or not released
        not_released_size: Only rows with so many bytes that were not given back
        not_released_count: Only rows with so many commits that were not given back
        range: Only allocations in this part of the trace (s)
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        include_exited: Count what processes had when they ended as not given back
        show_total: Sums after the rows: total, or none
        """

    def wait(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        top: int | None = None,
        skip: int | None = None,
        thread: int | None = None,
        reason: str | int | float | None = None,
        method: str | int | float | None = None,
        tag: str | int | float | None = None,
        stack_tag_file: Text | Sequence[Text] | None = None,
        by: Literal["process", "thread", "method", "module", "tag", "reason", "readying", "readying-thread", "wait"] | None = None,
        chain: bool | None = None,
        all_waits: bool | None = None,
        sort_by: Literal["wait", "wait-sum", "max", "mean", "ready", "ready-sum", "ready-max", "count", "open", "time"] | None = None,
        wait: Range | None = None,
        ready: Range | None = None,
        count: Range | None = None,
        max: Range | None = None,
        range: Range | None = None,
        between: tuple[str, str] | None = None,
        show_stack: bool | None = None,
        details: bool | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""What threads waited for, and who ended it: sums, single waits, chains of waits

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        top: Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        skip: Leave out the N largest first
        thread: Only waits of the thread with this id
        reason: Only waits for these reasons, by name or number (*, ?, several with ;, ! excludes)
        method: Only waits with this method in the stack: method, module!method or module+0x1a2b (*,
          ?, several with ;)
        tag: Only waits with these stack tags, paths separated by \ (*, ?, several with ;, !
          excludes)
        stack_tag_file: Also tag stacks by the rules of this file (.stacktags of Windows Performance
          Analyzer); can be repeated
        by: Rows: sums of each process by this, or single waits
        chain: The longest waits, each with the thread that ended it and the wait of that thread,
          down to the root
        all_waits: With --chain: also start from sleeps and waits of idle pools, and show at each
          step the other waits, which explain less than the one that is followed
        sort_by: Order
        wait: Only rows with this waiting time (ms without a unit)
        ready: Only rows with this ready time (ms)
        count: Only rows with this number of waits
        max: Only rows whose longest wait is this long (ms)
        range: Only this part of the trace (s); intervals are clipped to it
        between: Only the part of the trace between two marks: the first one with the first text,
          and the next one after it with the second (*, ?)
        show_stack: Show all frames of stacks
        details: Also show sums over threads, ready times, preemptions and the number of threads
        """

class TraceQuestions(Questions):
    def diff(
        self,
        other: Text | Questions,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        range: Text | Sequence[Text] | None = None,
        from_mark: str | int | float | None = None,
        to_mark: str | int | float | None = None,
        align: Literal["marks", "whole"] | None = None,
        table: Literal["all", "summary", "sides", "remarks", "findings", "marks", "processes", "modules", "methods", "tags", "reasons", "readying", "files", "disk", "folders", "hard-faults", "dns", "counters", "results", "settings", "versions"] | None = None,
        top: int | None = None,
        noise: float | None = None,
        noise_percent: float | None = None,
        fail_on: str | int | float | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Two traces, or two parts of one, side by side: what explains that one takes longer

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        range: Only this part of a trace (s); given twice, the first is of A and the second of B
        from_mark: Only from the first mark with this text on (*, ?)
        to_mark: Only up to the next mark with this text (*, ?)
        align: Range to compare by default: marks, from the first to the last mark that both traces
          have; or all of both
        table: Only this table
        top: Rows of each table; 0: all, as JSON and CSV have by default
        noise: Times that differ by less are noise: a few samples, or one scheduling slice (ms)
        noise_percent: Differences below this share of the larger side are also noise: two runs of
          the same program differ by that much
        fail_on: Exit with code 3 if B takes longer than A by more than a share or a time, otherwise
          with 0: slower, slower:5% or slower:200ms
        """

class FarmQuestions(Questions):
    def diff(
        self,
        *,
        process: str | int | float | None = None,
        cmdline: str | int | float | None = None,
        new_process: int | None = None,
        session: str | int | float | None = None,
        user: str | int | float | None = None,
        range: Text | Sequence[Text] | None = None,
        from_mark: str | int | float | None = None,
        to_mark: str | int | float | None = None,
        align: Literal["marks", "whole"] | None = None,
        table: Literal["all", "summary", "sides", "remarks", "findings", "marks", "processes", "modules", "methods", "tags", "reasons", "readying", "files", "disk", "folders", "hard-faults", "dns", "counters", "results", "settings", "versions"] | None = None,
        top: int | None = None,
        noise: float | None = None,
        noise_percent: float | None = None,
        fail_on: str | int | float | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""Two traces, or two parts of one, side by side: what explains that one takes longer

        process: Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
          excludes)
        cmdline: Only processes with this command line (*, ?, several with ;, ! excludes)
        new_process: Only processes that 0: neither started nor ended, 1: started, -1: ended, 2:
          started and did not end, -2: ended and did not start in the trace
        session: Only processes of these terminal sessions
        user: Only processes of these users, by security id
        range: Only this part of a trace (s); given twice, the first is of A and the second of B
        from_mark: Only from the first mark with this text on (*, ?)
        to_mark: Only up to the next mark with this text (*, ?)
        align: Range to compare by default: marks, from the first to the last mark that both traces
          have; or all of both
        table: Only this table
        top: Rows of each table; 0: all, as JSON and CSV have by default
        noise: Times that differ by less are noise: a few samples, or one scheduling slice (ms)
        noise_percent: Differences below this share of the larger side are also noise: two runs of
          the same program differ by that much
        fail_on: Exit with code 3 if B takes longer than A by more than a share or a time, otherwise
          with 0: slower, slower:5% or slower:200ms
        """

    def explain(
        self,
        *,
        metric: str | int | float | None = None,
        process: str | int | float | None = None,
        from_mark: str | int | float | None = None,
        to_mark: str | int | float | None = None,
        group_by: str | int | float | None = None,
        table: Literal["causes", "runs", "change", "not-recorded", "effects", "groups"] | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""What goes with the slow ones of many runs, and which cannot be compared

        metric: Metric of a run: duration, process-cpu, mark-to-mark, or SQL that gives a trace_id
          and one number (ms) for each run
        process: The process that is measured (*, ?, several with ;, ! excludes)
        from_mark: With --metric mark-to-mark: the first mark with this text starts a run (*, ?)
        to_mark: With --metric mark-to-mark: the next mark after it with this text ends the run (*,
          ?)
        group_by: Also compare the runs with different values of one or two labels (NAME;NAME)
        table: Only this table
        """

    def trend(
        self,
        *,
        rule: str | int | float | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        r"""How often each rule found something in many runs

        rule: Only these rules (*, ?, several with ;, ! excludes)
        """
