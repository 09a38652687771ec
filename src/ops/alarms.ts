/** An alarm: when it fires, what it means and what an operator does about it. */
export interface Alarm {
  /** PromQL over the metrics of all processes. */
  expr: string
  /** Time for which that has to hold. */
  for?: string
  /** A line; `$labels` and `$value` are Prometheus' own. */
  summary: string
  means: string
  remedy: string
}

/** Time without a turn from which a loop counts as stuck. */
export const LOOP_LIMIT_MS = 120_000
/** Ethereum finalizes in 13 to 20 minutes, and its rollups follow it. */
export const FINALITY_ALARM_MS = 60 * 60_000
/** Age from which a job that waits is an alarm. */
export const OLD_JOB_MS = 3_600_000
export const DAY_MS = 86_400_000
/** A balance that lasts for less is low. */
export const LOW_RUNWAY_MS = 3 * DAY_MS
/** Below this the relay authority's balance is low: fees of 2,000 transactions. */
export const LOW_BALANCE_LAMPORTS = 10_000_000n

/**
 * All alarms, the only place where they are written. Prometheus' rules (examples/prometheus/alerts.yml) and
 * docs/alarms.md are generated from it (`npm run alarms-doc`); the operator's page, `/status` and the log name an alarm
 * and its remedy beside what is wrong.
 */
