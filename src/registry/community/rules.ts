import { z } from 'zod'
import { familyOfLabel } from '../families.js'
import { parseAddress, parseWallet } from '../primitives/address.js'
import { parseAmountWei } from '../primitives/amount.js'
import { parseClusterName } from '../primitives/name.js'

/** Schemas of communities' rules, which decode and encode the JSON of the HTTP API and of the journal. */

export const NATIVE_COIN = 'native'

const MAX_PRICES = 20
const MAX_REQUIREMENTS = 20
/** Maximum number of addresses in a stored allowlist, and in all allowlists of a request. */
const MAX_ALLOWLIST_ADDRESSES = 1_000
/** Maximum bits of a payment's amount in CommunityPayments.sol. Solana's amounts have fewer bits. */
const EVM_PRICE_BITS = 128n
const DATE_PATTERN = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{3})?Z$/

const NO_NETWORK_MESSAGE = 'is no network of this community'
const NO_ADDRESS_MESSAGE = 'must be an address'
const NO_AMOUNT_MESSAGE = 'must be a whole number of base units above zero, as a string'
const AMOUNT_TOO_LARGE_MESSAGE = 'must be below 2^128 on an EVM chain'
const NO_DATE_MESSAGE = 'must be a date of the form 2026-11-20T08:00:00Z, or null'
const NO_CLUSTER_MESSAGE = 'must be the name of a cluster'
const listTooLongMessage = (most: number) => `must be a list of at most ${most}`

/** Schema of an object. Unknown fields are refused: a misspelt rule would silently leave the community open. */
const objectSchema = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `has an unknown field ${JSON.stringify(String((issue.keys as string[])[0]).slice(0, 40))}`
        : 'must be an object',
  })

/** Schema of a list with a maximum length. A longer list gives a single fault. */
const listOf = <Item extends z.ZodType>(
  item: Item,
  most: number,
  message = listTooLongMessage(most),
) =>
  z
    .array(item, message)
    .refine((items) => items.length <= most, { message: listTooLongMessage(most), abort: true })

const addFault = (
  to: Pick<z.core.ParsePayload, 'issues'>,
  input: unknown,
  message: string,
  path: string[] = [],
) => to.issues.push({ code: 'custom', input, message, path })

type ReportFault = (message: string) => never
/** Schema of a text that `read` converts to a canonical form, or refuses by calling `fault`. */
const canonicalTextSchema = <Form>(
  missing: string,
  forms: z.ZodType<Form, Form>,
  read: (text: string, fault: ReportFault) => Form,
  write: (form: Form) => string = String,
) =>
  z.codec(z.string(missing), forms, {
    encode: write,
    decode(text, ctx) {
      const fault = (message: string) => {
        addFault(ctx, text, message)
        return z.NEVER
      }
      return read(text, fault)
    },
  })

function readAddress(
  text: string,
  fault: ReportFault,
  parse: typeof parseWallet = parseAddress,
): string {
  const address = parse(text)
  if (address === 'bad_checksum') return fault('has a wrong checksum (EIP-55)')
  if (address === 'unsupported_address') return fault(NO_ADDRESS_MESSAGE)
  if (address.bytes.subarray(1).every((byte) => byte === 0))
    return fault('must not be the zero address')
  return address.text
}

function readDate(text: string, fault: ReportFault): number {
  const ms = DATE_PATTERN.test(text) ? Date.parse(text) : Number.NaN
  // Date.parse rolls February 30 over into March
  const isDate = !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 19) === text.slice(0, 19)
  return isDate ? ms : fault(NO_DATE_MESSAGE)
}

const networkSchema = () =>
  z
    .string(NO_NETWORK_MESSAGE)
    .meta({ description: 'Label of a chain of this network', example: '8453' })
/** Address as responses show it (EVM in lower case). */
const addressSchema = () =>
  canonicalTextSchema(NO_ADDRESS_MESSAGE, z.string(), (text, fault) => readAddress(text, fault))
const amountSchema = () =>
  canonicalTextSchema(
    NO_AMOUNT_MESSAGE,
    z.bigint(),
    (text, fault) => parseAmountWei(text) || fault(NO_AMOUNT_MESSAGE),
  ).meta({
    description: 'A whole number of base units above zero',
    example: '1000000',
  })

const EXAMPLE_ADDRESS = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

