import { z } from 'zod'
import { parseAddress } from '../primitives/address.js'
import { parseAmountWei } from '../primitives/amount.js'
import { parseClusterName } from '../primitives/name.js'

/**
 * The rules of a community: what its wallet names cost, who may have one, and from when on. One schema, in both
 * directions, for the interface, the command line and the journal. Faults read as `path: message`.
 */

/** Label of the network whose addresses and tokens are Solana's; every other is an EVM chain's. */
const SOLANA = 'solana'
export const NATIVE = 'native'

const MAX_PRICES = 20
const MAX_REQUIREMENTS = 20
const MAX_ALLOWLIST = 1_000
const MAX_PROBLEMS = 20
const DATE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{3})?Z$/

const NO_NETWORK = 'is no network of this community'
const NO_ADDRESS = 'must be an address'
const NO_AMOUNT = 'must be a whole number of base units above zero, as a string'
const NO_DATE = 'must be a date of the form 2026-11-20T08:00:00Z, or null'
const NO_CLUSTER = 'must be the name of a cluster'
const NO_LIST = (most: number) => `must be a list of at most ${most}`

/** Unknown fields are refused: a misspelt one would silently open the community. */
const fields = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `has an unknown field ${JSON.stringify(String((issue.keys as string[])[0]).slice(0, 40))}`
        : 'must be an object',
  })

/** Lists within a bound; a longer one is one fault. */
const listOf = <Item extends z.ZodType>(item: Item, most: number, message = NO_LIST(most)) =>
  z.array(item, message).refine((items) => items.length <= most, { message: NO_LIST(most), abort: true })

/** Text that has a canonical form. `read` gives that form, or what is wrong. */
const canonical = (missing: string, read: (text: string) => { form: string } | { fault: string }) =>
  z.codec(z.string(missing), z.string(), {
    encode: (form) => form,
    decode(text, ctx) {
      const found = read(text)
      if ('form' in found) return found.form
      ctx.issues.push({ code: 'custom', input: text, message: found.fault })
      return z.NEVER
    },
  })

function readAddress(text: string): { form: string } | { fault: string } {
  const address = parseAddress(text)
  if (address === 'bad_checksum') return { fault: 'has a wrong checksum (EIP-55)' }
  if (address === 'unsupported_address') return { fault: NO_ADDRESS }
  if (address.bytes.subarray(1).every((byte) => byte === 0)) return { fault: 'must not be the zero address' }
  return { form: address.text }
}

const network = () => z.string(NO_NETWORK).meta({ description: 'Label of a chain of this network', example: '8453' })
/** An address in its answer form (EVM in lower case). */
const address = () => canonical(NO_ADDRESS, readAddress)
const amount = () =>
  z
    .codec(z.string(NO_AMOUNT), z.bigint(), {
      encode: String,
      decode(text, ctx) {
        const units = parseAmountWei(text)
        if (units) return units
        ctx.issues.push({ code: 'custom', input: text, message: NO_AMOUNT })
        return z.NEVER
      },
    })
    .meta({ description: 'A whole number of base units above zero', example: '1000000' })

const EXAMPLE_ADDRESS = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

/** Whether an address in its answer form, or `native`, is of a network's kind. */
function isOf(network: string, text: string): boolean {
  if (text === NATIVE) return true
  const address = parseAddress(text)
  return typeof address !== 'string' && address.type === (network === SOLANA ? 'solana' : 'evm')
}

/** Holds what stands on a chain against that chain: the kind of its addresses, the width of its amounts. */
function onChain(
  { value, issues }: z.core.ParsePayload<{ network: string }>,
  addresses: Readonly<Record<string, string>>,
  amounts: Readonly<Record<string, bigint>>,
): void {
  for (const [key, text] of Object.entries(addresses)) {
    if (isOf(value.network, text)) continue
    issues.push({ code: 'custom', input: text, path: [key], message: 'must be an address of its network' })
  }
  for (const [key, units] of Object.entries(amounts)) {
    // lamports and SPL amounts are u64
    if (value.network !== SOLANA || units >> 64n === 0n) continue
    issues.push({ code: 'custom', input: units, path: [key], message: 'must be below 2^64 on Solana' })
  }
}

export const communityPrice = fields({
  network: network(),
  /** `native`, or the token's address (EVM, lower case) or mint (Solana). */
  token: canonical(NO_ADDRESS, (text) => (text === NATIVE ? { form: NATIVE } : readAddress(text))).meta({
    description: '`native`, or the address or mint of a token',
  }),
  /** Base units of the token, more than zero. */
  amount: amount(),
  /** Who is paid: an address of that network. */
  recipient: address().meta({ description: 'Who is paid', example: EXAMPLE_ADDRESS }),
}).check((payload) => {
  const { token, recipient, amount } = payload.value
  onChain(payload, { token, recipient }, { amount })
})
export type CommunityPrice = z.output<typeof communityPrice>

const token = fields({
  kind: z.literal('token'),
  network: network(),
  /** An ERC-20 or ERC-721 contract, or an SPL mint. */
  token: address().meta({ description: 'ERC-20, ERC-721 or SPL mint' }),
  /** Least balance, in base units (ERC-721: tokens). */
  minimum: amount(),
}).check((payload) => onChain(payload, { token: payload.value.token }, { minimum: payload.value.minimum }))
export type TokenRequirement = z.output<typeof token>

const NO_ALLOWED = 'must name an address'
const allowlist = fields({
  kind: z.literal('allowlist'),
  /** The wallet is one of these. */
  addresses: listOf(
    address().meta({
      description:
        'EVM (answered in lower case) or Solana address; look-ups and lists of wallets take other chains’ too',
      example: EXAMPLE_ADDRESS,
    }),
    MAX_ALLOWLIST,
    NO_ALLOWED,
  )
    .refine((all) => all.length > 0, NO_ALLOWED)
    .overwrite((all) => [...new Set(all)]),
})

