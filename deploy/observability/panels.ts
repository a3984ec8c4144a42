// What the dashboards ask: three questions of an operator, each with its panels. The JSON for Grafana is made from this list.

/** How a value is to be read, in Grafana's own names for units. */
export type Unit = 's' | 'bytes' | 'short' | 'percentunit' | 'reqps' | 'cps' | 'dateTimeFromNow'

export type Panel = {
  title: string
  /** What it shows, and what to do when it looks wrong. */
  says: string
  kind: 'lines' | 'number' | 'table'
  unit: Unit
  /** What is drawn: the query, and the name of its lines. $interval is the stretch over which a rate is taken. */
  asks: readonly { query: string; legend: string }[]
  /** From which value on a number is yellow, and red. */
  alarming?: { warn: number; wrong: number }
}

export type Dashboard = { uid: string; title: string; about: string; panels: readonly Panel[] }

const ask = (query: string, legend = '') => ({ query, legend })
/** Quantiles of a histogram, all of its series together. */
const quantiles = (histogram: string, selector = '') =>
  [0.5, 0.95, 0.99].map((q) =>
    ask(`histogram_quantile(${q}, sum by (le) (rate(${histogram}_bucket${selector}[$interval])))`, `p${q * 100}`),
  )
const mean = (histogram: string, by: string) =>
  `sum by (${by}) (rate(${histogram}_sum[$interval])) / sum by (${by}) (rate(${histogram}_count[$interval]))`
const uploads = '{route=~"/v1/data/.*|/user-interactions",method="POST"}'

