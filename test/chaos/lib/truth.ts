import { type Hex, hexToBigInt } from 'viem'
import { hubAbi } from '../../../src/chains/evm/contracts/index.js'
import {
  BID_EVENT_TOPIC,
  BID_WITH_REFERRAL_EVENT_TOPIC,
  RECEIVED_EVENT_TOPIC,
  SENT_EVENT_TOPIC,
} from '../../../src/chains/evm/decodeLogs.js'
import { fromHex } from '../../../src/registry/primitives/bytes.js'
import { wordToName } from '../../../src/registry/primitives/name.js'
import { type Purchase, readPurchases } from './community.js'
import type { Ledger, SentTx } from './ledger.js'
import { readSolanaTruth, type SolanaTruth } from './solanaTruth.js'
import type { ChaosChain, ChaosWorld } from './world.js'

const AT_ONCE = 16

interface Bid {
  tx: Hex
  block: bigint
  logIndex: number
  from: Hex
  amountWei: bigint
  name: string | null
}

/** State of the chains themselves, read without the daemon and without its rules. */
export interface Truth {
  bids: readonly Bid[]
  /** The winner's 32-byte word by name: the sender of the first well-formed bid of at least the minimum. */
  winners: ReadonlyMap<string, Hex>
  /** Number of executions of each message on the hub. */
  received: ReadonlyMap<Hex, number>
  /** Messages that left the spokes. */
  sent: readonly Hex[]
  solana: SolanaTruth | null
  /** Payments for names below the community. */
  purchases: readonly Purchase[]
  /** Outcome of a payment that the hub received. Null where it did not. */
  outcomeOfMessage(id: Hex): string | null
  /** The statuses that a transaction may have. */
  statusOf(tx: SentTx): string[]
}

interface Log {
  topics: readonly Hex[]
  data: Hex
  transactionHash: Hex
  blockNumber: bigint
  logIndex: number
}

export async function readTruth(
  { hub, chains, solana: cluster }: ChaosWorld,
  ledger: Ledger,
): Promise<Truth> {
  const hubLogs = await logsOf(hub)
  const minimumWei = await hub.reader.readContract({
    address: hub.contract,
    abi: hubAbi,
    functionName: 'minimum',
  })
  const bids = hubLogs
    .filter(
      ({ topics }) => topics[0] === BID_EVENT_TOPIC || topics[0] === BID_WITH_REFERRAL_EVENT_TOPIC,
    )
    .map(bidOf)
  const winning = new Map<string, Bid>()
  for (const bid of bids) {
    if (bid.name !== null && bid.amountWei >= minimumWei && !winning.has(bid.name))
      winning.set(bid.name, bid)
  }
  const receipts = hubLogs.filter(({ topics }) => topics[0] === RECEIVED_EVENT_TOPIC)
  const received = new Map<Hex, number>()
  for (const { topics } of receipts) received.set(topics[1]!, (received.get(topics[1]!) ?? 0) + 1)
  const sentLogs = (await Promise.all(chains.filter((chain) => chain !== hub).map(logsOf)))
    .flat()
    .filter(({ topics }) => topics[0] === SENT_EVENT_TOPIC)
  const mined = await minedOf(chains, ledger)
  const solana = cluster && (await readSolanaTruth(cluster, ledger))
  const purchases = await readPurchases(chains)

  const outcomeOf = (own: readonly Bid[]): string => {
    const [first] = own
    if (!first) return 'invalid'
    if (first.name === null || first.amountWei < minimumWei) return 'invalid'
    return winning.get(first.name) === first ? 'finalized' : 'lost_bid'
  }
  /** Possible statuses of a mined transaction. purchases.ts checks which payment for a name got it. */
  const outcomes = (tx: SentTx): string[] => {
    const purchase = purchases.find((one) => one.tx === tx.hash)
    if (!purchase) return [outcome(tx)]
    return purchase.isWrong ? ['invalid'] : ['finalized', 'lost_bid']
  }
  const outcome = (tx: SentTx): string => {
    if (mined.get(tx.hash) !== 'success') return 'invalid'
    if (tx.label === hub.label) return outcomeOf(bids.filter((bid) => bid.tx === tx.hash))
    const message = sentLogs.find(({ transactionHash }) => transactionHash === tx.hash)
    if (!message) return 'invalid'
    return outcomeOfMessage(message.topics[1]!) ?? 'bridging'
  }
  const outcomeOfMessage = (id: Hex): string | null => {
    const receipt = receipts.find(({ topics }) => topics[1] === id)
    if (!receipt) return null
    const count = Number(receipt.data)
    const before = bids.filter(
      (bid) => bid.tx === receipt.transactionHash && bid.logIndex < receipt.logIndex,
    )
    return outcomeOf(count === 0 ? [] : before.slice(-count))
  }
  /** Possible statuses of a payment's transaction. One that was never included, or failed, may be unknown. */
  const outcomeOnSolana = (signature: string): string[] => {
    const payment = solana?.payments.find((one) => one.signature === signature)
    if (!payment) return ['not_found', 'pending', 'invalid']
    return [payment.isHonoured ? (outcomeOfMessage(payment.messageId) ?? 'bridging') : 'invalid']
  }
  return {
    solana,
    purchases,
    outcomeOfMessage,
    bids,
    winners: new Map([...winning].map(([name, { from }]) => [name, from])),
    received,
    sent: sentLogs.map(({ topics }) => topics[1]!),
    statusOf(tx) {
      if (tx.label === 'solana') return outcomeOnSolana(tx.hash)
      if (mined.has(tx.hash)) return outcomes(tx)
      const other = ledger.txs.find(
        (one) =>
          one.sender === tx.sender &&
          one.label === tx.label &&
          one.nonce === tx.nonce &&
          mined.has(one.hash),
      )
      // a replaced transaction that was never polled while a chain had it is unknown; any other has the status of its
      // replacement
      return other ? ['not_found', ...outcomes(other)] : ['not_found', 'pending']
    },
  }
}

