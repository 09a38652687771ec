import { parseAddress } from '../primitives/address.js'
import { parseAmountWei } from '../primitives/amount.js'
import { parseClusterName } from '../primitives/name.js'

/**
 * The rules of a community: what its wallet names cost, who may have one, and from when on. All validation of them stands
 * here, for the interface, the command line and the journal alike.
 */

/** The label of a network whose addresses and tokens are Solana's; every other is an EVM chain's. */
const SOLANA = 'solana'
export const NATIVE = 'native'

export interface CommunityPrice {
  /** The label of a network: `1`, `8453`, `solana`. */
  network: string
  /** `native`, or the token's address (EVM, lower case) or mint (Solana). */
  token: string
  /** In the token's base units, more than zero. */
  amount: bigint
  /** Who is paid: an address of that network. */
  recipient: string
}

export interface TokenRequirement {
  kind: 'token'
  network: string
  /** The address of an ERC-20 or ERC-721 contract, or an SPL mint. */
  token: string
  /** The least balance, in base units (ERC-721: tokens). */
  minimum: bigint
}

export type CommunityRequirement =
  | TokenRequirement
  /** The wallet is one of these. */
  | { kind: 'allowlist'; addresses: readonly string[] }
  /** The wallet is verified in the cluster that holds this name. */
  | { kind: 'cluster'; name: string }

export interface CommunityRules {
  /** No prices: free. At most one for a token. The first of a network is what a quote asks for. */
  prices: readonly CommunityPrice[]
  /** Only wallets of the community's own cluster register names, for others too. Never together with prices. */
  ownersOnly: boolean
  /** Milliseconds since 1970; null: at once. */
  startsAtMs: number | null
  /** All of them have to be met. */
  requirements: readonly CommunityRequirement[]
}

/** What is wrong where: `prices[0].amount`. */
export interface RulesProblem {
  path: string
  message: string
}

const MAX_PRICES = 20
const MAX_REQUIREMENTS = 20
const MAX_ALLOWLIST = 1_000
const MAX_PROBLEMS = 20
const DATE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{3})?Z$/

/**
 * Reads the rules of a community: `{ prices: [{ network, token, amount, recipient }], ownersOnly, startsAt, requirements }`,
 * each part optional. Fields that it doesn't know are refused: a misspelt one would silently open the community.
 * @param places what this deployment has of the community's own network
 * @returns the rules in canonical form, or everything that is wrong with them (the first 20 faults)
 */
export function parseCommunityRules(
  input: unknown,
  places: Places,
): CommunityRules | { problems: readonly RulesProblem[] } {
  const problems: RulesProblem[] = []
  const wrong = (path: string, message: string) => {
    problems.push({ path, message })
    return null
  }
  const rules = readRules(input, { ...places, wrong })
  return rules && problems.length === 0 ? rules : { problems: problems.slice(0, MAX_PROBLEMS) }
}

/** What rules may rest on. */
export interface Places {
  /** Whether a network label is one of this network's chains. */
  isEnabled(network: string): boolean
  /** Whether payments for community names are taken there. */
  takesPayments(network: string): boolean
}

/** The rules as the interface shows them and the journal keeps them: `parseCommunityRules` reads them back. */
export const communityRulesJson = ({ prices, ownersOnly, startsAtMs, requirements }: CommunityRules) => ({
  prices: prices.map(({ network, token, amount, recipient }) => ({
    network,
    token,
    amount: String(amount),
    recipient,
  })),
  ownersOnly,
  startsAt: startsAtMs === null ? null : new Date(startsAtMs).toISOString(),
  requirements: requirements.map(requirementJson),
})

function requirementJson(requirement: CommunityRequirement) {
  switch (requirement.kind) {
    case 'token': {
      const { kind, network, token, minimum } = requirement
      return { kind, network, token, minimum: String(minimum) }
    }
    case 'allowlist':
      return { kind: requirement.kind, addresses: [...requirement.addresses] }
    case 'cluster':
      return { kind: requirement.kind, name: requirement.name }
  }
}

type Fields = Readonly<Record<string, unknown>>

/** What the readers of parts share. A part in which something is wrong is null, and the fault is told. */
interface Check extends Places {
  wrong(path: string, message: string): null
}

function readRules(input: unknown, check: Check): CommunityRules | null {
  const of = readFields(input, '', ['prices', 'ownersOnly', 'startsAt', 'requirements'], check)
  if (!of) return null
  const prices = readList(of.prices, 'prices', MAX_PRICES, readPrice, check)
  const tokens = prices.map(({ network, token }) => `${network} ${token}`)
  if (new Set(tokens).size < tokens.length) check.wrong('prices', 'must name a token of a network once')
  const ownersOnly = of.ownersOnly ?? false
  if (typeof ownersOnly !== 'boolean') return check.wrong('ownersOnly', 'must be true or false')
  // a payment names nobody to receive the name
  if (ownersOnly && prices.length > 0) check.wrong('ownersOnly', 'can not stand together with prices')
  const requirements = readList(of.requirements, 'requirements', MAX_REQUIREMENTS, readRequirement, check)
  return { prices, ownersOnly, startsAtMs: readDate(of.startsAt, 'startsAt', check), requirements }
}

