-- Functions of etwkit as macros of DuckDB. Names that start with etwkit_ are parts of others.
CREATE OR REPLACE MACRO ms(ns) AS ns::DOUBLE / 1e6;
CREATE OR REPLACE MACRO us(ns) AS ns::DOUBLE / 1e3;
CREATE OR REPLACE MACRO seconds(ns) AS ns::DOUBLE / 1e9;
-- The built-in function of this name has capital letters and no prefix.
CREATE OR REPLACE MACRO etwkit_hex(number) AS '0x' || lower(to_hex(number::BIGINT));
-- A number without its fraction, or a text as a whole number: DuckDB rounds where etwkit cuts off.
CREATE OR REPLACE MACRO etwkit_whole(value) AS
  CASE WHEN typeof(value) IN ('DOUBLE', 'FLOAT') THEN trunc(value::DOUBLE)::BIGINT ELSE value::BIGINT END;
-- The one type that questions ask for is text.
CREATE OR REPLACE MACRO arrow_cast(value, type_name) AS
  CASE WHEN type_name = 'Utf8' THEN value::VARCHAR ELSE error('arrow_cast knows only Utf8 here') END;
CREATE OR REPLACE MACRO utc_time(start_filetime, ns) AS
  strftime(make_timestamp(((start_filetime - 116444736000000000) * 100 + ns) // 1000), '%Y-%m-%d %H:%M:%S.%f');
CREATE OR REPLACE MACRO local_time(start_filetime, bias_minutes, ns) AS
  utc_time(start_filetime - coalesce(bias_minutes, 0)::BIGINT * 600000000, ns);
-- The first two groups of a pattern; an empty group takes the place of one that it lacks.
CREATE OR REPLACE MACRO regexp_match(text, pattern) AS
  CASE WHEN regexp_matches(text, pattern)
    THEN [regexp_extract(text, '(?:' || pattern || ')()()', 1), regexp_extract(text, '(?:' || pattern || ')()()', 2)] END,
(text, pattern, flags) AS
  CASE WHEN regexp_matches(text, pattern, flags)
    THEN [regexp_extract(text, '(?:' || pattern || ')()()', 1, flags), regexp_extract(text, '(?:' || pattern || ')()()', 2, flags)] END;
CREATE OR REPLACE MACRO registry_key_name(key) AS
  CASE
    WHEN regexp_matches(key, '^\\REGISTRY\\MACHINE(\\|$)', 'i') THEN 'HKLM' || substr(key, 18)
    WHEN regexp_matches(key, '^\\REGISTRY\\USER(\\|$)', 'i') THEN 'HKU' || substr(key, 15)
    ELSE key
  END;
-- The length of a union: from the first start to the last end without the gaps. In sorted lists of starts and ends a gap
-- is where the next start comes after the end at its place: all intervals that have started have ended there.
CREATE OR REPLACE MACRO union_duration(start_ns, end_ns) AS
  (max(end_ns) FILTER (WHERE start_ns <= end_ns) - min(start_ns) FILTER (WHERE start_ns <= end_ns)
    - list_sum(
      list_transform(
        list_zip(
          list_sort(list(start_ns) FILTER (WHERE start_ns <= end_ns))[2:],
          list_sort(list(end_ns) FILTER (WHERE start_ns <= end_ns))),
        lambda pair: greatest(0, pair[1] - pair[2]))))::BIGINT;
-- Parts of a filter between its `;`: those that exclude, or the others.
CREATE OR REPLACE MACRO etwkit_trim(text) AS regexp_replace(text, '^\s+|\s+$', '', 'g');
CREATE OR REPLACE MACRO etwkit_parts(filter, excluding) AS
  list_filter(
    list_transform(
      list_filter(list_transform(string_split(filter, ';'), lambda part: etwkit_trim(part)), lambda part: starts_with(part, '!') = excluding),
      lambda part: CASE WHEN excluding THEN etwkit_trim(part[2:]) ELSE part END),
    lambda part: part <> '');
-- A pattern with `*` and `?` as a regular expression.
CREATE OR REPLACE MACRO etwkit_regex(pattern) AS
  replace(replace(regexp_replace(lower(pattern), '([.^$+(){}|\[\]\\])', '\\\1', 'g'), '*', '.*'), '?', '.');
CREATE OR REPLACE MACRO etwkit_matches(text, patterns) AS
  regexp_matches(lower(replace(text, chr(13) || chr(10), chr(10))),
    '(?s:\A(?:' || array_to_string(patterns, '|') || ')\z)|(?m:^(?:' || array_to_string(patterns, '|') || ')$)');
CREATE OR REPLACE MACRO etwkit_regexes(filter, excluding) AS
  list_transform(etwkit_parts(filter, excluding), lambda part: etwkit_regex(part));
CREATE OR REPLACE MACRO wildcard_match(text, pattern) AS
  (len(etwkit_parts(pattern, false)) = 0 OR etwkit_matches(coalesce(text, ''), etwkit_regexes(pattern, false)))
  AND (len(etwkit_parts(pattern, true)) = 0 OR NOT etwkit_matches(coalesce(text, ''), etwkit_regexes(pattern, true)));
-- The process ID that a part means: a number, or a process without a name as answers print it, `? (1234)`.
CREATE OR REPLACE MACRO etwkit_pid(part) AS
  coalesce(
    try_cast(CASE WHEN regexp_full_match(part, '[+-]?[0-9]+') THEN part END AS BIGINT),
    try_cast(nullif(regexp_extract(part, '^\?\s*\(([0-9]+)(?:#[0-9]+)?\)(?:$|[ +-])', 1), '') AS BIGINT));
-- A process as answers print it, `cmd.exe (1234) +`, as `cmd.exe(1234)`; other parts stay.
CREATE OR REPLACE MACRO etwkit_unprinted(part) AS
  regexp_replace(part, '^(.*?)\s*\(([0-9]+)(?:#[0-9]+)?\)(?:$|[ +-].*$)', '\1(\2)');
CREATE OR REPLACE MACRO etwkit_names(parts) AS
  list_transform(
    list_filter(list_concat(parts, list_transform(parts, lambda part: etwkit_unprinted(part))), lambda part: etwkit_pid(part) IS NULL),
    lambda part: etwkit_regex(part));
-- The spellings of a process, one a line.
CREATE OR REPLACE MACRO etwkit_spellings(name, pid) AS
  concat_ws(chr(10), lower(name), regexp_replace(lower(name), '\.exe$', ''),
    lower(name) || '(' || (pid::BIGINT & 4294967295) || ')',
    regexp_replace(lower(name), '\.exe$', '') || '(' || (pid::BIGINT & 4294967295) || ')');
CREATE OR REPLACE MACRO etwkit_is_process(name, pid, parts) AS
  len(list_filter(parts, lambda part: regexp_full_match(part, '\*+'))) > 0
  OR coalesce(list_contains(list_transform(parts, lambda part: etwkit_pid(part)), pid::BIGINT), false)
  OR coalesce(list_contains(list_transform(parts, lambda part: etwkit_pid(part)), pid::BIGINT & 4294967295), false)
  OR (len(etwkit_names(parts)) > 0 AND name IS NOT NULL
    AND regexp_matches(etwkit_spellings(name, pid), '(?m:^(?:' || array_to_string(etwkit_names(parts), '|') || ')$)'));
CREATE OR REPLACE MACRO process_match(name, pid, pattern) AS
  (len(etwkit_parts(pattern, false)) = 0 OR etwkit_is_process(name, pid, etwkit_parts(pattern, false)))
  AND (len(etwkit_parts(pattern, true)) = 0 OR NOT etwkit_is_process(name, pid, etwkit_parts(pattern, true)));

-- Tables that etwkit computes.
CREATE OR REPLACE VIEW process_recorded AS SELECT * FROM process;
CREATE OR REPLACE VIEW etwkit_frame AS
  SELECT f.frame_id, n.name AS method,
    CASE
      WHEN n.name IS NOT NULL THEN coalesce(m.name, o.name, '?') || '!' || n.name
      WHEN m.name IS NOT NULL THEN m.name || '+0x' || lower(to_hex(coalesce(f.rva, 0)))
      ELSE '?!0x' || lower(to_hex(f.address))
    END AS text,
    -- Equal for frames of one method: a named one, the code at an offset of a file, or an address.
    CASE
      WHEN f.method_id >= 0 THEN 'method ' || f.method_id
      WHEN m.path IS NOT NULL THEN lower(m.path) || ' ' || coalesce(f.rva, 0)
      ELSE 'address ' || f.address
    END AS identity
  FROM frame f
  LEFT JOIN module m ON m.module_id = f.module_id
  LEFT JOIN method n ON n.method_id = f.method_id
  LEFT JOIN module o ON o.module_id = n.module_id;
CREATE OR REPLACE VIEW etwkit_stack_frame AS
  WITH RECURSIVE unrolled AS (
    SELECT trace_id, run_id, stack_id, parent_id, frame_id, 0 AS depth FROM stack
    UNION ALL
    SELECT u.trace_id, u.run_id, u.stack_id, s.parent_id, s.frame_id, u.depth + 1
    FROM unrolled u JOIN stack s ON s.stack_id = u.parent_id
    WHERE u.depth < 4095
  )
  SELECT trace_id, run_id, stack_id, frame_id, depth FROM unrolled;
CREATE OR REPLACE VIEW stack_frame AS
  SELECT s.trace_id, s.run_id, s.stack_id, s.frame_id, s.depth,
    row_number() OVER (PARTITION BY s.stack_id, f.identity ORDER BY s.depth) = 1 AS first
  FROM etwkit_stack_frame s JOIN etwkit_frame f ON f.frame_id = s.frame_id;
CREATE OR REPLACE VIEW stack_text AS
  SELECT s.trace_id, s.run_id, s.stack_id, string_agg(f.text, chr(10) ORDER BY s.depth) AS text
  FROM etwkit_stack_frame s JOIN etwkit_frame f ON f.frame_id = s.frame_id
  GROUP BY s.trace_id, s.run_id, s.stack_id;
-- A stack has the frames of its callers: from each matching frame outwards to the stacks that start there.
CREATE OR REPLACE MACRO stack_contains(stack, pattern) AS
  CASE WHEN stack IS NOT NULL THEN stack IN (
    WITH RECURSIVE matching AS (
      SELECT s.stack_id
      FROM stack s JOIN etwkit_frame f ON f.frame_id = s.frame_id
      WHERE wildcard_match(f.text, pattern) OR (f.method IS NOT NULL AND wildcard_match(f.method, pattern))
      UNION
      SELECT s.stack_id FROM stack s JOIN matching m ON s.parent_id = m.stack_id
    )
    SELECT stack_id FROM matching)
  END;
