import { type Hex, keccak256, parseEther, parseGwei } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { encodePlaceBidsCalldata } from '../chains/evm/bridge/calls.js'
import type { Network } from '../registry/primitives/network.js'
import { CONFIRMATION_BLOCKS, type LocalChain } from './chains/localChain.js'
import { LOCAL_RELAYER_SPEND_CAP_WEI } from './chains/localChains.js'
import { localChainClients } from './chains/localClients.js'
import { waitForReceipt } from './chains/receipt.js'
import { OPEN_COMMUNITY_NAME, PAID_COMMUNITY_NAME } from './communitySeeds.js'
import { buildBridgeCall } from './contracts/bridgeCall.js'
import { lowerCaseAddress, operatorAccount, type Seed, seededCommunityOwner } from './world.js'

/** Name for which two wallets bid. */
const CONTESTED_NAME = 'seedling'
/** Name for which only one wallet bids. This wallet has no bid for `CONTESTED_NAME`. */
const NEIGHBOUR_NAME = 'neighbour'
/** Name of the bid that stays in the mempool. Nobody gets it. */
const WAITING_NAME = 'latecomer'
/** Name of the bid in the undelivered message of a spoke. Nobody gets it. */
const TRAVELLING_NAME = 'traveller'
const BID_WEI = parseEther('0.01')
/** Priority fee per gas of the bid that has to be first in a block. */
const FIRST_FEE_WEI = parseGwei('3')
/** Priority fee per gas of bids that have to be later in the block. */
const SECOND_FEE_WEI = parseGwei('1')
const MAX_FEE_WEI = parseGwei('100')
/** Gas limit for each name of a transaction with bids. */
const BID_GAS_PER_NAME = 300_000n
/** Gas limit of the call that sends a message, with a margin. */
const MESSAGE_GAS = 1_000_000n
/** Nonce of a transaction that can't be mined, since earlier nonces are unused. */
const UNREACHED_NONCE = 1_000
/**
 * Text of the alarm that a network's seed raises in `/status`: the seed's message is parked, because it costs more than
 * the relayer's spend cap.
 */
export const seededAlarmText = (network: Network): string =>
  `${network}: parked jobs of the kind execute: 1`

/**
 * Sends the sample transactions (seeds) on a network's chains, or finds the transactions of an earlier start. On the
 * hub: a name that one wallet won and another lost, a second name, the names of the communities, and a transaction that
 * stays pending. On the spoke, if any: a message that stays undelivered. The communities are made later, through the
 * API.
 */
export async function seedNetwork(hub: LocalChain, spoke: LocalChain | undefined): Promise<Seed> {
  const [{ finalized, lost }, pending, bridging] = await Promise.all([
    seedBids(hub),
    sendPendingBid(hub),
    spoke && seedMessage(spoke),
  ])
  const owner = lowerCaseAddress(operatorAccount('seedOwner').address)
  return {
    name: CONTESTED_NAME,
    owner,
    tx: { finalized, lost, pending, ...(bridging && { bridging }) },
  }
}

// ---- bids on the hub

async function seedBids(chain: LocalChain) {
  const admin = privateKeyToAccount(seededCommunityOwner().privateKey)
  const bid = (account: PrivateKeyAccount, names: readonly string[], feeWei: bigint) =>
    sendOnce(chain, account, bidsTransaction(chain, names, feeWei))
  const [finalized, lost] = await sendAndConfirm(chain, async () => [
    await bid(operatorAccount('seedOwner'), [CONTESTED_NAME], FIRST_FEE_WEI),
    await bid(operatorAccount('seedLoser'), [CONTESTED_NAME], SECOND_FEE_WEI),
    await bid(operatorAccount('neighbour'), [NEIGHBOUR_NAME], SECOND_FEE_WEI),
    await bid(admin, [OPEN_COMMUNITY_NAME, PAID_COMMUNITY_NAME], SECOND_FEE_WEI),
  ])
  return { finalized: finalized!, lost: lost! }
}

