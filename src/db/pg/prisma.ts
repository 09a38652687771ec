import type { Network } from '../../registry/primitives/network.js'
import type { Prisma } from '../generated/client.js'

type PlainValue<T> = T extends bigint ? number : T extends Prisma.Decimal ? bigint : T extends Uint8Array ? Buffer : T

/** A model of prisma/schema.prisma as `query` reads it: int8 as number, numeric as bigint, bytea as Buffer. */
export type Plain<Model> = { [Key in keyof Model]: Key extends 'network' ? Network : PlainValue<Model[Key]> }
