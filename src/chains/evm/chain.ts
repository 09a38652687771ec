import type { ChainConfig } from '../../config/index.js'
import { fallbackOnExpectedError } from '../../ops/logger/errors.js'
import { LoopStageTimer } from '../../ops/stages.js'
import { EVM } from '../../registry/families.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'
import { confirmationRulesOf } from '../../registry/primitives/confirmation.js'
import type { Network } from '../../registry/primitives/network.js'
import {
  type ChainTx,
  type EvmChainPort,
  type EvmQuote,
  type Hex,
  type MoneyOwedToPayer,
  type OwedMoneyQuery,
  type RegistrationRequest,
  rethrowAsUnavailable,
  type UnsignedTransaction,
} from '../chain.js'
import { fallbackIfRefused, transientError } from '../rpc/errors.js'
import { createEvmRpc, type EvmRpc, type RpcCall } from '../rpc/evm.js'
import {
  fallbackIfNoQuorum,
  type NodeConsumer,
  NodesDisagreeError,
  type RpcPoolOptions,
} from '../rpc/nodes.js'
import { cacheAnswerForDuration, cacheAnswersByKey } from '../rpc/served.js'
import { readTxByTwoNodes, TOKEN_CACHE_OPTIONS, TX_STATE_CACHE_OPTIONS } from '../rpc/strangers.js'
import { encodeClaimCalldata, encodeClaimForCalldata } from './airdrop/distributor.js'
import { encodePlaceBidsCalldata } from './bridge/calls.js'
import { decodeHubMessage, namesOfHubCall } from './bridge/hubMessage.js'
import { decodePacket } from './bridge/packet.js'
import {
  createSpokeQuoter,
  hubWithdrawalTransaction,
  spokeWithdrawalTransaction,
} from './bridge/quote.js'
import { readMoneyOwedToPayer } from './community/owed.js'
import { createEvmCommunityPaymentPort } from './community/port.js'
import { isContract } from './contracts/read.js'
import { type BlockHeader, getBlockHeader } from './logs.js'
import { readPrimaryName } from './primaryName.js'
import { createCodeCheck, createSmartWalletSignatureCheck } from './smartWallet.js'
import {
  findTransactionByNonce,
  hasTransactionUsedNonce,
  readTransaction,
  type TransactionQuery,
} from './transactions.js'

/** The last block that is confirmed. */
export interface ConfirmedHead {
  /** Number of the block. Negative while no block is confirmed. */
  confirmed: number
  /** Hash of the finalized or safe block. Null where the hash is not known, or blocks are confirmed by their depth. */
  confirmedHash: Hex | null
  /** Time of the finalized or safe block, ms. Null where blocks are confirmed by their depth. */
  confirmedMs: number | null
  /** Calls the node that returned the block. */
  node: RpcCall
}

export interface ChainHeads extends ConfirmedHead {
  latest: BlockHeader
}

/** An EVM chain: the API's port plus the indexer's reads. */
export interface EvmChain extends EvmChainPort {
  readonly config: ChainConfig
  readonly rpc: EvmRpc
  /** Measures how long each stage of indexing takes. */
  readonly stages: LoopStageTimer
  /**
   * The same chain with a node pool of its own for another consumer, so that the consumer's faults and rate limits do
   * not affect this chain's pool.
   */
  forUse(use: NodeConsumer): EvmChain
  /**
   * The same chain for anonymous API requests. Each kind of request has its own limit of calls to a node. Transaction
   * states and balances are cached.
   */
  forStrangers(): EvmChainPort
  /**
   * Reads the newest block, and the last block that one node calls confirmed. Each read of a finalized or safe block asks
   * another node, so that no single node can hold it back. @throws ChainUnavailableError
   */
  heads(): Promise<ChainHeads>
  /** Numbers of the newest and the last confirmed block, cached for `HEAD_CACHE_MS`. */
  head: TransactionQuery['head']
}

/** Lifetime of a cached head, which concurrent status polls share, ms. */
const HEAD_CACHE_MS = 250
/**
 * Lifetime (ms), size and key of the cache of searches for a transaction's replacement. One search, by sender and
 * nonce, may take dozens of calls.
 */
