import type { ChainConfig } from '../../config/index.js'
import { StageClock } from '../../ops/stages.js'
import { EVM } from '../../registry/families.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'
import { confirmationRulesOf } from '../../registry/primitives/confirmation.js'
import type { Network } from '../../registry/primitives/network.js'
import {
  type ChainTx,
  type EvmPort,
  type EvmQuote,
  type Hex,
  type OwedMoney,
  type OwedMoneyQuery,
  type RegistrationRequest,
  rethrowAsUnavailable,
} from '../chain.js'
import { fallbackIfRefused, transientError } from '../rpc/errors.js'
import { type Call, createRpc, type Rpc } from '../rpc/evm.js'
import { fallbackIfUndecided, type NodeConsumer, type PoolOptions } from '../rpc/nodes.js'
import { cacheByKey, cacheFor } from '../rpc/served.js'
import { BALANCE_CACHE, confirmByTwoNodes, TX_STATE_CACHE } from '../rpc/strangers.js'
import { encodeClaim, encodeClaimFor } from './airdrop/distributor.js'
import { encodePlaceBids } from './bridge/calls.js'
import { decodeMessage, messageNames } from './bridge/hubMessage.js'
import { decodePacket } from './bridge/packet.js'
import { createSpokeQuoter, withdrawalOnHub, withdrawalOnSpoke } from './bridge/quote.js'
import { owedByPayments } from './community/owed.js'
import { createCommunityPort } from './community/port.js'
import { getHeader, type Header } from './logs.js'
import { primaryNameOn } from './primaryName.js'
import { createSignatureCheck } from './smartWallet.js'
import {
  findTransactionByNonce,
  hasTransactionUsedNonce,
  readTransaction,
  type TransactionQuery,
} from './transactions.js'

export interface ChainHeads {
  latest: Header
  /** Number of the last confirmed block. Negative while there is none. */
  confirmed: number
  /** Time of the finalized or safe block, ms. Null where blocks are confirmed by their depth. */
  confirmedMs: number | null
  /** Calls the node that returned these heads. */
  node: Call
}

/** An EVM chain: the API's port plus the indexer's reads. */
export interface EvmChain extends EvmPort {
  readonly config: ChainConfig
  readonly rpc: Rpc
  /** Measures how long each stage of indexing takes. */
  readonly stages: StageClock
  /**
   * The same chain with a node pool of its own for another consumer, so that its faults and rate limits do not affect
   * this one.
   */
  forUse(use: NodeConsumer): EvmChain
  /**
   * The same chain for anonymous API requests: each kind of call has its own share of the nodes, and answers are
   * cached.
   */
  forStrangers(): EvmPort
  /** @throws ChainUnavailableError */
  heads(): Promise<ChainHeads>
  /** The newest head, cached for `HEAD_CACHE_MS`. */
  head: TransactionQuery['head']
}

/** Lifetime of a cached head, shared by concurrent status polls. */
const HEAD_CACHE_MS = 250
/** How long the search for a replaced transaction is not repeated: one search may take dozens of calls. */
const REPLACEMENT = {
  forMs: () => 5_000,
  most: 1_000,
  keyOf: (sender: Hex, nonce: number) => `${sender} ${nonce}`,
}

export function createEvmChain({
  config,
  chain,
  rpc,
}: Pick<EvmChain, 'config' | 'chain' | 'rpc'>): EvmChain {
  const { network, role } = config
  const asking = <T>(work: () => Promise<T>): Promise<T> =>
    rethrowAsUnavailable(`chain "${config.label}"`, work)
  const heads = () => {
    // not awaited, so that a hanging node delays nothing
    void rpc.checkHeads()
    return asking(() =>
      rpc.newestHead(
        (call) => readHeads(call, config),
        ({ latest }) => latest.number,
      ),
    )
  }
  const head = cacheFor(HEAD_CACHE_MS, async () => {
    const { latest, confirmed } = await heads()
    return { latest: latest.number, confirmed }
  })
  const forUse = (use: NodeConsumer) => createEvmChain({ config, chain, rpc: rpc.forUse(use) })
  const quoteOfSpoke = createSpokeQuoter(config, rpc)
  return {
    ...createCommunityPort(rpc, config),
    config,
    rpc,
    stages: new StageClock(),
    forUse,
    forStrangers: () => portForStrangers(forUse),
    family: EVM,
    network: network as Network,
    chain,
    role,
    gasToken: config.gasToken,
    explorer: config.explorer ?? null,
    isWatchOnly: config.watchOnly !== undefined && !config.watchOnly.quotes,
    chainId: config.chainId,
    isValidSignature: createSignatureCheck(rpc),
    primaryName: (registrar, account) => asking(() => primaryNameOn(rpc.call, registrar, account)),
    claimData: encodeClaim,
    claimForData: encodeClaimFor,
    refunds: {
      eid: config.eid,
      owed: (question) => asking(() => owedOn(rpc, config, question)),
      withdrawal: (bidder, to) =>
        asking(() => withdrawalOn(rpc, config, bidder as Hex, to as Hex | null)),
    },
    heads,
    head,
    transaction: (hash, confirmed): Promise<ChainTx> =>
      asking(() =>
        confirmByTwoNodes(rpc, (call) =>
          readTransaction(call, { hash, confirmed, ours: config, head }),
        ),
      ),
    replacement: (sender, nonce, confirmed) =>
      asking(async () => {
        const question = { sender, nonce, confirmed }
        const hash = await rpc.onOneNode((call) => findTransactionByNonce(call, question))
        if (hash === null) return null
        const isHeld = rpc.quorum((call) => hasTransactionUsedNonce(call, hash, question))
        return (await fallbackIfUndecided(isHeld, false)) ? hash : null
      }),
    namesOfPacket: (packet) => {
      const decoded = decodePacket(toHex(packet))
      return decoded ? messageNames(decodeMessage(fromHex(decoded.message))) : []
    },
    quote: (request) =>
      asking(async () => (role === 'hub' ? quoteOnHub(config, request) : quoteOfSpoke(request))),
  }
}

