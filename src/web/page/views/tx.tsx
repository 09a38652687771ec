import type { ComponentChildren } from 'preact'
import { isFinalStatus } from '../../../client/status.js'
import { INVALID_REASONS, PAYMENT_REFUSALS } from '../../../registry/invalidReasons.js'
import { statusPath } from '../lib/api.js'
import {
  agoText,
  chainName,
  durationText,
  findChain,
  groupedDigits,
  utcMinuteText,
} from '../lib/format.js'
import { BidAmount, Money, useChains } from '../lib/money.js'
import { useApi, useTitle } from '../lib/net.js'
import type { Chain, Overview, TxStatus } from '../lib/types.js'
import {
  Badge,
  Card,
  CopyableAddress,
  CopyableText,
  FactList,
  Link,
  LoadedContent,
  NameLabel,
} from '../parts/basics.js'

/** A step on a transaction's way to its decision, as the list "Progress" shows it. */
type TxStep = readonly [title: string, ...StepState]

const STATUS_HEADINGS: Readonly<Record<TxStatus['status'], string>> = {
  not_found: 'No chain has this transaction',
  pending: 'Waiting for confirmations',
  bridging: 'On its way to the hub',
  finalized: 'Registered',
  lost_bid: 'Somebody else was first',
  invalid: 'It registered nothing',
}

const TX_REASON_TEXTS: Readonly<Record<string, string>> = {
  name_taken: 'An earlier bid has the name. What this one paid can be taken back.',
  ...INVALID_REASONS,
  ...PAYMENT_REFUSALS,
}

/** The steps of a transaction from sending to its decision. */
function txStepsOf(txStatus: TxStatus): TxStep[] {
  const { status, hubTx, tx, updatedAt, block } = txStatus
  const isSeen = status !== 'not_found'
  const inBlock = block === undefined ? '.' : `, in block ${groupedDigits(block)}.`
  const seen = updatedAt ? `Seen ${updatedAt.slice(0, 19)} UTC` : 'A chain has it'
  const isBridged = status === 'bridging' || (hubTx !== undefined && hubTx !== tx.toLowerCase())
  return [
    isSeen
      ? ['Sent', 'done', seen + inBlock]
      : ['Sent', 'now', 'Not seen by any chain yet. It may take a moment.'],
    ['Confirmed', ...confirmedStep(txStatus)],
    ...(isBridged ? [['Over the bridge', ...bridgedStep(txStatus)] as const] : []),
    decidedStep(txStatus),
  ]
}

/** State and text of a step. `part`: the share of the needed confirmations that is reached, from 0 to 1. */
type StepState = readonly [
  state: keyof typeof STEP_STATE_TEXTS,
  text: ComponentChildren,
  part?: number,
]

function confirmedStep({ status, confirmations }: TxStatus): StepState {
  if (status === 'not_found') return ['next', '']
  if (status !== 'pending') return ['done', 'Too deep to be undone.']
  if (!confirmations) return ['now', 'Waiting for a block.']
  const { have, need } = confirmations
  const done = Math.min(have, need)
  return ['now', `${done} of ${need} blocks`, need === 0 ? 1 : done / need]
}

function bridgedStep({ status, step, reason, hubTx, trouble }: TxStatus): StepState {
  if (status === 'bridging' && trouble)
    return ['bad', `${trouble.text} Due since ${utcMinuteText(trouble.since)}.`]
  if (step === 'delivery_failed')
    return [
      'bad',
      `The last attempt failed${reason ? `: ${TX_REASON_TEXTS[reason] ?? reason}` : ''}.`,
    ]
  const arrival = hubTx && <CopyableText text={hubTx} to={`/tx/${hubTx}`} />
  if (status === 'pending') return ['next', '']
  if (status !== 'bridging') return ['done', arrival && <>Hub transaction {arrival}</>]
  return ['now', arrival ? <>Arrived on the hub: {arrival}</> : 'The message travels to the hub.']
}

/** Texts for a transaction without a decision, by `step` of its status. */
const UNDECIDED_TEXTS: Readonly<Record<string, string>> = {
  behind: 'Another bid is ahead.',
  leading: 'It leads for its name.',
}