const REPLACEMENT_CACHE_OPTIONS = {
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
      rpc.onOneNode((call) =>
        readChainHeads(call, config, () => rpc.inTurn((node) => readConfirmedHead(node, config))),
      ),
    )
  }
  const head = cacheAnswerForDuration(HEAD_CACHE_MS, async () => {
    const { latest, confirmed } = await heads()
    return { latest: latest.number, confirmed }
  })
  const forUse = (use: NodeConsumer) => createEvmChain({ config, chain, rpc: rpc.forUse(use) })
  const quoteOfSpoke = createSpokeQuoter(config, rpc)
  return {
    ...createEvmCommunityPaymentPort(rpc, config),
    config,
    rpc,
    stages: new LoopStageTimer(),
    forUse,
    forStrangers: () => createPortForStrangers(forUse),
    family: EVM,
    network: network as Network,
    chain,
    role,
    gasToken: config.gasToken,
    explorer: config.explorer ?? null,
    name: config.name,
    publicRpcUrls: config.publicRpcUrls,
    contract: config.contract,
    isWatchOnly: config.watchOnly !== undefined && !config.watchOnly.quotes,
    chainId: config.chainId,
    nodes: rpc.size,
    seemsToHaveCode: createCodeCheck(rpc),
    isValidSignature: createSmartWalletSignatureCheck(rpc),
    primaryName: (registrar, account) =>
      asking(() => readPrimaryName(rpc.call, registrar, account)),
    claimData: encodeClaimCalldata,
    claimForData: encodeClaimForCalldata,
    refunds: {
      eid: config.eid,
      owed: (question) => asking(() => readOwedMoney(rpc, config, question)),
      withdrawal: (bidder, to) =>
        asking(() => prepareWithdrawal(rpc, config, bidder as Hex, to as Hex | null)),
    },
    heads,
    head,
    transaction: (hash, confirmed): Promise<ChainTx> =>
      asking(() =>
        readTxByTwoNodes(rpc, (call) =>
          readTransaction(call, { hash, confirmed, ours: config, head }),
        ),
      ),
    replacement: (sender, nonce, confirmed) =>
      asking(async () => {
        const question = { sender, nonce, confirmed }
        const hash = await rpc.onOneNode((call) => findTransactionByNonce(call, question))
        if (hash === null) return null
        const isHeld = rpc.quorum((call) => hasTransactionUsedNonce(call, hash, question))
        return (await fallbackIfNoQuorum(isHeld, false)) ? hash : null
      }),
    namesOfPacket: (packet) => {
      const decoded = decodePacket(toHex(packet))
      return decoded ? namesOfHubCall(decodeHubMessage(fromHex(decoded.message))) : []
    },
    quote: (request) =>
      asking(async () => (role === 'hub' ? quoteOnHub(config, request) : quoteOfSpoke(request))),
  }
}

function createPortForStrangers(forUse: EvmChain['forUse']): EvmChainPort {
  const status = forUse('status')
  const { tokenBalance, tokenUnit } = forUse('tokens')
  const { refunds, primaryName } = forUse('refunds')
  const { seemsToHaveCode, isValidSignature } = forUse('wallets')
  return {
    ...forUse('api'),
    refunds,
    primaryName,
    seemsToHaveCode,
    isValidSignature,
    transaction: cacheAnswersByKey(status.transaction, TX_STATE_CACHE_OPTIONS),
    replacement: cacheAnswersByKey(status.replacement, REPLACEMENT_CACHE_OPTIONS),
    tokenBalance,
    tokenUnit: cacheAnswersByKey(tokenUnit, TOKEN_CACHE_OPTIONS),
    recentBalance: cacheAnswersByKey(tokenBalance, TOKEN_CACHE_OPTIONS),
  }
}

export const createEvmChainRpc = (
  { label, rpcUrls: urls, chainId, genesisHash, local }: Omit<ChainConfig, 'contract'>,
  onFault?: RpcPoolOptions<Hex>['onFault'],
): EvmRpc =>
  createEvmRpc({ label, urls, chainId, genesisHash, onFault, ...(local && { leastBlockMs: 0 }) })

type ConfirmationPolicy = Pick<ChainConfig, 'confirmation'>

