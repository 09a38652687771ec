/** `npm run bench:import -- 1000000`: from a published feed and an empty PostgreSQL to the first right answer. */
import { execFileSync, spawn } from 'node:child_process'
import { createWriteStream, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { startPostgres } from '../src/testing/processes/postgres.js'
import { describeMachine, runBench } from './bench/bench.js'
import { buildDaemon } from './bench/programs.js'

const names = Number(process.argv[2] ?? 100_000)
const walletOf = (i: number) => `0x${((i + 1) * 2_654_435_761).toString(16).padStart(40, '0')}`

/** The feed of names that a wallet each registered, as `journal export` writes it. */
function* feed(): Generator<string> {
  for (let i = 0; i < names; i++) {
    const cluster = `"cluster_id":"0x${i.toString(16).padStart(64, '0')}"`
    const from = walletOf(i)
    const rest = `"isTestnet":false,"timestamp":${Date.UTC(2026, 0) + 12 * i}}\n`
    const event = (k: number, type: string, data: string) =>
      `{"id":"m-1-${3 * i + k}","type":"${type}","from":"${from}","data":{${data}},${rest}`
    yield event(1, 'CREATE_CLUSTER', cluster) +
      event(
        2,
        'ADD_WALLET',
        `"name":"main","address":"${from}",${cluster},"is_verified":true,"is_backed_up":false`,
      ) +
      event(3, 'REGISTER_NAME', `"name":"name-${i}","wei_amount":"10000000000000000",${cluster}`)
  }
}

await runBench(async ({ home, onEnd }) => {
  const cli = await buildDaemon(onEnd)
  const file = join(home, 'feed.jsonl.gz')
  await pipeline(Readable.from(feed()), createGzip(), createWriteStream(file))
  const postgres = await startPostgres({ dataDir: join(home, 'pg') })
  onEnd(() => postgres.stop())
  const hub = {
    network: 'mainnet',
    label: '1',
    role: 'hub',
    chainId: 1,
    contract: `0x${'11'.repeat(20)}`,
  }
  const chains = join(home, 'chains.json')
  const keys = { TOKEN_KEY: `0x${'5b'.repeat(32)}`, PORT: '3999', OPS_PORT: '0' }
  const env = { ...process.env, ...keys, DATABASE_URL: postgres.url, CLUSTERD_CHAINS: chains }
  const startMs = performance.now()
  execFileSync('node', [cli, 'import', file], { env, stdio: 'inherit' })
  const importedMs = performance.now()
  writeFileSync(chains, JSON.stringify({ chains: [{ ...hub, rpcUrls: ['http://127.0.0.1:9'] }] }))
  const daemon = spawn('node', [cli, 'start', '--roles', 'api'], { env })
  onEnd(async () => daemon.kill())
  const url = `http://127.0.0.1:3999/v1/names/address/${walletOf(names - 1)}`
  for (let answer = ''; !answer.includes(`"name-${names - 1}"`); )
    answer = await fetch(url)
      .then((one) => one.text())
      .catch(() => '')
  console.log(
    `${names} names: imported in ${((importedMs - startMs) / 1_000).toFixed(1)} s, the first answer after`,
  )
  console.log(
    `${((performance.now() - startMs) / 1_000).toFixed(1)} s on ${await describeMachine(postgres.url)}`,
  )
})