function bidsTransaction(
  { config }: LocalChain,
  names: readonly string[],
  feeWei: bigint,
): SeedTransaction {
  const bids = names.map((name) => ({ name, amountWei: BID_WEI }))
  const count = BigInt(names.length)
  return {
    to: config.contract,
    data: encodePlaceBidsCalldata(bids, null),
    value: BID_WEI * count,
    gas: BID_GAS_PER_NAME * count,
    maxPriorityFeePerGas: feeWei,
  }
}

// ---- a transaction that stays in the hub's mempool

/**
 * Sends a bid that stays pending. Anvil loses its mempool when it ends, so every start sends the bid again: the same
 * bytes, with the same hash.
 */
async function sendPendingBid(chain: LocalChain): Promise<Hex> {
  const bid = bidsTransaction(chain, [WAITING_NAME], SECOND_FEE_WEI)
  const signed = await signSeedTransaction(
    chain,
    operatorAccount('seedWaiter'),
    bid,
    UNREACHED_NONCE,
  )
  return localChainClients(chain).reader.sendRawTransaction({ serializedTransaction: signed })
}

// ---- a message that stays on the bridge

async function seedMessage(chain: LocalChain): Promise<Hex> {
  const { rpcUrl, chainId, config } = chain
  const account = operatorAccount('seedTraveller')
  const amountWei = LOCAL_RELAYER_SPEND_CAP_WEI + BID_WEI
  const hubCalldata = encodePlaceBidsCalldata([{ name: TRAVELLING_NAME, amountWei }], null)
  const call = await buildBridgeCall(
    { rpcUrl, chainId, contracts: { spoke: config.contract } },
    { from: account.address, hubCalldata, valueWei: amountWei },
  )
  const message = { ...call, gas: MESSAGE_GAS, maxPriorityFeePerGas: SECOND_FEE_WEI }
  const [sent] = await sendAndConfirm(chain, async () => [await sendOnce(chain, account, message)])
  return sent!
}

// ---- transactions of bids and of messages

interface SeedTransaction {
  to: Hex
  data: Hex
  value: bigint
  gas: bigint
  maxPriorityFeePerGas: bigint
}

const signSeedTransaction = (
  { chainId }: LocalChain,
  account: PrivateKeyAccount,
  transaction: SeedTransaction,
  nonce: number,
): Promise<Hex> =>
  account.signTransaction({
    ...transaction,
    type: 'eip1559',
    chainId,
    nonce,
    maxFeePerGas: MAX_FEE_WEI,
  })

/** Sends a transaction, unless an earlier start has sent it as the account's first transaction. @returns its hash */
async function sendOnce(
  chain: LocalChain,
  account: PrivateKeyAccount,
  transaction: SeedTransaction,
): Promise<Hex> {
  const { reader } = localChainClients(chain)
  const first = keccak256(await signSeedTransaction(chain, account, transaction, 0))
  const nonce = await reader.getTransactionCount({ address: account.address })
  const isSent = nonce > 0 && (await reader.getTransaction({ hash: first }).catch(() => null))
  if (isSent) return first
  const serializedTransaction = await signSeedTransaction(chain, account, transaction, nonce)
  return reader.sendRawTransaction({ serializedTransaction })
}

/**
 * Sends transactions, and mines the blocks that include and confirm them.
 * @throws Error where a transaction reverts, and errors of `waitForReceipt`
 */
async function sendAndConfirm(chain: LocalChain, send: () => Promise<Hex[]>): Promise<Hex[]> {
  const { reader, test } = localChainClients(chain)
  const hashes = await send()
  await test.mine({ blocks: 1 + CONFIRMATION_BLOCKS })
  for (const hash of hashes)
    if ((await waitForReceipt(reader, hash)).status !== 'success')
      throw new Error(`seeding chain ${chain.label}: transaction ${hash} reverted`)
  return hashes
}
