import type pg from 'pg'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import type { Prisma, PrismaClient } from '../generated/client.js'
import { nameOfCode } from './codes.js'
import { parseInt8, underlyingPool } from './pool.js'
import type { DecodedRow } from './rows.js'

/** Longer than any timeout of a pool, which Prisma's own timeouts must not shorten. */
const NO_LIMIT_MS = 600_000

const clients = new WeakMap<pg.Pool, Promise<PrismaClient>>()

/**
 * Prisma's client over a pool's connections and limits, for reads and writes that are not hot. Loaded at the first use,
 * since it takes 40 MiB and a quarter of a second of processor time. Hot paths and the daemon's start query the pool
 * directly.
 */
export function prismaClientOf(pool: pg.Pool): Promise<PrismaClient> {
  const own = underlyingPool(pool)
  let client = clients.get(own)
  if (!client) {
    client = openClient(own)
    clients.set(own, client)
  }
  return client
}

async function openClient(pool: pg.Pool): Promise<PrismaClient> {
  const [{ PrismaPg }, generated] = await Promise.all([
    import('@prisma/adapter-pg'),
    import('../generated/client.js'),
  ])
  // the adapter is typed against another copy of the driver's types
  const adapter = new PrismaPg(pool as unknown as ConstructorParameters<typeof PrismaPg>[0])
  return new generated.PrismaClient({
    adapter,
    transactionOptions: { maxWait: NO_LIMIT_MS, timeout: NO_LIMIT_MS },
  })
}

/** Converts a row of Prisma. @throws RangeError for an int8 that a number can't hold */
export function plainRowFromPrisma<Model extends object>(row: Model): DecodedRow<Model> {
  const entries = Object.entries(row).map(([key, value]) => [
    key,
    key === 'network' ? nameOfCode(NETWORK_CODE, value) : toPlain(value),
  ])
  return Object.fromEntries(entries) as DecodedRow<Model>
}

function toPlain(value: unknown): unknown {
  if (typeof value === 'bigint') return parseInt8(value)
  if (isDecimal(value)) return BigInt(value.toFixed(0))
  return value instanceof Uint8Array
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    : value
}

const isDecimal = (value: unknown): value is Prisma.Decimal =>
  typeof value === 'object' && value !== null && 'toFixed' in value

type StoredValue<T> = T extends Uint8Array ? Uint8Array<ArrayBuffer> : T
type Stored<Fields> = {
  [Key in keyof Fields]: Key extends 'network' ? number : StoredValue<Fields[Key]>
}

/** Converts values for Prisma's filters and writes. Prisma's type of bytes excludes shared memory. */
export function toPrismaValues<Fields extends object>(fields: Fields): Stored<Fields> {
  const codes = 'network' in fields ? { network: NETWORK_CODE[fields.network as Network] } : {}
  return { ...fields, ...codes } as Stored<Fields>
}