const well: Dashboard = {
  uid: 'weir-well',
  title: 'Weir: is it well?',
  about: 'Accepted, refused, waiting, how long it takes, how fresh the tables are, and what ends soon.',
  panels: [
    {
      title: 'Processes that answer',
      says: 'How many processes of each service gave their figures. Fewer than you run: `weir status` names the one that does not answer.',
      ...{ kind: 'number', unit: 'short' },
      asks: [ask('count by (service) (process_start_time_seconds{service=~"edge|integrity|sink"})', '{{service}}')],
    },
    {
      title: 'Accepted a second',
      says: 'Records that were accepted. None, although uploads come: look at "Answers by status" and "Not taken".',
      ...{ kind: 'number', unit: 'cps' },
      asks: [ask('sum(rate(weir_edge_records_total{outcome="accepted"}[$interval]))')],
    },
    {
      title: 'Refused, of all records',
      says: 'A share that jumps means that a sender changed something, or that what records refer to is missing: `weir rejected list --since 1h`.',
      ...{ kind: 'number', unit: 'percentunit', alarming: { warn: 0.05, wrong: 0.5 } },
      asks: [
        ask(
          'sum(rate(weir_edge_records_total{outcome="refused"}[$interval])) / sum(rate(weir_edge_records_total{outcome=~"accepted|refused"}[$interval]))',
        ),
      ],
    },
    {
      title: 'Oldest undecided',
      says: 'How long the oldest batch has been without a verdict. Growing: integrity, Postgres or Kafka is away or slow; `weir status` says which.',
      ...{ kind: 'number', unit: 's', alarming: { warn: 5, wrong: 30 } },
      asks: [ask('max(weir_edge_oldest_undecided_seconds)')],
    },
    {
      title: 'Oldest unwritten',
      says: 'How long the oldest event has waited for its row in ClickHouse. Growing: the sink or ClickHouse is away or slow; `/readyz` of the sink says why.',
      ...{ kind: 'number', unit: 's', alarming: { warn: 60, wrong: 600 } },
      asks: [ask('max(weir_sink_oldest_unwritten_seconds) or vector(0)')],
    },
    {
      title: 'Differences found by verify',
      says: 'What `weir verify` found when it last compared everything, and did not mend. Not 0: run it again, and do what it says.',
      ...{ kind: 'number', unit: 'short', alarming: { warn: 1, wrong: 1 } },
      asks: [ask('max(weir_edge_verify_differences)')],
    },
    {
      title: 'Records by outcome',
      says: 'What became of the records that were sent. "unknown" are those whose verdict did not come in time: retrying them is safe.',
      ...{ kind: 'lines', unit: 'cps' },
      asks: [ask('sum by (outcome) (rate(weir_edge_records_total[$interval]))', '{{outcome}}')],
    },
    {
      title: 'Answers by status',
      says: '500: a part is away or slow (`weir status`). 503: more is sent than is decided. 429: a key sends more than it may. 401 and 403: keys.',
      ...{ kind: 'lines', unit: 'reqps' },
      asks: [ask('sum by (status) (rate(weir_edge_requests_total[$interval]))', '{{status}}')],
    },
    {
      title: 'Time to answer an upload',
      says: 'From the request to its answer. Slow while "Time to a verdict" is not: the edge is busy; look at its CPU and event loop.',
      ...{ kind: 'lines', unit: 's' },
      asks: quantiles('weir_edge_request_seconds', uploads),
    },
    {
      title: 'Time to a verdict',
      says: 'From the submission of a batch to the publication of its verdict. Slow: integrity or Postgres; see "Where is it slow?".',
      ...{ kind: 'lines', unit: 's' },
      asks: quantiles('weir_integrity_verdict_latency_seconds'),
    },
    {
      title: 'Freshness of the tables',
      says: 'From the publication of an event to its row in ClickHouse. A few seconds are normal: the sink gathers rows for large inserts.',
      ...{ kind: 'lines', unit: 's' },
      asks: quantiles('weir_sink_write_delay_seconds'),
    },
    {
      title: 'Not taken',
      says: 'Requests answered 503 by the reason, and 429 by the limit that they met. What each reason means: docs/operations.md, "Limits and overload".',
      ...{ kind: 'lines', unit: 'reqps' },
      asks: [
        ask('sum by (reason) (rate(weir_edge_shed_total[$interval]))', '503: {{reason}}'),
        ask('sum by (limit) (rate(weir_edge_rate_limited_total[$interval]))', '429: {{limit}}'),
      ],
    },
    {
      title: 'Waiting for what they refer to',
      says: 'Records that wait for one that is not there yet. Growing for hours: an upload is stuck; `weir waiting list` names what is missing.',
      ...{ kind: 'lines', unit: 'short' },
      asks: [ask('max(weir_integrity_waiting_records)', 'records')],
    },
    {
      title: 'The longest wait',
      says: 'How long the oldest of them has waited. When its time is up it is refused.',
      ...{ kind: 'lines', unit: 's' },
      asks: [ask('max(weir_integrity_waiting_oldest_seconds)', 'oldest')],
    },
    {
      title: 'Set aside in an hour',
      says: 'Messages that could not be read. Any: a stranger writes to a topic, or a message is damaged; `weir rejected list --code undecodable`.',
      ...{ kind: 'lines', unit: 'short' },
      asks: [
        ask('sum(increase(weir_integrity_set_aside_total[1h]))', 'before the decision'),
        ask('sum(increase(weir_sink_set_aside_total[1h]))', 'after it'),
      ],
    },
    {
      title: 'Free on the disks of ClickHouse',
      says: 'The share that is free. Below a tenth: make room, or shorten the retention. The disks of Kafka and Postgres have to be watched on their own machines.',
      ...{ kind: 'lines', unit: 'percentunit' },
      asks: [ask('min(weir_edge_storage_free_bytes / weir_edge_storage_size_bytes)', 'free')],
    },
    {
      title: 'What the data takes',
      says: 'Bytes in Postgres and ClickHouse. What grows in Postgres, and what to do about it: docs/operations.md, "Retention".',
      ...{ kind: 'lines', unit: 'bytes' },
      asks: [ask('max by (part) (weir_edge_storage_used_bytes)', '{{part}}')],
    },
    {
      title: 'Until the certificate ends',
      says: "Of the edge's own TLS certificate; nothing where the edge has none. New files are taken within a second.",
      ...{ kind: 'number', unit: 's' },
      asks: [ask('min(weir_edge_certificate_expires_timestamp_seconds > 0) - time()')],
    },
    {
      title: 'Keys that end within a week',
      says: 'Keys in use. Their uploaders will be answered 401: `weir status` names the first ones, `weir keys rotate` gives new ones.',
      ...{ kind: 'number', unit: 'short', alarming: { warn: 1, wrong: 1_000 } },
      asks: [ask('max(weir_edge_keys_ending)')],
    },
    {
      title: 'Since everything was verified',
      says: 'How long ago `weir verify` last compared everything; nothing where it never did. Once a day is a good habit.',
      ...{ kind: 'number', unit: 's' },
      asks: [ask('time() - max(weir_edge_verified_timestamp_seconds > 0)')],
    },
    {
      title: 'Partitions of which Postgres forgot decisions',
      says: 'Not 0: Postgres went back to an earlier state. Stop integrity and read docs/runbook.md, "Postgres went back".',
      ...{ kind: 'number', unit: 'short', alarming: { warn: 1, wrong: 1 } },
      asks: [ask('max(weir_integrity_postgres_behind)')],
    },
  ],
}

