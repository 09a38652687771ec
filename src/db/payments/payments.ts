import type pg from 'pg'
import {
  type CommunityNameTarget,
  type ConfirmedPaymentOutcome,
  type HubNameTarget,
  PAYMENT_KIND,
  PAYMENT_OUTCOME,
  PAYMENT_STATE,
  type Payment,
  QUOTE_VERDICT,
} from '../../registry/payment/payment.js'
import { wordToName } from '../../registry/primitives/name.js'
import type { Network } from '../../registry/primitives/network.js'
import {
  type ArrayColumns,
  columnsFromProperties,
  propertyArrays,
  type RewrittenBlocks,
  replaceUnconfirmedRows,
} from '../pg/arrays.js'
import { type ChainRowKey, execute, prepared, type Queryable } from '../pg/rows.js'

/** The properties that payment targets of either kind may have. */
type TargetFields = Partial<Omit<HubNameTarget, 'kind'> & Omit<CommunityNameTarget, 'kind'>>

/**
 * Columns that hold properties of a payment's target under the same names. A column is null for a target without the
 * property.
 */
const targetColumns = (
  type: string,
  ...properties: (keyof TargetFields)[]
): ArrayColumns<Payment> =>
  columnsFromProperties<TargetFields>(type, ...properties).map(([column, , of]) => [
    column,
    type,
    ({ target }) => of(target) ?? null,
  ])

const paymentColumns = (chain: number, isConfirmed: boolean): ArrayColumns<Payment> => [
  ['chain', 'int2', () => chain],
  ['state', 'int2', () => PAYMENT_STATE[isConfirmed ? 'confirmed' : 'seen']],
  ...columnsFromProperties<Payment>('bytea', 'id', 'tx', 'blockHash', 'payer', 'referral'),
  ...columnsFromProperties<Payment>('int8', 'block', 'sequence', 'paidMs'),
  ['kind', 'int2', ({ target }) => PAYMENT_KIND[target.kind]],
  ['token', 'text', ({ money }) => money.token],
  ['amount', 'numeric', ({ money }) => money.amount.toString()],
  ['name_word', 'bytea', ({ target }) => target.name],
  ['name', 'text', ({ target }) => wordToName(target.name)],
  ...targetColumns('bytea', 'source', 'quoteId'),
  ...targetColumns('numeric', 'amountWei', 'number'),
  ...targetColumns('int8', 'expiresAt', 'reclaimableMs'),
  ...targetColumns('text', 'recipient'),
  [
    'verdict',
    'int2',
    ({ target }) => (target.kind === 'name' ? QUOTE_VERDICT[target.verdict] : null),
  ],
  [
    'community_word',
    'bytea',
    ({ target }) => (target.kind === 'communityName' ? target.community : null),
  ],
  [
    'community',
    'text',
    ({ target }) => (target.kind === 'communityName' ? wordToName(target.community) : null),
  ],
]

/** Writes payments of a chain's blocks, in place of the stored unconfirmed ones. Keeps stored confirmed payments. */
export const writePayments = (
  db: Queryable,
  { network, chain }: ChainRowKey,
  blocks: RewrittenBlocks,
  payments: readonly Payment[],
): Promise<void> =>
  replaceUnconfirmedRows(db, network, blocks, {
    replaced: `chain = $3 AND state = ${PAYMENT_STATE.seen}`,
    values: [chain],
    table: 'payments',
    columns: paymentColumns(chain, blocks.isConfirmed),
    items: payments,
    onConflict: (set) => `(network, id) DO UPDATE SET ${set} WHERE t.state = ${PAYMENT_STATE.seen}`,
  })

/**
 * Writes outcomes of payments, as confirmed by their chain. A payment for a name on the hub becomes `done` with its
 * outcome.
 */
export async function writePaymentOutcomes(
  db: Queryable,
  { network, chain }: ChainRowKey,
  outcomes: readonly ConfirmedPaymentOutcome[],
): Promise<void> {
  if (outcomes.length === 0) return
  const text = `UPDATE payments p SET outcome = o.outcome, outcome_block = o.block,
      state = CASE WHEN p.kind = ${PAYMENT_KIND.name} THEN ${PAYMENT_STATE.done} ELSE p.state END
    FROM unnest($3::bytea[], $4::int8[], $5::int2[]) AS o (id, block, outcome)
    WHERE p.network = $1 AND p.chain = $2 AND p.id = o.id AND p.state >= ${PAYMENT_STATE.confirmed}`
  await execute(db, network, prepared(text), [
    chain,
    ...propertyArrays(outcomes, 'id', 'block'),
    outcomes.map(({ outcome }) => PAYMENT_OUTCOME[outcome]),
  ])
}

/**
 * Marks payments for community names as done, in the transaction that appends their entries.
 * @throws Error where a payment is done already or was removed, so that nothing is appended twice
 */
export async function markPaymentsAppended(
  client: pg.ClientBase,
  network: Network,
  ids: readonly Buffer[],
): Promise<void> {
  const text = `UPDATE payments SET state = ${PAYMENT_STATE.done}
    WHERE network = $1 AND id = ANY ($2::bytea[]) AND state = ${PAYMENT_STATE.confirmed}`
  const count = await execute(client, network, text, [ids])
  if (count !== ids.length)
    throw new Error(`marking payments of communities: ${count} of ${ids.length} were open`)
}
