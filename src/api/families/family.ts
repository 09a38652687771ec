import type { z } from 'zod'
import type { RegistrationQuote } from '../../chains/chain.js'
import type { ChainFamily } from '../../registry/families.js'
import type { ErrorCode } from '../http/errors.js'
import type { Route, RoutePrice } from '../http/route.js'
import type { PickSampleAddress } from '../http/sampleRequests.js'

/** How a version of the HTTP interface (v1 or v0.1) shows a family's quotes. */
interface QuoteForm {
  /** Name of the quote's schema in the OpenAPI document. */
  readonly schemaName: string
  /** Schemas of fields that only quotes of this family have, and of fields whose form differs between families. */
  readonly schemas: z.ZodRawShape
  /** The reason why each list in the family's own fields is bounded, as in `Route.listBounds`. */
  readonly listBounds?: Route['listBounds']
  /** Fields that only quotes of this family have. @param quote of a chain of the family */
  ownFields(quote: RegistrationQuote): object
}

/** Parts of the API that differ by chain family: quotes, and the transactions that wallets sign. */
export interface FamilyInterface extends Pick<Route, 'summary' | 'interfaceNotes' | 'description'> {
  readonly family: ChainFamily
  /** Network label and wallet in the example of a quote. */
  readonly example: readonly [label: string, wallet: string]
  /** Network label of the family's testnet in sample requests. */
  readonly testnet: string
  /** Payer of sample requests. */
  readonly sender: PickSampleAddress
  /** Maximum number of names in one quote. */
  readonly maxNames: number
  readonly price: RoutePrice
  /** Errors of this family's quotes, in addition to the errors of all families' quotes. */
  readonly errors: readonly ErrorCode[]
  readonly v1: QuoteForm
  readonly v01: QuoteForm
  /** Schema of a transaction to sign, without its `type`. */
  readonly transaction: z.ZodObject
  /** Schemas of the token approvals that are sent before the transaction that pays for a community's name. */
  readonly approvals: z.ZodRawShape
}
