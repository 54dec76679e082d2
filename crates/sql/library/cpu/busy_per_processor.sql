-- Sampled CPU of each processor: busy, of that DPCs and interrupts, and idle.
SELECT /*+ s.trace_id, */ s.cpu, sum(CASE WHEN s.is_idle THEN 0 ELSE s.weight_ns END) AS busy_ns,
       sum(CASE WHEN s.is_dpc_isr AND NOT s.is_idle THEN s.weight_ns ELSE 0 END) AS dpc_isr_ns,
       sum(CASE WHEN s.is_idle THEN s.weight_ns ELSE 0 END) AS idle_ns, count(*) AS samples
FROM cpu_sample s
GROUP BY /*+ s.trace_id, */ s.cpu
ORDER BY /*+ s.trace_id, */ s.cpu
