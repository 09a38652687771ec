/** Grafana's dashboard of the daemon's metrics, as JSON with one panel per line. */

interface Query {
  expr: string
  /** Legend of each series; default: all labels of the series. */
  legend?: string
}

type PanelOf = [title: string, unit: string, ...queries: Query[]]

const by = (expr: string, legend: string): Query => ({ expr, legend })

/** Rows of panels; the panels of a row share its width. */
const ROWS: Record<string, PanelOf[]> = {
  'What is wrong': [
    [
      'Alarms that fire',
      'none',
      by(
        'ALERTS{alertname=~"Clusterd.+",alertstate="firing"}',
        '{{alertname}} {{chain}} {{network}} {{kind}}',
      ),
    ],
    ['Leaders', 'none', by('max by (network, role) (clusterd_leader)', '{{network}} {{role}}')],
    [
      'Problems, and first catch-ups',
      'none',
      by(
        'max by (alarm, network, chain, subject) (clusterd_alarm)',
        '{{alarm}} {{network}} {{chain}} {{subject}}',
      ),
      by(
        'max by (network, chain) (1 - clusterd_chain_caught_up) > 0',
        '{{network}} {{chain}}, first catch-up',
      ),
    ],
  ],
  Chains: [
    [
      'Age of the head',
      's',
      by('max by (network, chain) (clusterd_chain_head_age_seconds)', '{{network}} {{chain}}'),
      by(
        'max by (network, chain) (clusterd_chain_finality_age_seconds)',
        '{{network}} {{chain}}, finalized',
      ),
    ],
    [
      'Blocks to be read, and to be confirmed',
      'none',
      by(
        'max by (network, chain) (clusterd_chain_head_block - clusterd_chain_confirmed_block)',
        '{{network}} {{chain}}, to be confirmed',
      ),
      by(
        'max by (network, chain) (clusterd_chain_head_block - clusterd_chain_next_block + 1)',
        '{{network}} {{chain}}',
      ),
    ],
    [
      'What the indexer does in a minute',
      's',
      by(
        'max by (network, chain, stage) (clusterd_chain_stage_seconds)',
        '{{network}} {{chain}} {{stage}}',
      ),
    ],
    [
      'Journal entries a second',
      'ops',
      by('sum by (network) (rate(clusterd_journal_entries_total[5m]))', '{{network}}'),
    ],
  ],
  'Trust and faults': [
    [
      'Nodes that agree on what is confirmed',
      'none',
      by(
        'max by (network, chain, trust) (clusterd_chain_trust)',
        '{{network}} {{chain}} {{trust}}',
      ),
    ],
    [
      'Errors of our own code in 15 minutes',
      'none',
      by(
        'sum by (loop, network, chain) (increase(clusterd_own_errors_total[15m])) > 0',
        '{{loop}} {{network}} {{chain}}',
      ),
    ],
    [
      'Share of requests that failed by our fault',
      'percentunit',
      by('max by (method, route) (clusterd_http_failed_ratio) > 0', '{{method}} {{route}}'),
    ],
    [
      'Failed turns of a loop in a row',
      'none',
      by(
        'max by (loop, network, chain) (clusterd_step_failures) > 0',
        '{{loop}} {{network}} {{chain}}',
      ),
    ],
  ],
  Outbox: [
    [
      'Jobs',
      'none',
      by(
        'max by (network, kind, state) (clusterd_outbox_jobs) > 0',
        '{{network}} {{kind}} {{state}}',
      ),
    ],
    [
      'Oldest job',
      's',
      by(
        'max by (network, kind, state) (clusterd_outbox_oldest_seconds) > 0',
        '{{network}} {{kind}} {{state}}',
      ),
    ],
    ['Stuck packets', 'none', by('max by (network) (clusterd_stuck_packets)', 'stuck {{network}}')],
  ],
  Money: [
    [
      'Balance, in the coin of the chain',
      'none',
      by('max by (network, chain) (clusterd_relayer_balance_wei) / 1e18', '{{network}} {{chain}}'),
      by('max by (network) (clusterd_relay_authority_lamports) / 1e9', '{{network}} SOL'),
    ],
    [
      'Lasts',
      's',
      by('max by (network, chain) (clusterd_relayer_runway_seconds)', '{{network}} {{chain}}'),
    ],
    [
      'Signed today',
      'none',
      by(
        'max by (network, chain) (clusterd_relayer_signed_today_wei) / 1e18',
        '{{network}} {{chain}}',
      ),
    ],
  ],
  API: [
    [
      'Requests a second, by status',
      'reqps',
      by('sum by (status) (rate(clusterd_http_request_seconds_count[5m]))', '{{status}}'),
    ],
    [
      'Time of 99 % of the requests',
      's',
      by(
        'histogram_quantile(0.99, sum by (le, route) (rate(clusterd_http_request_seconds_bucket[5m])))',
        '{{route}}',
      ),
    ],
    [
      'Limited; waiting changes and streams',
      'none',
      by('sum by (limit) (rate(clusterd_http_limited_total[5m]))', 'limited a second: {{limit}}'),
      by('sum(clusterd_changes_waiting)', 'changes that wait'),
      by('sum by (kind) (clusterd_http_staying)', '{{kind}}'),
    ],
  ],
  'Nodes and database': [
    [
      'Errors of RPC nodes a second',
      'ops',
      by('sum by (chain, host) (rate(clusterd_rpc_errors[5m]))', '{{chain}} {{host}}'),
    ],
    [
      'Latency of RPC nodes',
      's',
      by('max by (chain, use, host) (clusterd_rpc_latency_seconds)', '{{chain}} {{use}} {{host}}'),
    ],
    [
      'Connections that are waited for',
      'none',
      by('max by (pool) (clusterd_database_connections{state="waiting"})', '{{pool}}'),
    ],
  ],
  Processes: [
    ['Memory', 'bytes', by('process_resident_memory_bytes', '{{instance}}')],
    ['Processor', 'percentunit', by('rate(process_cpu_seconds_total[5m])', '{{instance}}')],
    [
      'Time since a loop turned',
      's',
      by(
        'max by (loop, network, chain) (clusterd_step_age_seconds)',
        '{{loop}} {{network}} {{chain}}',
      ),
    ],
  ],
}

