import { type Address, encodeFunctionData, type Hex, parseAbiItem, parseEther, parseGwei } from 'viem'
import { encodePlaceBids } from '../chains/evm/calldata.js'
import { hubAbi } from '../chains/evm/contracts/index.js'
import { toHex } from '../registry/bytes.js'
import { nameToWord } from '../registry/name.js'
import { type LocalChain, localClients, mineQuickly, walletOf } from './localChain.js'
import { lowerCase, type Operator, operatorAccount, type Seed } from './world.js'

/** The name two wallets bid for, and the one that a wallet holds beside it. */
const CONTESTED_NAME = 'seedling'
const NEIGHBOUR_NAME = 'neighbour'
const BID_WEI = parseEther('0.01')
/** Fees order the bids of one block. */
const FIRST_FEE_WEI = parseGwei('3')
const SECOND_FEE_WEI = parseGwei('1')
const BID_GAS = 300_000n

const bidEvent = parseAbiItem('event Bid(bytes32 from, uint256 amount, bytes32 name)')

/**
 * A few registrations through the hub: one name won by one wallet and lost by another, and a second name. Found again on
 * a chain that already has them.
 */
export async function seedChain(chain: LocalChain): Promise<Seed> {
  const found = await findSeed(chain)
  if (found) return found
  const finalized = await mineQuickly(chain, chain.chainId, () => placeSeedBids(chain))
  const seed = await findSeed(chain)
  if (!seed) throw new Error(`seeding chain ${chain.label}: ${finalized} is mined and its bids are not found`)
  return seed
}

async function placeSeedBids(chain: LocalChain): Promise<Hex> {
  const { reader } = localClients(chain, chain.chainId)
  const won = await placeBid(chain, 'seedOwner', CONTESTED_NAME, FIRST_FEE_WEI)
  const others = [
    await placeBid(chain, 'seedLoser', CONTESTED_NAME, SECOND_FEE_WEI),
    await placeBid(chain, 'neighbour', NEIGHBOUR_NAME, SECOND_FEE_WEI),
  ]
  for (const hash of [won, ...others]) {
    const receipt = await reader.waitForTransactionReceipt({ hash })
    if (receipt.status !== 'success') throw new Error(`seeding chain ${chain.label}: transaction ${hash} reverted`)
  }
  return won
}

function placeBid(chain: LocalChain, operator: Operator, name: string, feeWei: bigint): Promise<Hex> {
  return walletOf(chain, chain.chainId, operatorAccount(operator)).sendTransaction({
    to: chain.config.contract,
    data: encodePlaceBids([{ name, amountWei: BID_WEI }], null),
    value: BID_WEI,
    gas: BID_GAS,
    maxPriorityFeePerGas: feeWei,
    maxFeePerGas: parseGwei('100'),
  })
}

/** The contested name's first two bids, if both wallets of ours made them. */
async function findSeed(chain: LocalChain): Promise<Seed | undefined> {
  const { reader } = localClients(chain, chain.chainId)
  const word = toHex(nameToWord(CONTESTED_NAME))
  const isTaken = await reader.call({
    to: chain.config.contract,
    data: encodeFunctionData({ abi: hubAbi, functionName: 'ownerOf', args: [word] }),
  })
  if (!isTaken.data || BigInt(isTaken.data) === 0n) return undefined
  const fromBlock = BigInt(chain.config.startBlock)
  const logs = await reader.getLogs({ address: chain.config.contract, event: bidEvent, fromBlock, toBlock: 'latest' })
  const bids = logs.filter((log) => log.args.name === word)
  const txOf = (operator: Operator) =>
    bids.find((log) => log.args.from === senderWord(operatorAccount(operator).address))?.transactionHash
  const [finalized, lost] = [txOf('seedOwner'), txOf('seedLoser')]
  if (!finalized || !lost) return undefined
  const owner = lowerCase(operatorAccount('seedOwner').address)
  return { name: CONTESTED_NAME, owner, tx: { finalized, lost } }
}

/** An EVM address as the hub logs it: 32 bytes, left-padded. */
function senderWord(address: Address): Hex {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}