/** Reads the last block that a node calls confirmed. @param latest the node's latest block, if it is known */
export async function readConfirmedHead(
  call: RpcCall,
  { confirmation }: ConfirmationPolicy,
  latest?: BlockHeader,
): Promise<ConfirmedHead> {
  const { tag, confirmedOf } = confirmationRulesOf(confirmation)
  const header = tag || !latest ? await getBlockHeader(call, tag ?? 'latest') : latest
  const confirmed = confirmedOf(header?.number ?? -1, header?.number)
  if (!tag || !header) return { confirmed, confirmedHash: null, confirmedMs: null, node: call }
  const { hash, timestampMs } = header
  return { confirmed, confirmedHash: hash, confirmedMs: timestampMs, node: call }
}

/**
 * Reads the newest and the last confirmed block from one node.
 * @param readTagged reads the finalized or safe block, possibly from another node; default: from the same node
 */
export async function readChainHeads(
  call: RpcCall,
  policy: ConfirmationPolicy,
  readTagged = () => readConfirmedHead(call, policy),
): Promise<ChainHeads> {
  const { tag } = confirmationRulesOf(policy.confirmation)
  const [latest, tagged] = await Promise.all([getBlockHeader(call, 'latest'), tag && readTagged()])
  if (!latest) throw transientError('eth_getBlockByNumber: the node has no latest block')
  return { latest, ...(tagged || (await readConfirmedHead(call, policy, latest))) }
}

/**
 * The highest block that two nodes call confirmed, where two are configured. A node whose finality stands still does
 * not delay two other nodes. `confirmedHash` is null unless two nodes call the same block their last confirmed one.
 * @param first what one of the nodes calls confirmed; this node is not asked again
 * @throws ChainUnavailableError
 */
export async function readConfirmedBlock(
  { rpc, config }: Pick<EvmChain, 'rpc' | 'config'>,
  first: ConfirmedHead,
): Promise<ConfirmedHead> {
  if (rpc.size === 1) return first
  const answers = await rpc.answersOfAll<ConfirmedHead>(
    async (call) => (call === first.node ? first : readConfirmedHead(call, config)),
    rpc.needed,
  )
  const head = answers.reached(rpc.needed, ({ confirmed }) => confirmed)!.answer
  const isSame = (a: ConfirmedHead, b: ConfirmedHead) =>
    [a, b].every(({ confirmedHash }) => confirmedHash === head.confirmedHash)
  return answers.agreement(rpc.needed, isSame) ? head : { ...head, confirmedHash: null }
}

async function readOwedMoney(
  rpc: EvmRpc,
  { communityPayments }: ChainConfig,
  question: OwedMoneyQuery,
): Promise<MoneyOwedToPayer[]> {
  const by = (contract: Hex) => (call: RpcCall) => readMoneyOwedToPayer(call, contract, question)
  const owed = await Promise.all([
    communityPayments ? rpc.onOneNode(by(communityPayments)) : [],
    // a reverted call counts as nothing owed: an address that was configured by mistake has no contract
    ...question.former.map((contract) =>
      rpc.onOneNode((call) => fallbackIfRefused(by(contract)(call), [])),
    ),
  ])
  return owed.flat()
}

/** Implements `RefundPort.withdrawal`. */
async function prepareWithdrawal(
  rpc: EvmRpc,
  config: ChainConfig,
  bidder: Hex,
  to: Hex | null,
): Promise<UnsignedTransaction | null> {
  const receiver = to ?? bidder
  if (config.role === 'hub') return hubWithdrawalTransaction(config.contract, receiver)
  // a bidder about whose code nodes contradict each other counts as a contract: nobody may control its address on the hub
  const isOfContract =
    !to &&
    (await fallbackOnExpectedError(
      rpc.quorum((call) => isContract(call, bidder)),
      (error) => error instanceof NodesDisagreeError,
      true,
    ))
  return isOfContract
    ? null
    : rpc.onOneNode((call) => spokeWithdrawalTransaction(call, config, bidder, receiver))
}

/** Quotes a registration on the hub, where a bid is the transaction's value. */
function quoteOnHub(config: ChainConfig, { names, referral }: RegistrationRequest): EvmQuote {
  const value = names.reduce((sum, { amountWei }) => sum + amountWei, 0n)
  return {
    gasToken: config.gasToken,
    transactionData: {
      to: config.contract as Hex,
      data: encodePlaceBidsCalldata(names, referral),
      value,
    },
    registrationFee: value,
    bridgeFee: 0n,
    names: names.map(({ name, amountWei }) => ({ name, amountWei, amount: amountWei })),
  }
}