function portForStrangers(forUse: EvmChain['forUse']): EvmPort {
  const status = forUse('status')
  const { tokenBalance } = forUse('tokens')
  const { refunds, primaryName } = forUse('refunds')
  return {
    ...forUse('api'),
    refunds,
    primaryName,
    isValidSignature: forUse('wallets').isValidSignature,
    transaction: cacheByKey(status.transaction, TX_STATE_CACHE),
    replacement: cacheByKey(status.replacement, REPLACEMENT),
    tokenBalance,
    recentBalance: cacheByKey(tokenBalance, BALANCE_CACHE),
  }
}

export const createChainRpc = (
  { label, rpcUrls: urls, chainId, genesisHash, local }: Omit<ChainConfig, 'contract'>,
  onFault?: PoolOptions<Hex>['onFault'],
): Rpc =>
  createRpc({ label, urls, chainId, genesisHash, onFault, ...(local && { leastBlockMs: 0 }) })

export async function readHeads(
  call: Call,
  { confirmation }: Pick<ChainConfig, 'confirmation'>,
): Promise<ChainHeads> {
  const { tag, confirmedOf } = confirmationRulesOf(confirmation)
  const [latest, tagged] = await Promise.all([
    getHeader(call, 'latest'),
    tag && getHeader(call, tag),
  ])
  if (!latest) throw transientError('eth_getBlockByNumber: the node has no latest block')
  return {
    latest,
    confirmed: confirmedOf(latest.number, tagged?.number),
    confirmedMs: tagged?.timestampMs ?? null,
    node: call,
  }
}

/**
 * The highest block that at least `nodes` nodes report as confirmed, or all nodes where fewer are configured.
 * @param first heads of one of the nodes
 * @throws ChainUnavailableError
 */
export async function readSharedConfirmed(
  { rpc, config }: Pick<EvmChain, 'rpc' | 'config'>,
  first: ChainHeads,
  nodes = 2,
): Promise<number> {
  const needed = Math.min(nodes, rpc.size)
  if (needed === 1) return first.confirmed
  const read = async (call: Call) => (call === first.node ? first : readHeads(call, config))
  const heads = await rpc.onEveryNode(read, needed)
  const heights = heads.map(({ confirmed }) => confirmed).sort((a, b) => b - a)
  return heights[needed - 1]!
}

async function owedOn(
  rpc: Rpc,
  { communityPayments }: ChainConfig,
  question: OwedMoneyQuery,
): Promise<OwedMoney[]> {
  const by = (contract: Hex) => (call: Call) => owedByPayments(call, contract, question)
  const owed = await Promise.all([
    communityPayments ? rpc.onOneNode(by(communityPayments)) : [],
    // an address that was configured by mistake has no contract
    ...question.former.map((contract) =>
      rpc.onOneNode((call) => fallbackIfRefused(by(contract)(call), [])),
    ),
  ])
  return owed.flat()
}

const withdrawalOn = async (rpc: Rpc, config: ChainConfig, bidder: Hex, to: Hex | null) =>
  config.role === 'hub'
    ? withdrawalOnHub(config.contract as Hex, to ?? bidder)
    : rpc.onOneNode((call) => withdrawalOnSpoke(call, config, bidder, to))

/** Quotes a registration on the hub, where a bid is the transaction's value. */
function quoteOnHub(config: ChainConfig, { names, referral }: RegistrationRequest): EvmQuote {
  const value = names.reduce((sum, { amountWei }) => sum + amountWei, 0n)
  return {
    gasToken: config.gasToken,
    transactionData: { to: config.contract as Hex, data: encodePlaceBids(names, referral), value },
    registrationFee: value,
    bridgeFee: 0n,
    names: names.map(({ name, amountWei }) => ({ name, amountWei, amount: amountWei })),
  }
}
