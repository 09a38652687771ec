import bs58 from 'bs58'
import type pg from 'pg'
import { deliveryById, listDeliveries } from '../db/outbox/deliveryList.js'
import { type DeliveryRow, type DeliveryStateName, isDeliveryState } from '../db/outbox/deliveryRows.js'
import { toHex } from '../registry/primitives/bytes.js'
import { NETWORKS, type Network } from '../registry/primitives/network.js'
import { park, resume, retry } from '../relayer/delivery.js'
import { changeDelivery, toDelivery } from '../relayer/store.js'
import { withPool } from './database.js'
import { duration, table } from './tables.js'

const DATABASE = { command: 'deliveries', max: 1 }

export interface ListOptions {
  state?: string
  all?: boolean
  testnet?: boolean
  mainnet?: boolean
  limit: string
  json?: boolean
}

const LIVE: readonly DeliveryStateName[] = ['queued', 'signed', 'sent', 'included', 'parked']
const CHANGES = { retry, park, resume }
const MAX_LIMIT = 10_000

/** `clusterd deliveries list`. @throws Error with one sentence for options that can't be read */
export async function list(options: ListOptions): Promise<void> {
  const limit = Number(options.limit)
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new Error(`--limit is a whole number from 1 to ${MAX_LIMIT}.`)
  }
  const filter = { states: statesOf(options), networks: networksOf(options), limit }
  const rows = await withPool(DATABASE, (pool) => listDeliveries(pool, filter))
  if (options.json) return print(rows.map(describe))
  if (rows.length === 0) return console.log('No deliveries.')
  const nowMs = Date.now()
  console.log(
    table([
      ['ID', 'NETWORK', 'KIND', 'STATE', 'NONCE', 'FAILURES', 'AGE', 'NEXT', 'REASON', 'MESSAGE'],
      ...rows.map((row) => [
        row.id,
        row.network,
        row.kind,
        stateOf(row),
        row.nonce === null ? '-' : String(row.nonce),
        String(row.failures),
        duration(nowMs - row.createdMs),
        row.state === 'queued' && row.nextMs > nowMs ? `in ${duration(row.nextMs - nowMs)}` : '-',
        row.reason ?? '-',
        idOf(row)?.replace(/(?<=^.{18}).*/, '…') ?? '-',
      ]),
    ]),
  )
}

/** `clusterd deliveries show <id>`. @throws Error with one sentence where there is none */
export async function show(id: string, options: { json?: boolean }): Promise<void> {
  const row = await withPool(DATABASE, (pool) => find(pool, id))
  if (options.json) return print(describe(row))
  printOne(row)
}

/** `clusterd deliveries retry | park | resume <id>`: works while the daemon runs, which takes it up at once. */
export async function change(verb: keyof typeof CHANGES, id: string, options: { json?: boolean }): Promise<void> {
  const row = await withPool(DATABASE, async (pool) => {
    const before = await find(pool, id)
    const after = CHANGES[verb](toDelivery(before))
    if (before.state === 'confirmed') throw new Error(`Delivery ${id} is confirmed: there is nothing to ${verb}.`)
    if (verb === 'resume' && after.state === before.state && after.release === before.release) {
      throw new Error(`Delivery ${id} is ${before.state}, not parked: there is nothing to resume.`)
    }
    return changeDelivery(pool, before.network, id, CHANGES[verb])
  })
  if (options.json) return print(describe(row))
  printOne(row)
}

async function find(pool: pg.Pool, id: string): Promise<DeliveryRow> {
  const row = /^[0-9]{1,15}$/.test(id) ? await deliveryById(pool, id) : null
  if (!row) throw new Error(`There is no delivery ${id}: \`clusterd deliveries list --all\` shows them.`)
  return row
}

function statesOf({ state, all }: ListOptions): readonly DeliveryStateName[] {
  if (state === undefined) return all ? [...LIVE, 'confirmed'] : LIVE
  if (!isDeliveryState(state)) throw new Error(`--state is one of ${[...LIVE, 'confirmed'].join(', ')}.`)
  return [state]
}