function readPrice(item: unknown, path: string, check: Check): CommunityPrice | null {
  const of = readFields(item, path, ['network', 'token', 'amount', 'recipient'], check)
  if (!of) return null
  const network = readNetwork(of.network, `${path}.network`, check)
  if (network !== null && !check.takesPayments(network))
    check.wrong(`${path}.network`, 'takes no payments for community names here')
  const token = of.token === NATIVE ? NATIVE : readAddress(of.token, network, `${path}.token`, check)
  const amount = readAmount(of.amount, network, `${path}.amount`, check)
  const recipient = readAddress(of.recipient, network, `${path}.recipient`, check)
  return network && token && amount && recipient ? { network, token, amount, recipient } : null
}

function readRequirement(item: unknown, path: string, check: Check): CommunityRequirement | null {
  const kind = typeof item === 'object' && item !== null && 'kind' in item ? item.kind : undefined
  if (kind === 'token') return readTokenRequirement(item, path, check)
  if (kind === 'allowlist') {
    const of = readFields(item, path, ['kind', 'addresses'], check)
    if (!of) return null
    const one = (value: unknown, at: string) => readAddress(value, null, at, check)
    const addresses = readList(of.addresses, `${path}.addresses`, MAX_ALLOWLIST, one, check)
    const isEmpty = !Array.isArray(of.addresses) || of.addresses.length === 0
    return isEmpty
      ? check.wrong(`${path}.addresses`, 'must name an address')
      : { kind, addresses: [...new Set(addresses)] }
  }
  if (kind === 'cluster') {
    const of = readFields(item, path, ['kind', 'name'], check)
    if (!of) return null
    const name = typeof of.name === 'string' ? parseClusterName(of.name) : null
    return name === null ? check.wrong(`${path}.name`, 'must be the name of a cluster') : { kind, name }
  }
  return check.wrong(path, 'must be of kind token, allowlist or cluster')
}

function readTokenRequirement(item: unknown, path: string, check: Check): TokenRequirement | null {
  const of = readFields(item, path, ['kind', 'network', 'token', 'minimum'], check)
  if (!of) return null
  const network = readNetwork(of.network, `${path}.network`, check)
  const token = readAddress(of.token, network, `${path}.token`, check)
  const minimum = readAmount(of.minimum, network, `${path}.minimum`, check)
  return network && token && minimum ? { kind: 'token', network, token, minimum } : null
}

function readFields(value: unknown, path: string, known: readonly string[], check: Check): Fields | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return check.wrong(path, 'must be an object')
  const unknown = Object.keys(value).find((key) => !known.includes(key))
  if (unknown !== undefined) return check.wrong(path, `has an unknown field ${JSON.stringify(unknown.slice(0, 40))}`)
  return value as Fields
}

/** The parts of a list that are right; an absent one is empty. */
function readList<T>(
  value: unknown,
  path: string,
  most: number,
  read: (item: unknown, path: string, check: Check) => T | null,
  check: Check,
): T[] {
  if (value === undefined) return []
  if (!Array.isArray(value) || value.length > most) {
    check.wrong(path, `must be a list of at most ${most}`)
    return []
  }
  return value.map((item, i) => read(item, `${path}[${i}]`, check)).filter((item) => item !== null)
}

const readNetwork = (value: unknown, path: string, check: Check): string | null =>
  typeof value === 'string' && check.isEnabled(value) ? value : check.wrong(path, 'is no network of this community')

/** An address in its answer form: of the network's kind, or of any where no network is given. */
function readAddress(value: unknown, network: string | null, path: string, check: Check): string | null {
  const address = typeof value === 'string' ? parseAddress(value) : 'unsupported_address'
  if (address === 'bad_checksum') return check.wrong(path, 'has a wrong checksum (EIP-55)')
  if (address === 'unsupported_address') return check.wrong(path, 'must be an address')
  if (address.bytes.subarray(1).every((byte) => byte === 0)) return check.wrong(path, 'must not be the zero address')
  const isOfNetwork = network === null || address.type === (network === SOLANA ? 'solana' : 'evm')
  return isOfNetwork ? address.text : check.wrong(path, 'must be an address of its network')
}

function readAmount(value: unknown, network: string | null, path: string, check: Check): bigint | null {
  const amount = parseAmountWei(value)
  if (!amount) return check.wrong(path, 'must be a whole number of base units above zero, as a string')
  // lamports and SPL amounts are u64
  return network === SOLANA && amount >> 64n !== 0n ? check.wrong(path, 'must be below 2^64 on Solana') : amount
}

function readDate(value: unknown, path: string, check: Check): number | null {
  if (value === undefined || value === null) return null
  const ms = typeof value === 'string' && DATE.test(value) ? Date.parse(value) : Number.NaN
  // a day that its month doesn't have is read as one of the next month
  const isReal = !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 19) === String(value).slice(0, 19)
  return isReal ? ms : check.wrong(path, 'must be a date of the form 2026-11-20T08:00:00Z, or null')
}
