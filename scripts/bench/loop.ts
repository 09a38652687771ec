/**
 * A bare loop in a separate process: decodes the logs of a range into one flat table by COPY, and fetches the next
 * range meanwhile. It has no confirmation, order, outcomes, clusters or events. The daemon is compared with this loop.
 */
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { createPublicClient, type Hex, http, parseAbiItem } from 'viem'
import { ownCpuMs } from './bench.js'

/** Blocks per range: 5,000 logs, as in the daemon's batches, below viem's limit of 10 MiB per answer. */
const RANGE_BLOCKS = 10
const CREATE_TABLE = `CREATE TABLE registrations (
  block bigint, log_index int, sender bytea NOT NULL, amount numeric(78,0) NOT NULL, name text COLLATE "C" NOT NULL,
  tx_hash bytea NOT NULL, PRIMARY KEY (block, log_index))`
const COPY = 'COPY registrations (block, log_index, sender, amount, name, tx_hash) FROM STDIN'

export interface LoopJob {
  rpcUrl: string
  hub: Hex
  startBlock: number
  lastBlock: number
  databaseUrl: string
}

export interface LoopResult {
  rows: number
  /** Time at which the last row became visible, Unix time in ms. */
  doneMs: number
  /** Processor time of this process since its start. */
  cpuMs: number
  peakKib: number
}

const bidEvent = parseAbiItem('event Bid(bytes32 from, uint256 amount, bytes32 name)')

/** The name in a 32-byte word: its bytes up to the first zero. */
const nameOf = (hex: string): string => {
  const text = Buffer.from(hex, 'hex').toString('latin1')
  const end = text.indexOf('\0')
  return end < 0 ? text : text.slice(0, end)
}

/** Creates the function that reads the logs of a block range, as lines in COPY's text format with their number. */
function viemReader({ rpcUrl, hub }: LoopJob) {
  const client = createPublicClient({ transport: http(rpcUrl) })
  return async (from: number, to: number) => {
    const fromBlock = BigInt(from)
    const logs = await client.getLogs({
      address: hub,
      event: bidEvent,
      strict: true,
      fromBlock,
      toBlock: BigInt(to),
    })
    let text = ''
    for (const { blockNumber, logIndex, transactionHash, args } of logs) {
      const name = nameOf(args.name.slice(2))
      text += `${blockNumber}\t${logIndex}\t\\\\x${args.from.slice(2)}\t${args.amount}\t${name}\t\\\\x${transactionHash.slice(2)}\n`
    }
    return { text, rows: logs.length }
  }
}

async function copy(client: pg.Client, text: string): Promise<void> {
  const stream = client.query(copyFrom(COPY))
  const done = finished(stream)
  if (!stream.write(text)) await Promise.race([once(stream, 'drain'), done])
  stream.end()
  await done
}

async function run(job: LoopJob): Promise<LoopResult> {
  const client = new pg.Client({ connectionString: job.databaseUrl })
  await client.connect()
  await client.query(CREATE_TABLE)
  await client.query('CREATE INDEX ON registrations (name)')
  const read = viemReader(job)
  let rows = 0
  let next = read(job.startBlock, job.startBlock + RANGE_BLOCKS - 1)
  for (let from = job.startBlock; from <= job.lastBlock; from += RANGE_BLOCKS) {
    const range = await next
    const following = from + RANGE_BLOCKS
    if (following <= job.lastBlock)
      next = read(following, Math.min(job.lastBlock, following + RANGE_BLOCKS - 1))
    await copy(client, range.text)
    rows += range.rows
  }
  const doneMs = Date.now()
  const result = { rows, doneMs, cpuMs: ownCpuMs(), peakKib: process.resourceUsage().maxRSS }
  await client.end()
  return result
}

console.log(JSON.stringify(await run(JSON.parse(process.argv[2]!) as LoopJob)))
