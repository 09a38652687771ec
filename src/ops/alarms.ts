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
 * Alarms, with what an operator does about each. Their rules, with what they mean, are Prometheus'
 * (examples/prometheus/alerts.yml); `npm run alarms-doc` makes docs/alarms.md of both.
 */
export const REMEDIES = {
  ClusterdNotLed:
    'See that a process with the role runs (`ROLES`), and the log of one that has it: PostgreSQL does not answer, or another process holds the lease (`SELECT * FROM leaders`).',
  ClusterdNotRelayed:
    'Start a process with the role `relay` and the keys, or leave the rule out where others carry the packets.',
  ClusterdRelayKeyMissing: 'Give it the keys that `/status` names, and start it again.',
  ClusterdChainHalted:
    'Compare the block with an explorer. Where the node was wrong: correct `rpcUrls`, then `clusterd journal unhalt --chain <label>`. Where the chain was: `clusterd journal rewind --chain <label>` shows what would change and names the block, with `--block <n> --yes` it does it; then raise `confirmation`.',
  ClusterdHeadStandsStill:
    'Compare with an explorer; add or change `rpcUrls`. Nothing is lost: the chain is read on from where it stood.',
  ClusterdFinalityStandsStill:
    "Wait: it is the chain's own trouble. Don't lower `confirmation` meanwhile; blocks are rolled back in such times.",
  ClusterdChainFailing:
    '`/status` has the last error, `clusterd doctor` asks each URL by itself. Add or correct `rpcUrls`.',
  ClusterdChainBehind:
    '`/status` says which. A first catch-up of a long history takes its time; else see the nodes and their limits on ranges.',
  ClusterdLoopHangs:
    'Restart the process (liveness probes do it by themselves): another takes the lead at once. Keep its log.',
  ClusterdLoopFails: '`/status` has the last error: a chain that is away, a full disk, a role without rights.',
  ClusterdPaymentsWait: 'See the nodes of that chain; the judgement follows by itself.',
  ClusterdJobsParked:
    '`clusterd outbox list --state parked`, `clusterd outbox show <id>` for the reason; mend that, then `clusterd outbox resume <id>`.',
  ClusterdJobsWait:
    '`clusterd outbox show <id>` has the reason. Unpause the hub, send funds, raise the cap; it goes on by itself then, or at once with `clusterd outbox retry <id>`. `clusterd outbox park <id>` sets it aside.',
  ClusterdPacketsStuck:
    'Look at the message in the bridge’s explorer. Where it is verified, let the relayer execute it: `"deliveries": { "<network>": { "executeStranded": true } }` in the chains file and a restart (it pays the value, which the bridge does not give back). Where it is not, see the verifiers (`clusterd contracts status`).',
  ClusterdNonceGap:
    "See the signer's balance and the gas price; use the key nowhere else. `clusterd outbox nonce <chain> <next>` sets the next nonce by hand.",
  ClusterdNonceClaimed:
    '`clusterd outbox nonce` shows both numbers. Compare with an explorer; where the chain is right, `clusterd outbox nonce <chain> <next>` follows it.',
  ClusterdRelayerRunsDry:
    'Send the relayer funds on that chain (its address: `/status`, `clusterd doctor`). What waits goes on with the next look at the balance.',
  ClusterdRelayAuthorityRunsDry: 'Send the relay authority SOL.',
  ClusterdDatabaseBusy:
    'Find the slow query (`pg_stat_activity`), raise `DATABASE_POOL`, or start another API process.',
  ClusterdWentBack: 'See why a standby lagged ([backup.md](backup.md)). The alarm ends with the process.',
  ClusterdChangesWait: '`pg_stat_activity` for what is `idle in transaction` or waits for the disk.',
  ClusterdRpcWrongChain: 'Correct that URL in the chains file, or ask its operator whether the node prunes logs.',
  ClusterdRpcAway: 'Look at that node, or at the limits of its plan.',
  ClusterdWebhookFails: '`clusterd webhooks failures` says how the receiver answers.',
  ClusterdWebhookParked: 'Mend it, then `clusterd webhooks replay <id>`, or `clusterd webhooks remove <id>`.',
  ClusterdErrors:
    'The log has each kind of failure with its cause, at most every five seconds; other alarms name the part.',
} as const

export type AlarmName = keyof typeof REMEDIES

/** Something that is wrong, and the alarm that has its remedy. */
export interface Problem {
  alarm: AlarmName
  /** A sentence. */
  text: string
}

/** Fields of a log line that leads from a text to its remedy. */
export const alarmFields = (alarm: AlarmName) => ({ alarm, see: `docs/alarms.md#${alarm.toLowerCase()}` })
