import bs58 from 'bs58'
import type pg from 'pg'
import { sendRefunds } from '../db/outbox/payouts.js'
import { listRefunds, listRefusals, type Refund } from '../db/outbox/refundList.js'
import { NATIVE } from '../registry/community/rules.js'
import { decodeAddress } from '../registry/primitives/address.js'
import { toHex } from '../registry/primitives/bytes.js'
import { wordToName } from '../registry/primitives/name.js'
import { NETWORKS, type Network } from '../registry/primitives/network.js'
import { withPool } from './database.js'
import { duration, table } from './tables.js'

const DATABASE = { command: 'refunds' }

export interface RefundOptions {
  all?: boolean
  testnet?: boolean
  mainnet?: boolean
  json?: boolean
}

/** Enough of an id to tell it from all others. */
const SHORT_ID_CHARS = 18
const LAMPORTS_PER_SOL = 1_000_000_000n

/** `clusterd refunds list`: what is owed back to payers on Solana, and what of communities is being given back. */
export async function list(options: RefundOptions): Promise<void> {
  const isAll = options.all ?? false
  const refunds = await withPool(DATABASE, async (pool) => [
    ...(await all(pool, options, isAll)),
    ...(await each(options, (network) => listRefusals(pool, network, isAll))),
  ])
  if (options.json) return console.log(JSON.stringify(refunds.map(describe), null, 2))
  if (refunds.length === 0) return console.log('No refunds are owed.')
  print(refunds)
}

/**
 * `clusterd refunds send <id> | --all`: has the running relayer pay back what is owed.
 * @throws Error with one sentence for an id that names no refund, or more than one
 */
export async function send(ids: readonly string[], options: RefundOptions): Promise<void> {
  if ((ids.length === 0) === (options.all !== true)) throw new Error('Name the refunds to send, or give --all.')
  const refunds = await withPool(DATABASE, async (pool) => {
    const owed = await all(pool, options, false)
    const chosen = options.all ? owed : ids.map((id) => find(owed, id))
    for (const network of NETWORKS) {
      const messageIds = chosen.filter((one) => one.network === network).map(({ messageId }) => messageId)
      if (messageIds.length > 0) await sendRefunds(pool, network, messageIds, Date.now())
    }
    const sent = new Set(chosen.map(({ messageId }) => toHex(messageId)))
    return (await all(pool, options, true)).filter(({ messageId }) => sent.has(toHex(messageId)))
  })
  if (options.json) return console.log(JSON.stringify(refunds.map(describe), null, 2))
  if (refunds.length === 0) return console.log('No refunds are owed.')
  print(refunds)
  console.log('\nThe running daemon sends what is queued; `clusterd refunds list --all` shows how far it is.')
}

function find(owed: readonly Refund[], id: string): Refund {
  const isId = /^0x[0-9a-f]{8,64}$/i.test(id)
  const found = isId ? owed.filter(({ messageId }) => toHex(messageId).startsWith(id.toLowerCase())) : []
  if (found.length === 1) return found[0]!
  if (found.length > 1) throw new Error(`${id} names ${found.length} refunds: give more of the id.`)
  throw new Error(`No refund ${id} is owed: \`clusterd refunds list\` shows them.`)
}

const all = (pool: pg.Pool, options: RefundOptions, withPaid: boolean): Promise<Refund[]> =>
  each(options, (network) => listRefunds(pool, network, withPaid))

const each = async (options: RefundOptions, read: (network: Network) => Promise<Refund[]>): Promise<Refund[]> =>
  (await Promise.all(networksOf(options).map(read))).flat()

function networksOf({ testnet, mainnet }: RefundOptions): readonly Network[] {
  const chosen = NETWORKS.filter((network) => (network === 'testnet' ? testnet : mainnet))
  return chosen.length > 0 ? chosen : NETWORKS
}

function print(refunds: readonly Refund[]): void {
  const nowMs = Date.now()
  console.log(
    table([
      ['ID', 'NETWORK', 'AMOUNT', 'PAYER', 'NAME', 'CAUSE', 'STATE', 'AGE', 'REASON'],
      ...refunds.map((refund) => [
        toHex(refund.messageId).slice(0, SHORT_ID_CHARS),
        refund.network,
        amountOf(refund),
        decodeAddress(refund.payer).text,
        nameOf(refund),
        refund.cause,
        refund.state ?? 'owed',
        duration(nowMs - refund.paidMs),
        refund.reason ?? '-',
      ]),
    ]),
  )
}

/** As JSON shows it: amounts as decimal text, ids as hex, signatures and keys in base58. */
const describe = (refund: Refund) => ({
  id: toHex(refund.messageId),
  network: refund.network,
  program: refund.program,
  sequence: refund.sequence,
  payer: decodeAddress(refund.payer).text,
  kind: refund.kind,
  name: nameOf(refund),
  token: refund.token,
  amount: refund.amount.toString(),
  ...(refund.token === NATIVE ? { lamports: refund.amount.toString() } : {}),
  paidAt: new Date(refund.paidMs).toISOString(),
  tx: bs58.encode(refund.signature),
  cause: refund.cause,
  state: refund.state ?? 'owed',
  reason: refund.reason,
  failures: refund.failures,
  refundTx: refund.refundSignature && bs58.encode(refund.refundSignature),
})

/** What a stranger pays for may be no name at all. */
const nameOf = ({ community, name }: Refund): string => (community ? `${textOf(community)}/` : '') + textOf(name)
const textOf = (word: Buffer): string => wordToName(word) ?? toHex(word)

/** Of a token its base units and mint. */
const amountOf = ({ token, amount }: Refund): string => (token === NATIVE ? `${sol(amount)} SOL` : `${amount} ${token}`)

function sol(lamports: bigint): string {
  const rest = (lamports % LAMPORTS_PER_SOL).toString().padStart(9, '0').replace(/0+$/, '')
  return `${lamports / LAMPORTS_PER_SOL}${rest && `.${rest}`}`
}