function decidedStep(txStatus: TxStatus): TxStep {
  const { status, step = '', names = [], hubBlock } = txStatus
  if (!isFinalStatus(txStatus)) return ['Decided', 'next', UNDECIDED_TEXTS[step] ?? '']
  const first = names[0]?.name
  const text = (
    <>
      {first && !first.startsWith('0x') && <NameLabel name={first} />}
      {hubBlock !== undefined && <HubBlockText block={hubBlock} />}
    </>
  )
  return [STATUS_HEADINGS[status], status === 'finalized' ? 'done' : 'bad', text]
}

/** The number of a block, as a link if its chain has an explorer. */
function BlockLink({ of, block }: { of: Chain | undefined; block: number }) {
  const digits = groupedDigits(block)
  return of?.explorer ? <a href={`${of.explorer}/block/${block}`}>{digits}</a> : digits
}

function HubBlockText({ block }: { block: number }) {
  const { data } = useChains()
  const hub = data?.find(({ role }) => role === 'hub')
  return (
    <>
      {' '}
      in block <BlockLink of={hub} block={block} /> of the hub
    </>
  )
}

function StepList(txStatus: TxStatus) {
  return (
    <ol class="way">
      {txStepsOf(txStatus).map(([title, state, text, part]) => (
        <li key={title} data-state={state}>
          <svg viewBox="0 0 36 36" width="36" height="36" aria-hidden="true">
            <circle cx="18" cy="18" r="15" class="track" />
            {part !== undefined && (
              <circle
                cx="18"
                cy="18"
                r="15"
                class="part"
                pathLength="1"
                stroke-dasharray={`${part} 1`}
              />
            )}
            {state === 'done' && <path d="M12 18.5 16.5 23 25 14" />}
            {state === 'bad' && <path d="m13 13 10 10m0-10L13 23" />}
            {state === 'now' && <circle cx="18" cy="18" r="5" class="core" />}
          </svg>
          <div>
            <strong>{title}</strong>
            <span class="sr">{STEP_STATE_TEXTS[state]}</span>
            <p>{text}</p>
          </div>
        </li>
      ))}
    </ol>
  )
}
const STEP_STATE_TEXTS = {
  done: ' (done)',
  now: ' (now)',
  next: ' (to come)',
  bad: ' (failed)',
} as const

const OUTCOME_BADGES: Readonly<Record<string, readonly [text: string, kind?: string]>> = {
  won: ['registered', 'good'],
  lost: ['lost to an earlier bid', 'bad'],
  refused: ['refused', 'bad'],
  leading: ['leads', 'good'],
  behind: ['behind another bid'],
  pending: ['waiting'],
  bridging: ['on its way'],
}

const NameOutcomeList = ({ names }: { names: NonNullable<TxStatus['names']> }) => (
  <ul class="rows">
    {names.map(({ name, outcome, winner }) => {
      const [text, kind] = OUTCOME_BADGES[outcome] ?? [outcome]
      return (
        <li key={name}>
          {name.startsWith('0x') ? <CopyableText text={name} /> : <NameLabel name={name} />}
          {winner && (
            <span>
              won by a bid of <BidAmount amount={winner.amountWei} /> in{' '}
              <CopyableText text={winner.tx} to={`/tx/${winner.tx}`} />
            </span>
          )}
          <Badge kind={kind}>{text}</Badge>
        </li>
      )
    })}
  </ul>
)

const REFUND_TEXTS: Readonly<Record<NonNullable<TxStatus['refund']>, string>> = {
  held: 'The payment is held and is being paid back.',
  refused: 'The money is the payer’s again: paid back, or to be taken from the contract.',
  reclaim: 'It is worth less than paying it back costs: the payer takes it back.',
  reclaimed: 'The payer has taken the money back.',
  released: 'The recipient has the money.',
}

/** The credit that the transaction left on the hub, or the outcome of its payment, with a link to take the money. */
function OwedMoneyCard({ txStatus: { credit, refund, reclaimAfter } }: { txStatus: TxStatus }) {
  if (!credit && !refund) return null
  const canBeTaken =
    credit ||
    refund === 'refused' ||
    refund === 'reclaim' ||
    (reclaimAfter !== undefined && Date.parse(reclaimAfter) <= Date.now())
  return (
    <Card title="Refund">
      {credit && (
        <p>
          The hub owes{' '}
          <strong>
            <BidAmount amount={credit.amountWei} />
          </strong>
          {credit.eid === 0 ? '' : ' for a bid that came over the bridge'}. The wallet{' '}
          <CopyableText text={credit.owner} to={`/address/${credit.owner}`} /> takes it back by one
          transaction.
        </p>
      )}
      {refund && <p>{REFUND_TEXTS[refund]}</p>}
      {reclaimAfter && <p>The payer may take it back from {utcMinuteText(reclaimAfter)} on.</p>}
      {canBeTaken && (
        <p>
          <Link to="/@refunds" class="button">
            Sign in with that wallet to take it
          </Link>
        </p>
      )}
    </Card>
  )
}

