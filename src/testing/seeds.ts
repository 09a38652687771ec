import { type Account, type Hex, parseAbiItem, parseEther, parseGwei } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { encodePlaceBidsCalldata } from '../chains/evm/bridge/calls.js'
import { toHex } from '../registry/primitives/bytes.js'
import { nameToWord } from '../registry/primitives/name.js'
import type { Network } from '../registry/primitives/network.js'
import {
  createLocalWalletClient,
  type LocalChain,
  localChainClients,
  mineBlocksQuicklyDuring,
} from './chains/localChain.js'
import { LOCAL_RELAYER_SPEND_CAP_WEI } from './chains/localChains.js'
import { waitForReceipt } from './chains/receipt.js'
import { OPEN_COMMUNITY_NAME, PAID_COMMUNITY_NAME } from './communitySeeds.js'
import { bridgeCall } from './contracts/bridgeCall.js'
import {
  addressAsBytes32,
  lowerCaseAddress,
  operatorAccount,
  type Seed,
  seededCommunityOwner,
  type WorldOperatorRole,
} from './world.js'

/** Name for which two wallets bid. */
const CONTESTED_NAME = 'seedling'
/** Name of a third wallet. */
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
const BID_GAS = 300_000n
/** Nonce of a transaction that can't be mined, since earlier nonces are unused. */
const UNREACHED_NONCE = 1_000
/** Blocks mined after seed transactions, so that their confirmation does not wait for the block time. */
const CONFIRMING_BLOCKS = 2

const bidEvent = parseAbiItem('event Bid(bytes32 from, uint256 amount, bytes32 name)')
const sentEvent = parseAbiItem('event Sent(bytes32 indexed guid, bytes32 indexed from)')

/**
 * Text of the alarm that a network's seed raises in `/status`: its message waits for an operator, because it is above the
 * relayer's spend cap.
 */
export const seededAlarm = (network: Network): string =>
  `${network}: parked jobs of the kind execute: 1`

/** Part of a network's seed that is on its chains. The communities are made through the API. */
export type ChainSeed = Omit<Seed, 'communities'>

/**
 * Sends the sample transactions (seeds) on a network's chains, or finds those of an earlier start. On the hub: a name
 * that one wallet won and another lost, a second name, the names of the communities, and a transaction that stays
 * pending. On the spoke, if any: a message that stays undelivered.
 */
export async function seedNetwork(
  hub: LocalChain,
  spoke: LocalChain | undefined,
): Promise<ChainSeed> {
  const [{ finalized, lost }, pending, bridging] = await Promise.all([
    seedBids(hub),
    keepWaiting(hub),
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

type Bids = Pick<Seed['tx'], 'finalized' | 'lost'>

async function seedBids(chain: LocalChain): Promise<Bids> {
  const found = await findBids(chain)
  if (found) return found
  const admin = privateKeyToAccount(seededCommunityOwner().privateKey)
  const [finalized, lost] = await confirmed(chain, async () => [
    await placeBid(chain, operatorAccount('seedOwner'), [CONTESTED_NAME], FIRST_FEE_WEI),
    await placeBid(chain, operatorAccount('seedLoser'), [CONTESTED_NAME], SECOND_FEE_WEI),
    await placeBid(chain, operatorAccount('neighbour'), [NEIGHBOUR_NAME], SECOND_FEE_WEI),
    await placeBid(chain, admin, [OPEN_COMMUNITY_NAME, PAID_COMMUNITY_NAME], SECOND_FEE_WEI),
  ])
  return { finalized: finalized!, lost: lost! }
}

const placeBid = (
  chain: LocalChain,
  account: Account,
  names: readonly string[],
  feeWei: bigint,
): Promise<Hex> =>
  createLocalWalletClient(chain, account).sendTransaction(bidsFor(chain, names, feeWei))

function bidsFor(chain: LocalChain, names: readonly string[], feeWei: bigint) {
  const bids = names.map((name) => ({ name, amountWei: BID_WEI }))
  const count = BigInt(names.length)
  return {
    to: chain.config.contract,
    data: encodePlaceBidsCalldata(bids, null),
    value: BID_WEI * count,
    gas: BID_GAS * count,
    maxPriorityFeePerGas: feeWei,
    maxFeePerGas: MAX_FEE_WEI,
  }
}

/**
 * Transactions of the first bids of the winner and the loser for the contested name. Undefined unless both wallets have
 * bid.
 */
async function findBids(chain: LocalChain): Promise<Bids | undefined> {
  const word = toHex(nameToWord(CONTESTED_NAME))
  const logs = await localChainClients(chain).reader.getLogs({
    ...ofContract(chain),
    event: bidEvent,
  })
  const bids = logs.filter((log) => log.args.name === word)
  const txOf = (operator: WorldOperatorRole) =>
    bids.find((log) => log.args.from === addressAsBytes32(operatorAccount(operator).address))
      ?.transactionHash
  const finalized = txOf('seedOwner')
  const lost = txOf('seedLoser')
  return finalized && lost ? { finalized, lost } : undefined
}

// ---- a transaction that stays in the hub's mempool

/**
 * Sends a bid that stays pending. Anvil loses its mempool when it ends. So the same bytes, with the same hash, are sent
 * at every start.
 */
async function keepWaiting(chain: LocalChain): Promise<Hex> {
  const { reader } = localChainClients(chain)
  const account = operatorAccount('seedWaiter')
  const bid = bidsFor(chain, [WAITING_NAME], SECOND_FEE_WEI)
  const fixed = { type: 'eip1559', chainId: chain.chainId, nonce: UNREACHED_NONCE } as const
  const signed = await account.signTransaction({ ...bid, ...fixed })
  return reader.sendRawTransaction({ serializedTransaction: signed })
}

// ---- a message that stays on the bridge

async function seedMessage(chain: LocalChain): Promise<Hex> {
  const { rpcUrl, chainId, config } = chain
  const account = operatorAccount('seedTraveller')
  const sending = { event: sentEvent, args: { from: addressAsBytes32(account.address) } }
  const [found] = await localChainClients(chain).reader.getLogs({
    ...ofContract(chain),
    ...sending,
  })
  if (found) return found.transactionHash
  const amountWei = LOCAL_RELAYER_SPEND_CAP_WEI + BID_WEI
  const hubCalldata = encodePlaceBidsCalldata([{ name: TRAVELLING_NAME, amountWei }], null)
  const call = await bridgeCall(
    { rpcUrl, chainId, contracts: { spoke: config.contract } },
    { from: account.address, hubCalldata, valueWei: amountWei },
  )
  const [sent] = await confirmed(chain, async () => [
    await createLocalWalletClient(chain, account).sendTransaction(call),
  ])
  return sent!
}

// ---- used for bids and for messages

/** Filter for all logs of a chain's hub or spoke contract. */
const ofContract = ({ config }: LocalChain) => ({
  address: config.contract,
  fromBlock: BigInt(config.startBlock),
})

/** Sends transactions and waits until they are confirmed. @throws Error where a transaction reverts */
async function confirmed(chain: LocalChain, send: () => Promise<Hex[]>): Promise<Hex[]> {
  const { reader, test } = localChainClients(chain)
  const hashes = await mineBlocksQuicklyDuring(chain, async () => {
    const sent = await send()
    for (const hash of sent)
      if ((await waitForReceipt(reader, hash)).status !== 'success')
        throw new Error(`seeding chain ${chain.label}: transaction ${hash} reverted`)
    return sent
  })
  await test.mine({ blocks: CONFIRMING_BLOCKS })
  return hashes
}