function networksOf({ testnet, mainnet }: ListOptions): readonly Network[] {
  const chosen = NETWORKS.filter((network) => (network === 'testnet' ? testnet : mainnet))
  return chosen.length > 0 ? chosen : NETWORKS
}

/** Its state, and what becomes of it once its nonce is free. */
const stateOf = ({ state, release }: DeliveryRow): string =>
  release === null ? state : `${state}, to be ${release === 'queue' ? 'queued' : 'parked'}`

/** As JSON shows it: amounts as decimal text, bytes as hex. */
function describe(row: DeliveryRow) {
  const { message, payment, refusal, guid, signer, txs, valueWei, spentWei, ...rest } = row
  return {
    ...rest,
    valueWei: valueWei.toString(),
    spentWei: spentWei.toString(),
    signer: signer && toHex(signer),
    message: message && {
      guid: toHex(message.guid),
      tx: toHex(message.txHash),
      sentAt: new Date(message.sentMs).toISOString(),
    },
    payment: payment && {
      messageId: toHex(payment.messageId),
      tx: bs58.encode(payment.signature),
      paidAt: new Date(payment.paidMs).toISOString(),
    },
    refusal: guid &&
      refusal && {
        paymentId: toHex(guid),
        tx: toHex(refusal.tx),
        paidAt: new Date(refusal.paidMs).toISOString(),
        heldUntil: new Date(refusal.heldUntilMs).toISOString(),
      },
    txs: txs.map(({ hash, purpose, gas, valueWei: txWei, maxFeePerGas, maxPriorityFeePerGas, sentBlock }) => ({
      ...{ hash, purpose, sentBlock, gas: gas.toString(), valueWei: txWei.toString() },
      ...{ maxFeePerGas: maxFeePerGas.toString(), maxPriorityFeePerGas: maxPriorityFeePerGas.toString() },
    })),
  }
}

function printOne(row: DeliveryRow): void {
  const { included } = row
  const lines: [string, string][] = [
    ['delivery', `${row.id} (${row.network}, ${row.kind})`],
    ['state', stateOf(row)],
    ['reason', row.reason ?? '-'],
    ['message', idOf(row) ?? '-'],
    ['sent by', originOf(row)],
    ['value', `${row.valueWei} wei`],
    ['spent', `${row.spentWei} wei for gas`],
    ['signer', row.signer ? toHex(row.signer) : '-'],
    ['nonce', row.nonce === null ? '-' : String(row.nonce)],
    ['failures', String(row.failures)],
    ['next', row.nextMs > Date.now() ? new Date(row.nextMs).toISOString() : 'now'],
    ['included', included ? `${included.hash} in block ${included.block}` : '-'],
    ...row.txs.map(({ hash, purpose, maxFeePerGas, sentBlock }): [string, string] => [
      purpose,
      `${hash}, up to ${maxFeePerGas} wei a gas, ${sentBlock === null ? 'not sent yet' : `sent at block ${sentBlock}`}`,
    ]),
  ]
  for (const [what, text] of lines) console.log(`${what.padEnd(9)} ${text}`)
}

/** The id of what it carries, or gives back. */
const idOf = ({ guid }: DeliveryRow): string | null => guid && toHex(guid)

function originOf({ message, payment, refusal }: DeliveryRow): string {
  if (message) return `${toHex(message.txHash)} at ${new Date(message.sentMs).toISOString()}`
  if (refusal) {
    const { tx, paidMs, heldUntilMs } = refusal
    return `${toHex(tx)} at ${new Date(paidMs).toISOString()}, held until ${new Date(heldUntilMs).toISOString()}`
  }
  return payment ? `${bs58.encode(payment.signature)} at ${new Date(payment.paidMs).toISOString()}` : '-'
}

const print = (value: unknown): void => console.log(JSON.stringify(value, null, 2))