export const ALARMS = {
  ClusterdNotLed: {
    expr: 'max by (network, role) (clusterd_leader) < 1',
    for: '1m',
    summary: 'Nobody leads {{ $labels.network }} in the role {{ $labels.role }}',
    means:
      "Every process stands by: nothing of that network is indexed, or nothing is sent. Answers are those of the last lead's end.",
    remedy:
      'See that a process with the role runs (`ROLES`), and the log of one that has it: PostgreSQL does not answer, or another process holds the lease (`SELECT * FROM leaders`).',
  },
  ClusterdNotRelayed: {
    expr: 'clusterd_relay_wanted unless on (network) clusterd_leader{role="relay"} == 1',
    for: '5m',
    summary: 'Messages and payments of {{ $labels.network }} are carried by nobody',
    means:
      'No process with a key leads the outbox: payments are neither delivered nor refunded. Payers take theirs back after the time set at deployment.',
    remedy: 'Start a process with the role `relay` and the keys, or leave the rule out where others carry the packets.',
  },
  ClusterdRelayKeyMissing: {
    expr: 'clusterd_relay_missing_keys > 0',
    summary: 'The leader of the outbox of {{ $labels.network }} lacks a key',
    means: 'The process that leads can pay for some jobs only; the others wait.',
    remedy: 'Give it the keys that `/status` names, and start it again.',
  },
  ClusterdChainHalted: {
    expr: 'clusterd_chain_halted > 0',
    summary: 'Chain {{ $labels.chain }} is halted, a confirmed block was replaced',
    means:
      'Two looks over a minute showed another hash for a block that counted as confirmed: a reorg below the confirmation policy, or a node that serves another chain. Nothing of the chain is taken in until an operator has looked.',
    remedy:
      'Compare the block with an explorer. Where the node was wrong: correct `rpcUrls`, then `clusterd journal unhalt --chain <label>`. Where the chain was: `clusterd journal rewind --chain <label>` shows what would change and names the block, with `--block <n> --yes` it does it; then raise `confirmation`.',
  },
  ClusterdHeadStandsStill: {
    expr: 'clusterd_chain_head_age_seconds > on (network, chain) clusterd_chain_head_alarm_seconds',
    summary: 'The newest block of chain {{ $labels.chain }} is {{ $value }} s old',
    means: 'The node is stuck, or the chain is. While it is the hub, no name is sold (503 `catching_up`).',
    remedy:
      'Compare with an explorer; add or change `rpcUrls`. Nothing is lost: the chain is read on from where it stood.',
  },
  ClusterdFinalityStandsStill: {
    expr: `clusterd_chain_finality_age_seconds > ${FINALITY_ALARM_MS / 1_000}`,
    summary: 'The newest finalized block of chain {{ $labels.chain }} is {{ $value }} s old',
    means: 'The chain makes blocks and finalizes none: registrations stay `pending`.',
    remedy:
      "Wait: it is the chain's own trouble. Don't lower `confirmation` meanwhile; blocks are rolled back in such times.",
  },
  ClusterdChainFailing: {
    expr: 'clusterd_chain_failing > 0',
    for: '2m',
    summary: 'Steps of chain {{ $labels.chain }} fail',
    means: 'No RPC URL answers well, or all serve another chain. Its statuses are 503; look-ups go on.',
    remedy: '`/status` has the last error, `clusterd doctor` asks each URL by itself. Add or correct `rpcUrls`.',
  },
  ClusterdChainBehind: {
    expr: 'clusterd_chain_problem > 0',
    for: '10m',
    summary: 'Something has been wrong with chain {{ $labels.chain }} for ten minutes',
    means: 'The chain catches up, lags, or has not answered since the start.',
    remedy:
      '`/status` says which. A first catch-up of a long history takes its time; else see the nodes and their limits on ranges.',
  },
  ClusterdLoopHangs: {
    expr: `clusterd_step_age_seconds > ${LOOP_LIMIT_MS / 1_000}`,
    summary: 'The loop {{ $labels.loop }} has not turned for {{ $value }} s',
    means: 'A step neither ends nor shows a sign of life; `/health` is 503.',
    remedy: 'Restart the process (liveness probes do it by themselves): another takes the lead at once. Keep its log.',
  },
  ClusterdLoopFails: {
    expr: 'clusterd_step_failures > 20',
    summary: 'The loop {{ $labels.loop }} has failed {{ $value }} times in a row',
    means: 'It is tried again with growing pauses, and fails each time in the same way.',
    remedy: '`/status` has the last error: a chain that is away, a full disk, a role without rights.',
  },
  ClusterdPaymentsWait: {
    expr: 'clusterd_payments_wait_seconds > 300',
    summary: 'A payment for a community name of {{ $labels.network }} has waited for {{ $value }} s to be judged',
    means:
      "A chain whose balances the community's rules ask for does not answer. The payer can take the money back once its time is over, so nothing is lost.",
    remedy: 'See the nodes of that chain; the judgement follows by itself.',
  },
  ClusterdJobsParked: {
    expr: 'clusterd_outbox_jobs{state="parked"} > 0',
    summary: 'Jobs of kind {{ $labels.kind }} are parked',
    means:
      'The relayer has set a job aside for a reason that waiting does not mend: its cost is above a cap, its nonce was taken by somebody else, its bid is above the limit of deliveries.',
    remedy:
      '`clusterd outbox list --state parked`, `clusterd outbox show <id>` for the reason; mend that, then `clusterd outbox resume <id>`.',
  },
  ClusterdJobsWait: {
    expr: `clusterd_outbox_oldest_seconds{state=~"queued|signed|sent|included"} > ${OLD_JOB_MS / 1_000}`,
    summary: 'A job of kind {{ $labels.kind }} has been {{ $labels.state }} for {{ $value }} s',
    means:
      'Something that comes and goes holds it up: the hub is paused, gas is dearer than `maxGasPriceWei`, the cap of the day is reached, the signer is dry, a node is away. A release that waits too long goes back to its payer.',
    remedy:
      '`clusterd outbox show <id>` has the reason. Unpause the hub, send funds, raise the cap; it goes on by itself then, or at once with `clusterd outbox retry <id>`. `clusterd outbox park <id>` sets it aside.',
  },
  ClusterdPacketsStuck: {
    expr: 'clusterd_stuck_packets > 0',
    summary: 'Packets have not reached the hub of {{ $labels.network }}',
    means: "The bridge's executors or verifiers have left packets lying; their senders' statuses stay `bridging`.",
    remedy:
      'Look at the message in the bridge’s explorer. Where it is verified, let the relayer execute it: `"deliveries": { "<network>": { "executeStranded": true } }` in the chains file and a restart (it pays the value, which the bridge does not give back). Where it is not, see the verifiers (`clusterd contracts status`).',
  },
  ClusterdNonceGap: {
    expr: 'clusterd_relayer_nonce_gaps > 0',
    for: '10m',
    summary: 'Nonces that nothing holds block the relayer on chain {{ $labels.chain }}',
    means:
      "A transaction of the relayer's key was lost, or its key was used elsewhere. The gap is filled by a transfer of nothing, which has not gone through for ten minutes.",
    remedy:
      "See the signer's balance and the gas price; use the key nowhere else. `clusterd outbox nonce <chain> <next>` sets the next nonce by hand.",
  },
  ClusterdNonceClaimed: {
    expr: 'clusterd_relayer_nonce_claims > 0',
    summary: "The chain's count of the relayer's transactions on {{ $labels.chain }} is far above ours",
    means: 'Nothing is signed there: either the key was used elsewhere, or a node answers wrong.',
    remedy:
      '`clusterd outbox nonce` shows both numbers. Compare with an explorer; where the chain is right, `clusterd outbox nonce <chain> <next>` follows it.',
  },
  ClusterdRelayerRunsDry: {
    expr: `clusterd_relayer_runway_seconds < ${LOW_RUNWAY_MS / 1_000}`,
    summary: "The relayer's balance on chain {{ $labels.chain }} lasts less than three days",
    means:
      "At the spending of the last day; 0 while a job waits for funds. Refunds and deliveries of the chain stop when it is empty; the payers' money is safe meanwhile.",
    remedy:
      'Send the relayer funds on that chain (its address: `/status`, `clusterd doctor`). What waits goes on with the next look at the balance.',
  },
  ClusterdRelayAuthorityRunsDry: {
    expr: `clusterd_relay_authority_lamports < ${LOW_BALANCE_LAMPORTS}`,
    summary: 'The relay authority on Solana runs dry',
    means:
      'Its SOL pays for 2,000 more decisions at the most; of it the account’s rent, 890,880 lamports, pays for none.',
    remedy: 'Send the relay authority SOL.',
  },
  ClusterdDatabaseBusy: {
    expr: 'clusterd_database_connections{state="waiting"} > 0',
    for: '1m',
    summary: 'Queries wait for connections of the pool {{ $labels.pool }}',
    means: 'Requests take longer than they have to, and are 503 after five seconds of waiting.',
    remedy: 'Find the slow query (`pg_stat_activity`), raise `DATABASE_POOL`, or start another API process.',
  },
  ClusterdWentBack: {
    expr: 'clusterd_database_went_back_total > 0',
    summary: 'The database of {{ $labels.network }} went back in time',
    means: 'A standby without the newest commits took over. The feed began anew by itself; the lost changes are gone.',
    remedy: 'See why a standby lagged ([backup.md](backup.md)). The alarm ends with the process.',
  },
  ClusterdChangesWait: {
    expr: 'clusterd_changes_waiting > 100',
    for: '1m',
    summary: 'Signed changes wait for their turn',
    means: "Something holds the journal's head: a slow disk, a long transaction, a rewind.",
    remedy: '`pg_stat_activity` for what is `idle in transaction` or waits for the disk.',
  },
  ClusterdRpcWrongChain: {
    expr: 'clusterd_rpc_wrong_chain > 0',
    summary: 'An RPC URL at {{ $labels.host }} serves another chain than {{ $labels.chain }}, or false logs of it',
    means:
      'Its answers are not used: the chain is another, or its contracts refute the logs (the node lies, or lost some).',
    remedy: 'Correct that URL in the chains file, or ask its operator whether the node prunes logs.',
  },
  ClusterdRpcAway: {
    expr: 'clusterd_rpc_rest_seconds > 0',
    for: '10m',
    summary: 'An RPC URL of chain {{ $labels.chain }} at {{ $labels.host }} does not answer well',
    means: 'Other URLs serve meanwhile; where it is the only one, the chain fails too.',
    remedy: 'Look at that node, or at the limits of its plan.',
  },
  ClusterdWebhookFails: {
    expr: 'clusterd_webhook_failing_seconds > 3600',
    summary: 'A webhook of {{ $labels.network }} has taken nothing for an hour',
    means: 'It is tried again each hour, and parked after five days; its events wait in order.',
    remedy: '`clusterd webhooks failures` says how the receiver answers.',
  },
  ClusterdWebhookParked: {
    expr: 'clusterd_webhooks{state="parked"} > 0',
    summary: "A webhook of {{ $labels.network }} gets nothing until an operator's word",
    means: 'The receiver failed for five days or answered 410.',
    remedy: 'Mend it, then `clusterd webhooks replay <id>`, or `clusterd webhooks remove <id>`.',
  },
  ClusterdErrors: {
    expr: 'rate(clusterd_http_request_seconds_count{status=~"50."}[5m]) > 1',
    for: '2m',
    summary: 'Requests of {{ $labels.route }} are answered {{ $labels.status }}',
    means: 'The database, a chain or a bridge does not answer.',
    remedy: 'The log has each kind of failure with its cause, at most every five seconds; other alarms name the part.',
  },
} as const satisfies Record<string, Alarm>

export type AlarmName = keyof typeof ALARMS

/** Something that is wrong, and the alarm that has its remedy. */
export interface Problem {
  alarm: AlarmName
  /** A sentence. */
  text: string
}

/** Fields of a log line that leads from a text to its remedy. */
export const alarmFields = (alarm: AlarmName) => ({ alarm, see: `docs/alarms.md#${alarm.toLowerCase()}` })