const WIDTH = 24
const HEIGHT = 8
// `${datasource}` is a variable of Grafana, so it is not a template literal here
const DATASOURCE = { type: 'prometheus', uid: '$' + '{datasource}' }

function panels(): object[] {
  let id = 0
  let y = 0
  return Object.entries(ROWS).flatMap(([title, row]) => {
    const head = {
      id: ++id,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { h: 1, w: WIDTH, x: 0, y: y++ },
    }
    const w = WIDTH / row.length
    const drawn = row.map(([name, unit, ...queries], i) => ({
      id: ++id,
      type: 'timeseries',
      title: name,
      datasource: DATASOURCE,
      gridPos: { h: HEIGHT, w, x: i * w, y },
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      targets: queries.map(({ expr, legend }, at) => ({
        refId: String.fromCharCode(65 + at),
        expr,
        datasource: DATASOURCE,
        legendFormat: legend ?? '__auto',
      })),
    }))
    y += HEIGHT
    return [head, ...drawn]
  })
}

/** Content of the dashboard's file, which Grafana 10 or later imports. */
export function dashboardJson(): string {
  const variable = {
    name: 'datasource',
    label: 'Data source',
    type: 'datasource',
    query: 'prometheus',
  }
  const about = {
    uid: 'clusterd',
    title: 'clusterd',
    tags: ['clusterd'],
    schemaVersion: 39,
    refresh: '30s',
  }
  const rest = { time: { from: 'now-6h', to: 'now' }, templating: { list: [variable] } }
  const lines = panels().map((panel) => `    ${JSON.stringify(panel)}`)
  const settings = JSON.stringify({ ...about, ...rest }).slice(1, -1)
  return `{\n  ${settings},\n  "panels": [\n${lines.join(',\n')}\n  ]\n}\n`
}
