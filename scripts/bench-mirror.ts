/**
 * `npm run bench:mirror -- 1000000`: time of a mirror from a published log and an empty PostgreSQL to the first right
 * answer.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { GrowingTree } from '../src/registry/transparencyLog/append.js'
import { beginningLeaf } from '../src/registry/transparencyLog/beginning.js'
import { sha256TreeHasher } from '../src/registry/transparencyLog/hash.js'
import { logKeysOfSeeds, signCheckpoint } from '../src/registry/transparencyLog/signer.js'
import {
  bundlePath,
  packBundle,
  TILE_WIDTH,
  tilePath,
} from '../src/registry/transparencyLog/tiles.js'
import { chooseFreePort } from '../src/testing/processes/ports.js'
import { startPostgres } from '../src/testing/processes/postgres.js'
import { cpuMs, describeMachine, runBench, treeCpuMs } from './bench/bench.js'
import { buildDaemon } from './bench/programs.js'

const names = Number(process.argv[2] ?? 100_000)
const keys = logKeysOfSeeds([Buffer.alloc(32, 7)])
const ORIGIN = 'names.example/mainnet/1'
const walletOf = (i: number) => `0x${((i + 1) * 2_654_435_761).toString(16).padStart(40, '0')}`

/** Entries of a log in which each wallet registered one name. */
function* leaves(): Generator<string> {
  yield beginningLeaf(ORIGIN, null)
  for (let i = 0; i < names; i++) {
    const cluster = `"cluster_id":"0x${i.toString(16).padStart(64, '0')}"`
    const from = walletOf(i)
    const leaf = (type: string, data: string) =>
      `{"v":1,"type":"${type}","at":${Date.UTC(2026, 0) + 12 * i},"from":"${from}","data":{${data}}}`
    yield leaf('CREATE_CLUSTER', cluster)
    yield leaf(
      'ADD_WALLET',
      `"name":"main","address":"${from}",${cluster},"is_verified":true,"is_backed_up":false`,
    )
    yield leaf('REGISTER_NAME', `"name":"name-${i}","wei_amount":"10000000000000000",${cluster}`)
  }
}

/** Writes the log to files, as `clusterd journal export` does. */
function writeFiles(folder: string): void {
  const write = (path: string, bytes: Uint8Array | string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), bytes)
  }
  const tree = new GrowingTree(sha256TreeHasher)
  let entries: Buffer[] = []
  const flush = () => {
    const index = Math.floor(tree.size / TILE_WIDTH)
    const tiles = tree.append(entries.map((entry) => sha256TreeHasher.leaf(entry)))
    for (const tile of tiles) write(`mainnet/1/${tilePath(tile)}`, tile.hashes)
    write(`mainnet/1/${bundlePath({ index, width: entries.length })}`, packBundle(entries))
    entries = []
  }
  for (const leaf of leaves()) if (entries.push(Buffer.from(leaf)) === TILE_WIDTH) flush()
  if (entries.length > 0) flush()
  const head = { origin: ORIGIN, size: tree.size, root: tree.root }
  write('mainnet/checkpoint', signCheckpoint(head, keys)!)
}

await runBench(async ({ home, onEnd }) => {
  const cli = await buildDaemon(onEnd)
  const folder = join(home, 'log')
  writeFiles(folder)
  const postgres = await startPostgres({ dataDir: join(home, 'pg') })
  onEnd(() => postgres.stop())
  const port = String(await chooseFreePort())
  const env = {
    ...process.env,
    DATABASE_URL: postgres.url,
    CLUSTERD_CHAINS: join(home, 'none.json'),
    PORT: port,
    OPS_PORT: '0',
  }
  const preparedMs = treeCpuMs(postgres.pid)
  const startMs = performance.now()
  const key = keys[0]!.publicKey.toString('base64')
  const mirror = spawn('node', [cli, 'mirror', folder, '--key', key, '--mainnet'], {
    env,
    stdio: 'inherit',
  })
  onEnd(async () => void mirror.kill())
  const url = `http://127.0.0.1:${port}/v1/names/address/${walletOf(names - 1)}`
  for (let answer = ''; !answer.includes(`"name-${names - 1}"`); ) {
    answer = await fetch(url)
      .then((one) => one.text())
      .catch(() => '')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const ms = performance.now() - startMs
  const usedMs = { mirror: cpuMs([mirror.pid!]), PostgreSQL: treeCpuMs(postgres.pid) - preparedMs }
  const perSecond = Math.round((1_000 * names) / ms)
  const anEvent = (total: number) => `${((1_000 * total) / (3 * names)).toFixed(1)} µs an event`
  console.log(
    `${names} names: verified and served after ${(ms / 1_000).toFixed(1)} s, ${perSecond} names a second, ${anEvent(ms)}`,
  )
  for (const [who, used] of Object.entries(usedMs))
    console.log(`processor time of ${who}: ${anEvent(used)}`)
  console.log(await describeMachine(postgres.url))
})