const isNativeOrAddressOnChain = (network: string, text: string): boolean => {
  const address = parseAddress(text)
  return (
    text === NATIVE_COIN ||
    (typeof address !== 'string' && address.type === familyOfLabel(network).addressType)
  )
}

function checkAddressesAndAmounts(
  payload: z.core.ParsePayload<{ network: string }>,
  addresses: Readonly<Record<string, string>>,
  amounts: Readonly<Record<string, bigint>>,
): void {
  const { network } = payload.value
  for (const [key, text] of Object.entries(addresses))
    if (!isNativeOrAddressOnChain(network, text))
      addFault(payload, text, 'must be an address of its network', [key])
  for (const [key, units] of Object.entries(amounts)) {
    const { name, amountBits } = familyOfLabel(network)
    if (units >> amountBits !== 0n)
      addFault(payload, units, `must be below 2^${amountBits} on ${name}`, [key])
  }
}

export const communityPriceSchema = objectSchema({
  network: networkSchema(),
  /** `native`, or the token's address or mint as responses show it. */
  token: canonicalTextSchema(NO_ADDRESS_MESSAGE, z.string(), (text, fault) =>
    text === NATIVE_COIN ? text : readAddress(text, fault),
  ).meta({
    description: '`native`, or the address or mint of a token',
  }),
  /** Base units of the token, above zero. */
  amount: amountSchema(),
  /** Recipient of the payment, an address on the price's network. */
  recipient: addressSchema().meta({ description: 'Who is paid', example: EXAMPLE_ADDRESS }),
}).check((payload) => {
  const { token, recipient, amount } = payload.value
  checkAddressesAndAmounts(payload, { token, recipient }, { amount })
})
export type CommunityPrice = z.output<typeof communityPriceSchema>

const tokenRequirementSchema = objectSchema({
  kind: z.literal('token'),
  network: networkSchema(),
  token: addressSchema().meta({ description: 'ERC-20, ERC-721 or SPL mint' }),
  /** Minimum balance in base units of the token (ERC-721: number of tokens). */
  minimum: amountSchema(),
}).check((payload) =>
  checkAddressesAndAmounts(
    payload,
    { token: payload.value.token },
    { minimum: payload.value.minimum },
  ),
)
export type TokenRequirement = z.output<typeof tokenRequirementSchema>

const EMPTY_ALLOWLIST_MESSAGE = 'must name an address'
const allowlistSchema = objectSchema({
  kind: z.literal('allowlist'),
  addresses: listOf(
    canonicalTextSchema(NO_ADDRESS_MESSAGE, z.string(), (text, fault) =>
      readAddress(text, fault, parseWallet),
    ).meta({
      description: 'Address of a wallet that can sign in (EVM: answered in lower case)',
      example: EXAMPLE_ADDRESS,
    }),
    MAX_ALLOWLIST_ADDRESSES,
    EMPTY_ALLOWLIST_MESSAGE,
  )
    .refine((all) => all.length > 0, EMPTY_ALLOWLIST_MESSAGE)
    .overwrite((all) => [...new Set(all)]),
})

const clusterRequirementSchema = objectSchema({
  kind: z.literal('cluster'),
  name: canonicalTextSchema(
    NO_CLUSTER_MESSAGE,
    z.string(),
    (text, fault) => parseClusterName(text) ?? fault(NO_CLUSTER_MESSAGE),
  ).meta({
    description: 'The wallet is publicly verified in the cluster that holds it',
    example: 'foobar',
  }),
})

const requirementSchema = z.discriminatedUnion(
  'kind',
  [tokenRequirementSchema, allowlistSchema, clusterRequirementSchema],
  'must be of kind token, allowlist or cluster',
)
export type CommunityRequirement = z.output<typeof requirementSchema>

/** Schema of a community's rules as the HTTP API shows them. */
export const communityRulesFieldsSchema = objectSchema({
  prices: listOf(communityPriceSchema, MAX_PRICES)
    .refine(
      (all) => new Set(all.map((one) => `${one.network} ${one.token}`)).size === all.length,
      'must name a token of a network once',
    )
    .meta({ description: 'None: names are free. The first one is what is asked for by default' }),
  ownersOnly: z
    .boolean('must be true or false')
    .meta({ description: 'Only the community’s own wallets register names, for others too' }),
  startsAt: canonicalTextSchema(NO_DATE_MESSAGE, z.number(), readDate, (ms) =>
    new Date(ms).toISOString(),
  )
    .nullable()
    .meta({ example: '2026-12-01T08:00:00.000Z' }),
  requirements: listOf(requirementSchema, MAX_REQUIREMENTS).meta({
    description: 'The wallet that gets a name has to meet all of them',
  }),
})

