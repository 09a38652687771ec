import type pg from 'pg'
import { formatUnits } from 'viem'
import { listRefunds, type Refund } from '../../db/outbox/list.js'
import { sendRefunds } from '../../db/outbox/payouts.js'
import { NATIVE } from '../../registry/community/rules.js'
import { paidNameText, txText } from '../../registry/payment/payment.js'
import { decodeAddress } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { NETWORKS } from '../../registry/primitives/network.js'
import { withPool } from '../database.js'
import { duration, printJson, table } from '../output.js'
import { type NetworkOptions, networksOf } from '../values.js'

const DATABASE = { command: 'outbox' }

export interface SendOptions extends NetworkOptions {
  all?: boolean
  json?: boolean
}

/** Enough of an id to tell it from all others. */
const SHORT_ID_CHARS = 18
const SOL_DECIMALS = 9

/** `clusterd outbox list --refunds`: the money that is owed back to payers on Solana. */
export async function list(options: SendOptions): Promise<void> {
  const refunds = await withPool(DATABASE, (pool) => refundsOf(pool, options, options.all ?? false))
  print(refunds, options)
}

/**
 * `clusterd outbox send <id> | --all`: has the running relayer pay back what is owed.
 * @throws Error with one sentence for an id that names no refund, or more than one
 */
export async function send(ids: readonly string[], options: SendOptions): Promise<void> {
  if ((ids.length === 0) === (options.all !== true)) throw new Error('Name the refunds to send, or give --all.')
  const refunds = await withPool(DATABASE, async (pool) => {
    // a refusal needs nobody's word
    const owed = (await refundsOf(pool, options, false)).filter(({ payment }) => payment.target.kind === 'name')
    const chosen = options.all ? owed : ids.map((id) => find(owed, id))
    for (const network of NETWORKS) {
      const payments = chosen.filter((one) => one.network === network).map(({ payment }) => payment.id)
      if (payments.length > 0) await sendRefunds(pool, network, payments, Date.now())
    }
    const sent = new Set(chosen.map(idOf))
    return (await refundsOf(pool, options, true)).filter((refund) => sent.has(idOf(refund)))
  })
  if (print(refunds, options))
    console.log(
      '\nThe running daemon sends what is queued; `clusterd outbox list --refunds --all` shows how far it is.',
    )
}

function find(owed: readonly Refund[], id: string): Refund {
  const isId = /^0x[0-9a-f]{8,64}$/i.test(id)
  const found = isId ? owed.filter((refund) => idOf(refund).startsWith(id.toLowerCase())) : []
  if (found.length === 1) return found[0]!
  if (found.length > 1) throw new Error(`${id} names ${found.length} refunds: give more of the id.`)
  throw new Error(`No refund ${id} is owed: \`clusterd outbox list --refunds\` shows them.`)
}

const idOf = ({ payment }: Refund): string => toHex(payment.id)

const refundsOf = async (pool: pg.Pool, options: NetworkOptions, all: boolean): Promise<Refund[]> =>
  (await Promise.all(networksOf(options).map((network) => listRefunds(pool, network, all)))).flat()

/** @returns whether a table was printed: there are refunds, and nobody asked for JSON */
function print(refunds: readonly Refund[], { json }: SendOptions): boolean {
  if (json) printJson(refunds.map(describe))
  else if (refunds.length === 0) console.log('No refunds are owed.')
  if (json || refunds.length === 0) return false
  const nowMs = Date.now()
  console.log(
    table([
      ['ID', 'NETWORK', 'AMOUNT', 'PAYER', 'NAME', 'CAUSE', 'STATE', 'AGE', 'REASON'],
      ...refunds.map((refund) => [
        idOf(refund).slice(0, SHORT_ID_CHARS),
        refund.network,
        amountOf(refund),
        decodeAddress(refund.payment.payer).text,
        paidNameText(refund.payment),
        refund.cause,
        refund.state ?? 'owed',
        duration(nowMs - refund.payment.paidMs),
        refund.reason ?? '-',
      ]),
    ]),
  )
  return true
}

/** As JSON shows a refund: amounts as decimal text, ids as hex, signatures and keys in base58. */
function describe(refund: Refund) {
  const { network, program, cause, state, reason, failures, refundTx } = refund
  const { sequence, payer, money, paidMs, target } = refund.payment
  return {
    ...{ id: idOf(refund), network, program, sequence, payer: decodeAddress(payer).text },
    ...{ kind: target.kind === 'name' ? 'refund' : 'refuse', name: paidNameText(refund.payment) },
    ...{ token: money.token, amount: money.amount.toString() },
    ...(money.token === NATIVE ? { lamports: money.amount.toString() } : {}),
    ...{ paidAt: new Date(paidMs).toISOString(), tx: txText(refund.payment), cause, state: state ?? 'owed' },
    ...{ reason, failures, refundTx },
  }
}

/** SOL, or base units and mint of a token. */
const amountOf = ({ payment: { money } }: Refund): string =>
  money.token === NATIVE ? `${formatUnits(money.amount, SOL_DECIMALS)} SOL` : `${money.amount} ${money.token}`