/** Outcome of each mined transaction. */
async function minedOf(
  chains: readonly ChaosChain[],
  ledger: Ledger,
): Promise<Map<string, 'success' | 'reverted'>> {
  const mined = new Map<string, 'success' | 'reverted'>()
  const txs = ledger.txs.filter(({ label }) => label !== 'solana')
  for (let i = 0; i < txs.length; i += AT_ONCE) {
    await Promise.all(
      txs.slice(i, i + AT_ONCE).map(async ({ hash, label }) => {
        const { reader } = chains.find((chain) => chain.label === label)!
        const receipt = await reader
          .getTransactionReceipt({ hash: hash as Hex })
          .catch((error: Error) => {
            if (error.name === 'TransactionReceiptNotFoundError') return null
            throw error
          })
        if (receipt) mined.set(hash, receipt.status)
      }),
    )
  }
  return mined
}

async function logsOf(chain: ChaosChain): Promise<Log[]> {
  const logs = await chain.reader.getLogs({
    address: chain.contract,
    fromBlock: 0n,
    toBlock: 'latest',
  })
  return logs.sort((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex)
}

const word = (data: Hex, index: number): Hex => `0x${data.slice(2 + 64 * index, 66 + 64 * index)}`

const bidOf = ({ transactionHash, blockNumber, logIndex, data }: Log): Bid => ({
  tx: transactionHash,
  block: blockNumber,
  logIndex,
  from: word(data, 0),
  amountWei: hexToBigInt(word(data, 1)),
  name: wordToName(fromHex(word(data, 2))),
})

/** Names whose owner in the hub's storage differs from the logs. */
export async function ownersThatDiffer(
  { hub }: ChaosWorld,
  winners: ReadonlyMap<string, Hex>,
): Promise<string[]> {
  const names = [...winners]
  const wrong: string[] = []
  for (let i = 0; i < names.length; i += AT_ONCE) {
    await Promise.all(
      names.slice(i, i + AT_ONCE).map(async ([name, from]) => {
        const word: Hex = `0x${Buffer.from(name).toString('hex').padEnd(64, '0')}`
        const owner = await hub.reader.readContract({
          address: hub.contract,
          abi: hubAbi,
          functionName: 'ownerOf',
          args: [word],
        })
        if (owner !== from)
          wrong.push(`${name} belongs to ${owner} in the hub, to ${from} by its logs`)
      }),
    )
  }
  return wrong
}