/** The known details of a transaction: its chain, blocks and times. */
function TransactionFacts({ txStatus }: { txStatus: TxStatus }) {
  const { data: chains } = useChains()
  const { data: overview } = useApi<Overview>('/v1/overview')
  const { tx, network, sender, paid, block, updatedAt } = txStatus
  const chain = findChain(chains, network)
  const explorer = chain?.explorer
  const facts: Readonly<Record<string, ComponentChildren>> = {
    Chain: network && chainName(network),
    Sender: sender && <CopyableAddress address={sender} />,
    Amount: paid && <Money network={network ?? null} {...paid} />,
    Block: block !== undefined && <BlockLink of={chain} block={block} />,
    Seen: updatedAt && agoText(Date.parse(isoFromPostgres(updatedAt))),
    Expected: expectedText(txStatus, overview),
    Explorer: explorer && <a href={`${explorer}/tx/${tx}`}>{new URL(explorer).host}</a>,
  }
  return (
    <Card title="Transaction">
      <FactList class="facts" facts={facts} />
    </Card>
  )
}

/** Converts a time of PostgreSQL in UTC, `2026-11-20 08:00:00.123+00`, to ISO 8601. */
const isoFromPostgres = (text: string): string => `${text.slice(0, 23).replace(' ', 'T')}Z`

/** Text about the time until a pending transaction is confirmed; empty for others, and where the time is not known. */
function expectedText(
  { status, network, confirmations }: TxStatus,
  overview: Overview | undefined,
): string {
  const seconds = findChain(overview?.chains, network)?.confirmSeconds
  if (status !== 'pending' || !seconds) return ''
  const { have, need } = confirmations ?? { have: 0, need: 1 }
  const left = need === 0 ? 1 : Math.max(0, 1 - have / need)
  return `confirmed in about ${durationText(Math.max(1, seconds * left))}`
}

const STATUS_POLL_MS = 1_000

/** `/tx/:hash`: the progress of a transaction, updated automatically. */
export function TxPage({ tx }: { tx: string }) {
  const state = useApi<TxStatus>(statusPath(tx), {
    everyMs: STATUS_POLL_MS,
    isLast: isFinalStatus,
  })
  const txStatus = state.data
  useTitle(txStatus ? STATUS_HEADINGS[txStatus.status] : 'Transaction')
  const reason = txStatus?.reason && (TX_REASON_TEXTS[txStatus.reason] ?? txStatus.reason)
  return (
    <>
      <div class="head tx" data-status={txStatus?.status}>
        <div>
          <h1 aria-live="polite">
            {txStatus ? STATUS_HEADINGS[txStatus.status] : 'Looking it up…'}
          </h1>
          <p>
            <CopyableText text={tx} isWhole />
          </p>
          {reason && txStatus?.step !== 'delivery_failed' && <p>{reason}</p>}
          {txStatus?.replacedBy && (
            <p>
              Replaced by{' '}
              <CopyableText text={txStatus.replacedBy} to={`/tx/${txStatus.replacedBy}`} />, whose
              status this is.
            </p>
          )}
        </div>
      </div>
      {txStatus && txStatus.status !== 'not_found' && <TransactionFacts txStatus={txStatus} />}
      <Card title="Progress">
        <LoadedContent state={state} lines={4}>
          {StepList}
        </LoadedContent>
      </Card>
      {txStatus?.names && txStatus.names.length > 0 && (
        <Card title="Names">
          <NameOutcomeList names={txStatus.names} />
          {txStatus.more !== undefined && <p>and {txStatus.more} more</p>}
        </Card>
      )}
      {txStatus && <OwedMoneyCard txStatus={txStatus} />}
    </>
  )
}
