/**
 * A bare follower in a separate process: woken by a WebSocket, it reads a block's logs by viem into one flat table, and
 * answers over HTTP whether a wallet is in the table. The daemon's delay is compared with the follower's.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { createPublicClient, type Hex, http, parseAbiItem, webSocket } from 'viem'

export interface LiveLoopJob {
  rpcUrl: string
  wsUrl: string
  hub: Hex
  databaseUrl: string
}

const POLL_MS = 500
const bidEvent = parseAbiItem('event Bid(bytes32 from, uint256 amount, bytes32 name)')
const INSERT = 'INSERT INTO live SELECT * FROM unnest($1::text[], $2::text[])'

const { rpcUrl, wsUrl, hub, databaseUrl } = JSON.parse(process.argv[2]!) as LiveLoopJob
const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 })
await pool.query('CREATE TABLE live (wallet text PRIMARY KEY, name text NOT NULL)')
const client = createPublicClient({ transport: http(rpcUrl) })

let next = (await client.getBlockNumber()) + 1n
let isReading = false
async function follow(head: bigint): Promise<void> {
  if (isReading) return
  isReading = true
  for (; next <= head; next++) {
    const logs = await client.getLogs({
      address: hub,
      event: bidEvent,
      strict: true,
      fromBlock: next,
      toBlock: next,
    })
    const wallets = logs.map(({ args }) => `0x${args.from.slice(-40)}`)
    if (logs.length > 0)
      await pool.query({
        name: 'insert',
        text: INSERT,
        values: [wallets, logs.map(({ args }) => args.name)],
      })
  }
  isReading = false
}
// polls like the daemon, in case the WebSocket is silent
setInterval(() => void client.getBlockNumber({ cacheTime: 0 }).then(follow), POLL_MS)
createPublicClient({ transport: webSocket(wsUrl) }).watchBlockNumber({
  onBlockNumber: (head) => void follow(head).catch(() => process.exit(1)),
})

const server = createServer(async ({ url = '' }, response) => {
  const wallet = url.slice(url.lastIndexOf('/') + 1)
  const { rows } = await pool.query({
    name: 'look',
    text: 'SELECT name FROM live WHERE wallet = $1',
    values: [wallet],
  })
  response.writeHead(rows.length > 0 ? 200 : 404, { 'content-type': 'application/json' })
  response.end(JSON.stringify(rows[0] ?? null))
})
server.listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)