const slow: Dashboard = {
  uid: 'weir-slow',
  title: 'Weir: where is it slow?',
  about: 'Lag by stage, the CPU that a record costs, and the sizes of fetches and inserts.',
  panels: [
    {
      title: 'Batches that wait to be decided',
      says: 'By topic. Growing everywhere: integrity or Postgres cannot keep up, see "CPU by service". In one topic: look at the oldest partitions below.',
      ...{ kind: 'lines', unit: 'short' },
      asks: [ask('sum by (topic) (weir_integrity_consumer_lag)', '{{topic}}')],
    },
    {
      title: 'Events that wait to be written',
      says: 'By topic. Growing: ClickHouse or the sink cannot keep up. Larger inserts cost less a row: SINK_GATHER_BYTES, SINK_GATHER_MS.',
      ...{ kind: 'lines', unit: 'short' },
      asks: [ask('sum by (topic) (weir_sink_consumer_lag)', '{{topic}}')],
    },
    {
      title: 'Oldest, by stage',
      says: 'How long the oldest has waited to be decided, and to be written. The stage that grows is the slow one.',
      ...{ kind: 'lines', unit: 's' },
      asks: [
        ask('max(weir_integrity_oldest_undecided_seconds) or vector(0)', 'to be decided'),
        ask('max(weir_sink_oldest_unwritten_seconds) or vector(0)', 'to be written'),
      ],
    },
    {
      title: 'The partitions that wait longest',
      says: 'The ten worst of each stage. One that only grows stands still: `/readyz` of that service names it and says why.',
      ...{ kind: 'table', unit: 's' },
      asks: [
        ask('topk(10, max by (topic, partition) (weir_integrity_oldest_undecided_seconds))'),
        ask('topk(10, max by (topic, partition) (weir_sink_oldest_unwritten_seconds))'),
      ],
    },
    {
      title: 'CPU a record',
      says: 'Seconds of CPU that a service spends on a record, as docs/performance.md measures them. Rising with few records is normal: smaller batches cost more a record.',
      ...{ kind: 'lines', unit: 's' },
      asks: [
        ask(
          'sum(rate(process_cpu_seconds_total{service="edge"}[$interval])) / sum(rate(weir_edge_records_total[$interval]))',
          'edge',
        ),
        ask(
          'sum(rate(process_cpu_seconds_total{service="integrity"}[$interval])) / sum(rate(weir_integrity_records_total[$interval]))',
          'integrity',
        ),
        ask(
          'sum(rate(process_cpu_seconds_total{service="sink"}[$interval])) / sum(rate(weir_sink_insert_rows_sum[$interval]))',
          'sink',
        ),
      ],
    },
    {
      title: 'CPU by service',
      says: 'Cores in use. A process uses little more than one: near that, start another one, as far as there are partitions.',
      ...{ kind: 'lines', unit: 'short' },
      asks: [ask('sum by (service) (rate(process_cpu_seconds_total[$interval]))', '{{service}}')],
    },
    {
      title: 'Batches a fetch',
      says: 'What one fetch brings integrity of a partition: larger under load, when one transaction decides many batches.',
      ...{ kind: 'lines', unit: 'short' },
      asks: [
        ask(
          'sum(rate(weir_integrity_fetch_batches_sum[$interval])) / sum(rate(weir_integrity_fetch_batches_count[$interval]))',
          'batches',
        ),
      ],
    },
    {
      title: 'Events a fetch',
      says: 'What one fetch brings the sink of a partition.',
      ...{ kind: 'lines', unit: 'short' },
      asks: [
        ask(
          'sum(rate(weir_sink_fetch_events_sum[$interval])) / sum(rate(weir_sink_fetch_events_count[$interval]))',
          'events',
        ),
      ],
    },
    {
      title: 'Rows an insert',
      says: 'By table. ClickHouse takes 9 µs for a row in blocks of 2000 rows and 3 µs in blocks of 20 000; many small inserts slow down its merges.',
      ...{ kind: 'lines', unit: 'short' },
      asks: [ask(mean('weir_sink_insert_rows', 'table'), '{{table}}')],
    },
    {
      title: 'Time of an insert',
      says: 'By table. Slow inserts of few rows: ClickHouse is busy or its disk is slow.',
      ...{ kind: 'lines', unit: 's' },
      asks: [ask(mean('weir_sink_insert_seconds', 'table'), '{{table}}')],
    },
    {
      title: 'Inserts that failed',
      says: 'They are tried again until they succeed; nothing is lost. `/readyz` of the sink says why they fail.',
      ...{ kind: 'lines', unit: 'cps' },
      asks: [ask('sum by (topic) (rate(weir_sink_insert_failures_total[$interval]))', '{{topic}}')],
    },
    {
      title: 'Rows written a second',
      says: 'By table.',
      ...{ kind: 'lines', unit: 'cps' },
      asks: [ask('sum by (table) (rate(weir_sink_insert_rows_sum[$interval]))', '{{table}}')],
    },
    {
      title: 'In flight in the edges',
      says: 'Batches whose verdict is waited for. Near MAX_BATCHES_IN_FLIGHT uploads are answered 503.',
      ...{ kind: 'lines', unit: 'short' },
      asks: [ask('sum(weir_edge_batches_in_flight)', 'batches')],
    },
    {
      title: 'Bytes in flight in the edges',
      says: 'Bodies that were let in and not answered yet. Near MAX_BYTES_IN_FLIGHT of each edge: another edge, or more memory.',
      ...{ kind: 'lines', unit: 'bytes' },
      asks: [ask('sum(weir_edge_bytes_in_flight)', 'bytes')],
    },
    {
      title: 'Event loop, the slowest hundredth',
      says: 'How late a process comes to its work; 0.1 s is a process at rest. Above 0.3 s it has too much to do at once.',
      ...{ kind: 'lines', unit: 's' },
      asks: [ask('max by (service) (nodejs_eventloop_lag_p99_seconds)', '{{service}}')],
    },
    {
      title: 'Memory by service',
      says: 'Of the largest process of each service.',
      ...{ kind: 'lines', unit: 'bytes' },
      asks: [ask('max by (service) (process_resident_memory_bytes)', '{{service}}')],
    },
    {
      title: 'Batches published',
      says: 'Decided, or published again after a restart or a rebalance. Many repeats without a restart: integrity loses its partitions again and again.',
      ...{ kind: 'lines', unit: 'cps' },
      asks: [ask('sum by (kind) (rate(weir_integrity_batches_total[$interval]))', '{{kind}}')],
    },
    {
      title: 'Interactions that share an event',
      says: 'How many interactions the edge gathers into one event: 1 while they are few.',
      ...{ kind: 'lines', unit: 'short' },
      asks: [
        ask(
          'sum(rate(weir_edge_gathered_interactions_sum[$interval])) / sum(rate(weir_edge_gathered_interactions_count[$interval]))',
          'interactions',
        ),
      ],
    },
  ],
}

