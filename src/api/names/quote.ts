import type { ChainPort, RegistrationQuote, RegistrationRequest } from '../../chains/chain.js'
import { readJournalHead } from '../../db/journal/head.js'
import { findKnownClusterId } from '../../db/registry/clusters.js'
import type { ChainFamily, PayerAddressType } from '../../registry/families.js'
import { addressToWord } from '../../registry/primitives/address.js'
import { defaultAmountWei, parseAmountWei } from '../../registry/primitives/amount.js'
import { parseClusterId } from '../../registry/primitives/clusterId.js'
import { withoutTrailingSlash } from '../../registry/primitives/name.js'
import { NETWORKS } from '../../registry/primitives/network.js'
import { requireAddressOfPayerType, requireSigner } from '../http/address.js'
import type { Context } from '../http/context.js'
import { ApiError, type ErrorDetail } from '../http/errors.js'
import { availabilityOfNames, requireNewNames } from './names.js'

/** Request of a quote. Only its shape has been validated. */
export interface QuoteRequest {
  /** Label of the chain to pay on. */
  network: string
  sender: string
  /** Names with their amounts as sent. An undefined amount means the default amount. */
  names: readonly { name: string; amount: unknown }[]
  /** Referrer: a cluster (v1) or an address (v0.1), not both. */
  referralClusterId?: string | undefined
  referralAddress?: string | undefined
  /** The query has `testnet=true`. */
  isTestnet: boolean
}

/** A quote or its request, with the referral: 32 bytes, the id of a cluster or an address. Null without a referral. */
export type WithReferral<T> = T & { referral: Buffer | null }

/**
 * Transaction data for registering names from a chain.
 * @param family chain family that the route serves
 * @returns the quote of the requested chain
 * @throws ApiError unsupported_network, watch_only, too_many, unsupported_address, invalid_sender, invalid_name,
 * invalid_request (repeated names, malformed referrer), invalid_amount, names_unavailable, catching_up
 * @throws BridgeError, ChainUnavailableError as the chain's `quote`
 */
export async function quoteRegistrationOnChain(
  context: Context,
  request: QuoteRequest,
  family: ChainFamily,
): Promise<WithReferral<RegistrationQuote>> {
  const chain = requireEnabledChain(context, request, family)
  if (chain.isWatchOnly)
    throw new ApiError(
      'watch_only',
      `Network "${chain.label}" is only watched here: it takes no registrations.`,
    )
  const { maxNames = Number.POSITIVE_INFINITY } = chain
  if (request.names.length > maxNames)
    throw new ApiError(
      'too_many',
      `A quote on ${family.name} has at most ${maxNames} names, not ${request.names.length}: ask for several quotes.`,
    )
  const registration = await registrationToQuote(
    { ...context, network: chain.network },
    request,
    chain,
  )
  return { ...(await chain.quote(registration)), referral: registration.referral }
}

/**
 * Validates a quote request: sender, names, amounts and referral. Every name has to be free.
 * @returns the registration to quote
 */
async function registrationToQuote(
  context: Context,
  request: QuoteRequest,
  { family, maxAmountWei }: ChainPort,
): Promise<WithReferral<RegistrationRequest>> {
  const sender = requireSender(request.sender, family.addressType)
  const names = requireDistinctNames(request.names.map(({ name }) => name))
  const { minimumWei } = await readJournalHead(context.pool, context.network)
  const amounts = requireAmounts(
    request.names.map(({ amount }) => amount),
    minimumWei,
    maxAmountWei,
  )
  const referral = await referralOf(context, request)
  await requireFreeNames(context, names)
  return {
    sender,
    names: names.map((name, i) => ({ name, amountWei: amounts[i]! })),
    referral,
    turn: context.turn,
  }
}

/** The chain of a family that a quote request names. @throws ApiError unsupported_network */
function requireEnabledChain(
  { chains }: Context,
  { network: networkLabel, isTestnet }: QuoteRequest,
  wanted: ChainFamily,
): ChainPort {
  // a label that both networks have, such as `solana`, means the mainnet unless the request has testnet=true
  const isSelected = ({ label, network, family }: ChainPort) =>
    family === wanted &&
    label === networkLabel &&
    (isTestnet ? network === 'testnet' : network === 'mainnet' || family.label === null)
  const port = chains.find(isSelected)
  if (port) return port
  const suffix = isTestnet ? ' with testnet=true' : ''
  throw new ApiError(
    'unsupported_network',
    `The network "${networkLabel.slice(0, MAX_REPEATED_LABEL_CHARS)}"${suffix} is not enabled for this quote. ${enabledText(chains)}`,
  )
}