export interface CommunityRules {
  /** Prices, at most one per token of a chain; if empty, names are free. A quote uses the first price that fits. */
  prices: readonly CommunityPrice[]
  /** True if only wallets of the community's own cluster may register names. `prices` is then empty. */
  ownersOnly: boolean
  /** Time from which names can be registered, ms; null: any time. */
  startsAtMs: number | null
  /** Requirements, all of which must be met. */
  requirements: readonly CommunityRequirement[]
}

const checkedRulesSchema = z
  .custom<CommunityRules>()
  // a payment cannot name a beneficiary, which `ownersOnly` needs
  .refine(({ ownersOnly, prices }) => !ownersOnly || prices.length === 0, {
    message: 'can not stand together with prices',
    path: ['ownersOnly'],
  })
/** Rules with the field names of the HTTP API. */
type RulesFields = z.output<typeof communityRulesFieldsSchema>
const fieldsFromRules = ({
  prices,
  ownersOnly,
  startsAtMs,
  requirements,
}: CommunityRules): RulesFields => ({
  prices: [...prices],
  ownersOnly,
  startsAt: startsAtMs,
  requirements: [...requirements],
})
const rulesFromFields = ({
  prices = [],
  ownersOnly = false,
  startsAt = null,
  requirements = [],
}: Partial<RulesFields>) => ({
  prices,
  ownersOnly,
  startsAtMs: startsAt,
  requirements,
})

/** Codec of rules as stored in the journal: complete, in canonical form. */
export const communityRulesCodec = z.codec(communityRulesFieldsSchema, checkedRulesSchema, {
  encode: fieldsFromRules,
  decode: rulesFromFields,
})
/**
 * Codec of rules in an API request. Without a field there are no prices, no requirements and no start time, and not
 * only owners may register.
 */
export const communityRulesInputCodec = z
  .codec(communityRulesFieldsSchema.partial(), checkedRulesSchema, {
    encode: fieldsFromRules,
    decode: rulesFromFields,
  })
  .refine(({ requirements }) => countAllowlistAddresses(requirements) <= MAX_ALLOWLIST_ADDRESSES, {
    message: `must name at most ${MAX_ALLOWLIST_ADDRESSES} addresses in all`,
    path: ['requirements'],
  })
const countAllowlistAddresses = (requirements: CommunityRules['requirements']): number =>
  requirements.reduce((sum, one) => sum + (one.kind === 'allowlist' ? one.addresses.length : 0), 0)

/** JSON of rules for the HTTP API and the journal. */
export const communityRulesJson = (rules: CommunityRules) => z.encode(communityRulesCodec, rules)

/** A fault in rules, with the path of the field, such as `prices[0].amount`. */
export interface RulesProblem {
  path: string
  message: string
}

/**
 * Faults that the codecs do not find: labels of chains that the deployment does not have, prices on chains without a
 * contract for payments, and prices of 2^128 base units or more.
 */
export function findChainProblemsOfRules(
  { prices, requirements }: CommunityRules,
  chains: readonly { label: string; communityPayments: string | null }[],
): RulesProblem[] {
  const chainOf = (network: string) => chains.find(({ label }) => label === network)
  const problems: RulesProblem[] = []
  prices.forEach(({ network, amount }, i) => {
    const path = `prices[${i}].network`
    if (amount >> EVM_PRICE_BITS !== 0n)
      problems.push({ path: `prices[${i}].amount`, message: AMOUNT_TOO_LARGE_MESSAGE })
    if (!chainOf(network)) problems.push({ path, message: NO_NETWORK_MESSAGE })
    else if (!chainOf(network)!.communityPayments)
      problems.push({ path, message: 'takes no payments for community names here' })
  })
  requirements.forEach((one, i) => {
    if (one.kind === 'token' && !chainOf(one.network))
      problems.push({ path: `requirements[${i}].network`, message: NO_NETWORK_MESSAGE })
  })
  return problems
}