const users: Dashboard = {
  uid: 'weir-users',
  title: 'Weir: who uses it?',
  about:
    'By organisation, the busiest ones by name and all others together, so that ten thousand organisations are as few lines as twenty.',
  panels: [
    {
      title: 'Accepted by organisation',
      says: 'The twenty that send the most. "(other)" are all that have no figure of their own. Empty: Prometheus reads the edge alone, which hides the names of organisations; let it read integrity, as deploy/prometheus/prometheus.yml does.',
      ...{ kind: 'lines', unit: 'cps' },
      asks: [
        ask(
          'topk(20, sum by (org) (rate(weir_integrity_org_records_total{outcome="accepted"}[$interval])))',
          '{{org}}',
        ),
      ],
    },
    {
      title: 'Refused by organisation',
      says: 'The twenty of which the most is refused. `weir rejected list --org` shows why; the organisation sees the same on its console.',
      ...{ kind: 'lines', unit: 'cps' },
      asks: [
        ask('topk(20, sum by (org) (rate(weir_integrity_org_records_total{outcome="refused"}[$interval])))', '{{org}}'),
      ],
    },
    {
      title: 'Records in the last 24 hours, by organisation',
      says: 'Accepted, refused and waiting, of the busiest. For all organisations: "Organisations" on the console.',
      ...{ kind: 'table', unit: 'short' },
      asks: [ask('topk(50, sum by (org, outcome) (increase(weir_integrity_org_records_total[24h])))')],
    },
    {
      title: 'Records by type',
      says: 'What is sent, whoever sends it.',
      ...{ kind: 'lines', unit: 'cps' },
      asks: [ask('sum by (type) (rate(weir_integrity_records_total[$interval]))', '{{type}}')],
    },
    {
      title: 'Refused by type',
      says: 'One type alone: a sender of it changed something. Types that refer to others: what they refer to is missing.',
      ...{ kind: 'lines', unit: 'cps' },
      asks: [ask('sum by (type) (rate(weir_integrity_records_total{outcome="refused"}[$interval]))', '{{type}}')],
    },
    {
      title: 'Requests by route',
      says: 'What is called how often.',
      ...{ kind: 'lines', unit: 'reqps' },
      asks: [ask('sum by (route) (rate(weir_edge_requests_total[$interval]))', '{{route}}')],
    },
    {
      title: 'Requests that met a limit',
      says: 'By the limit of the key that was met. Who met them is on the console under "Organisations"; `weir orgs limits` changes them.',
      ...{ kind: 'lines', unit: 'reqps' },
      asks: [ask('sum by (limit) (rate(weir_edge_rate_limited_total[$interval]))', '{{limit}}')],
    },
    {
      title: 'Records a request',
      says: 'Small requests cost more a record, in every service and in Postgres. Uploaders that send one record at a time should send more.',
      ...{ kind: 'lines', unit: 'short' },
      asks: [
        ask(
          'sum(rate(weir_edge_records_total{type!="interactions"}[$interval])) / sum(rate(weir_edge_requests_total{route=~"/v1/data/.*",method="POST"}[$interval]))',
          'records',
        ),
      ],
    },
  ],
}

export const dashboards: readonly Dashboard[] = [well, slow, users]