const cluster = fields({
  kind: z.literal('cluster'),
  /** The wallet is publicly verified in the cluster that holds this name. */
  name: canonical(NO_CLUSTER, (text) => {
    const form = parseClusterName(text)
    return form === null ? { fault: NO_CLUSTER } : { form }
  }).meta({ description: 'The wallet is publicly verified in the cluster that holds it', example: 'foobar' }),
})

const requirement = z.discriminatedUnion(
  'kind',
  [token, allowlist, cluster],
  'must be of kind token, allowlist or cluster',
)
export type CommunityRequirement = z.output<typeof requirement>

/** The parts of rules, as the interface shows them. */
export const communityParts = fields({
  prices: listOf(communityPrice, MAX_PRICES)
    .refine(
      (all) => new Set(all.map((one) => `${one.network} ${one.token}`)).size === all.length,
      'must name a token of a network once',
    )
    .meta({ description: 'None: names are free. The first one is what is asked for by default' }),
  ownersOnly: z
    .boolean('must be true or false')
    .meta({ description: 'Only the community’s own wallets register names, for others too' }),
  startsAt: z
    .codec(z.string(NO_DATE), z.number(), {
      encode: (ms) => new Date(ms).toISOString(),
      decode(text, ctx) {
        const ms = DATE.test(text) ? Date.parse(text) : Number.NaN
        // a day that its month doesn't have is read as one of the next month
        if (!Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 19) === text.slice(0, 19)) return ms
        ctx.issues.push({ code: 'custom', input: text, message: NO_DATE })
        return z.NEVER
      },
    })
    .nullable()
    .meta({ example: '2026-12-01T08:00:00.000Z' }),
  requirements: listOf(requirement, MAX_REQUIREMENTS).meta({
    description: 'The wallet that gets a name has to meet all of them',
  }),
})

export interface CommunityRules {
  /** No prices: free. At most one per token. The first of a network is what a quote asks for. */
  prices: readonly CommunityPrice[]
  /** Only wallets of the community's own cluster register names, for others too. Never together with prices. */
  ownersOnly: boolean
  /** Milliseconds since 1970; null: at once. */
  startsAtMs: number | null
  /** All of them have to be met. */
  requirements: readonly CommunityRequirement[]
}

const finished = z
  .custom<CommunityRules>()
  // a payment names nobody to receive the name
  .refine(({ ownersOnly, prices }) => !ownersOnly || prices.length === 0, {
    message: 'can not stand together with prices',
    path: ['ownersOnly'],
  })
type Parts = z.output<typeof communityParts>
const encode = ({ prices, ownersOnly, startsAtMs, requirements }: CommunityRules): Parts => ({
  ...{ prices: [...prices], ownersOnly, startsAt: startsAtMs, requirements: [...requirements] },
})
const decode = ({ prices = [], ownersOnly = false, startsAt = null, requirements = [] }: Partial<Parts>) => ({
  ...{ prices, ownersOnly, startsAtMs: startsAt, requirements },
})

/** Rules as the journal keeps them: whole, in canonical form. */
export const communityRules = z.codec(communityParts, finished, { encode, decode })
/** Rules as a request gives them: a part that is left out is empty. */
export const communityRulesInput = z.codec(communityParts.partial(), finished, { encode, decode })

/** Rules as the interface shows them and the journal keeps them. */
export const communityRulesJson = (rules: CommunityRules) => z.encode(communityRules, rules)

/** What is wrong where: `prices[0].amount`. */
export interface RulesProblem {
  path: string
  message: string
}

/** What rules may rest on. */
export interface CommunityChains {
  /** Whether a network label is one of this network's chains. */
  isEnabled(network: string): boolean
  /** Whether payments for community names are taken there. */
  takesPayments(network: string): boolean
}

/**
 * Reads the rules of a community: `{ prices: [{ network, token, amount, recipient }], ownersOnly, startsAt,
 * requirements }`, each part optional.
 * @param chains what this deployment has of the community's own network
 * @returns the rules in canonical form, or everything that is wrong with them (the first 20 faults)
 */
export function parseCommunityRules(
  input: unknown,
  chains: CommunityChains,
): CommunityRules | { problems: readonly RulesProblem[] } {
  const parsed = communityRulesInput.safeParse(input)
  const problems = parsed.success
    ? problemsOnChains(parsed.data, chains)
    : parsed.error.issues.map(({ code, path, message }) => ({
        // of a requirement without a known kind, all is wrong
        path: pathText(code === 'invalid_union' && path.at(-1) === 'kind' ? path.slice(0, -1) : path),
        message,
      }))
  return parsed.success && problems.length === 0 ? parsed.data : { problems: problems.slice(0, MAX_PROBLEMS) }
}

/** What is wrong with rules for the chains that a deployment has. */
export function problemsOnChains({ prices, requirements }: CommunityRules, chains: CommunityChains): RulesProblem[] {
  const problems: RulesProblem[] = []
  prices.forEach(({ network }, i) => {
    const path = `prices[${i}].network`
    if (!chains.isEnabled(network)) problems.push({ path, message: NO_NETWORK })
    else if (!chains.takesPayments(network))
      problems.push({ path, message: 'takes no payments for community names here' })
  })
  requirements.forEach((one, i) => {
    if (one.kind === 'token' && !chains.isEnabled(one.network))
      problems.push({ path: `requirements[${i}].network`, message: NO_NETWORK })
  })
  return problems
}

const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '')