/** Maximum number of characters of an unknown label that an error repeats. */
const MAX_REPEATED_LABEL_CHARS = 20

/** Text that lists the chains on which names can be registered, grouped by the route of their quotes. */
function enabledText(chains: readonly ChainPort[]): string {
  const open = chains.filter(({ isWatchOnly }) => !isWatchOnly)
  const families = [...new Set(open.map(({ family }) => family))]
  const routes = families.map(({ key }) => {
    const networks = NETWORKS.flatMap((network) => {
      const labels = open.filter((chain) => chain.family.key === key && chain.network === network)
      return labels.length > 0
        ? [`${labels.map(({ label }) => label).join(', ')} (${network})`]
        : []
    })
    return `${networks.join(', ')} at /v1/names/register/${key}`
  })
  return routes.length > 0 ? `Enabled are: ${routes.join('; ')}.` : 'No network is enabled here.'
}

function requireSender(input: string, type: PayerAddressType): string {
  const address = requireSigner(input, 'sender')
  if (address.type !== type)
    throw new ApiError(
      'invalid_sender',
      `The sender is an address of type ${address.type}, this takes ${type}.`,
    )
  return address.text
}

function requireDistinctNames(inputs: readonly string[]): string[] {
  const names = requireNewNames(inputs.map(withoutTrailingSlash), (i) => `names[${i}].name`)
  const first = new Map<string, number>()
  const details: ErrorDetail[] = []
  names.forEach((name, i) => {
    const earlier = first.get(name)
    if (earlier === undefined) first.set(name, i)
    else
      details.push({
        path: `names[${i}].name`,
        message: `"${name}" stands at names[${earlier}] already.`,
      })
  })
  if (details.length > 0)
    throw new ApiError('invalid_request', 'A name is given more than once.', { details })
  return names
}

function requireAmounts(inputs: readonly unknown[], minimumWei: bigint, maxWei?: bigint): bigint[] {
  const fallback = defaultAmountWei(minimumWei)
  const details: ErrorDetail[] = []
  const amounts = inputs.map((input, i) => {
    const amount = input === undefined ? fallback : parseAmountWei(input)
    const path = `names[${i}].amountWei`
    if (amount === null)
      details.push({ path, message: 'An amount is a decimal string of wei below 2^256.' })
    else if (amount < minimumWei)
      details.push({ path, message: `The least amount is ${minimumWei} wei.` })
    else if (maxWei !== undefined && amount > maxWei)
      details.push({ path, message: `The most that can be bid from here is ${maxWei} wei.` })
    return amount ?? 0n
  })
  if (details.length > 0) throw new ApiError('invalid_amount', details[0]!.message, { details })
  if (amounts.reduce((sum, amount) => sum + amount, 0n) >> 256n !== 0n)
    throw new ApiError('invalid_amount', 'The amounts together do not fit 256 bits.')
  return amounts
}

/**
 * Referral as 32 bytes: the id of a cluster, or an address (`addressToWord`). The id of an unknown cluster gives no
 * referral and no error, because links outlive clusters.
 * @throws ApiError invalid_request for a malformed id, unsupported_address
 */
async function referralOf(
  context: Context,
  {
    referralClusterId: input,
    referralAddress,
  }: Pick<QuoteRequest, 'referralClusterId' | 'referralAddress'>,
): Promise<Buffer | null> {
  if (referralAddress !== undefined)
    return addressToWord(requireAddressOfPayerType(referralAddress, 'referralAddress').bytes)
  if (input === undefined) return null
  const id = parseClusterId(input)
  const details = [
    {
      path: 'referralClusterId',
      message: 'It has to be the id of a cluster: 0x and 64 hex digits.',
    },
  ]
  if (!id)
    throw new ApiError('invalid_request', 'referralClusterId is not a cluster id.', { details })
  return findKnownClusterId(context.pool, context.network, id)
}

async function requireFreeNames(context: Context, names: readonly string[]): Promise<void> {
  const availability = await availabilityOfNames(context, names)
  const unavailable = names.filter((_, i) => availability[i] !== 'free')
  if (unavailable.length > 0)
    throw new ApiError('names_unavailable', '1 or more names are unavailable', {
      names: unavailable,
    })
}
