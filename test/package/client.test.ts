import { execFileSync } from 'node:child_process'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildClientPackage } from '../../scripts/client-package.js'
import { useFolder } from '../support/folder.js'

/** Of the whole package, and of what is loaded before `verifyBundle` is called. */
const MAX_PACKED_BYTES = 84 * 1024
const MAX_LOADED_BYTES = 40 * 1024
const REGISTRY_DEADLINE_MS = 5_000

const folder = useFolder()
let tarball: string
let files: string[]

/** Runs a program in a folder of the test. @returns what it printed; @throws Error with what it printed */
function run(program: string, args: readonly string[], cwd = folder): string {
  try {
    return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${program} ${args.join(' ')}: ${stdout}${stderr}`)
  }
}

function writeFiles(root: string, texts: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

beforeAll(async () => {
  const built = join(folder, 'built')
  await buildClientPackage(built)
  const [packed] = JSON.parse(run('npm', ['pack', built, '--json']))
  tarball = join(folder, packed.filename)
  files = packed.files.map(({ path }: { path: string }) => path)
})

describe('the package clusterd-client', () => {
  it('has two entries with types, no dependency, and at most 84 KB, with its readers of signatures apart', () => {
    const packageJson = JSON.parse(run('tar', ['xzOf', tarball, 'package/package.json']))
    expect(packageJson).toMatchObject({ name: 'clusterd-client', type: 'module' })
    expect(Object.keys(packageJson).filter((key) => /dependencies/i.test(key))).toEqual([])
    for (const entry of ['.', './verify'])
      for (const path of Object.values<string>(packageJson.exports[entry]))
        expect(files).toContain(path.slice(2))
    expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE']))
    console.log(`${basename(tarball)}: ${statSync(tarball).size} bytes`)
    expect(statSync(tarball).size).toBeLessThanOrEqual(MAX_PACKED_BYTES)
    const loaded = files.filter((path) => path.endsWith('.js') && path !== 'readers.js')
    const sizes = loaded.map((path) => statSync(join(folder, 'built', path)).size)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MAX_LOADED_BYTES)
  })
})

/** What `npm create vite` begins with, and what its users add. */
const APP = {
  'package.json': JSON.stringify({
    private: true,
    type: 'module',
    dependencies: {
      '@tanstack/react-query': '5.108.4',
      '@types/react': '19.3.0',
      react: '19.3.1',
      typescript: '7.0.2',
      viem: '2.57.20',
      vite: '8.3.8',
      wagmi: '3.7.7',
    },
  }),
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      strict: true,
      exactOptionalPropertyTypes: true,
      module: 'esnext',
      moduleResolution: 'bundler',
      target: 'es2022',
      lib: ['es2022', 'dom', 'dom.iterable'],
      jsx: 'react-jsx',
      skipLibCheck: true,
      noEmit: true,
    },
    include: ['src'],
  }),
  'index.html': '<script type="module" src="/src/main.tsx"></script>',
  'src/main.tsx': `
import { Client, type Schemas } from 'clusterd-client'
import { LogReader, verifyRegistry } from 'clusterd-client/verify'
import { type Address, createPublicClient, createWalletClient, custom, type Hex, http, isAddress } from 'viem'
import { mainnet } from 'viem/chains'
import { createConfig, useSendTransaction } from 'wagmi'

const client = new Client({ url: 'http://127.0.0.1:3000' })
const node = createPublicClient({ chain: mainnet, transport: http() })
export const config = createConfig({ chains: [mainnet], transports: { [mainnet.id]: http() } })

/** By viem: every transaction that the service hands out is sent as it is. */
export async function register(account: Address, name: string): Promise<Hex> {
  const wallet = createWalletClient({ account, chain: mainnet, transport: custom(globalThis as never) })
  const { transactionData } = await client.quote({ network: '1', sender: account, names: [{ name }] })
  const sum: bigint = transactionData.value
  await node.estimateGas({ account, ...transactionData, value: sum })
  const { refunds } = await client.refunds(account)
  for (const { transaction } of refunds)
    if (transaction?.type === 'evm') {
      const { type, ...call } = transaction
      console.log(type, await wallet.sendTransaction(call))
    }
  await client.signIn(wallet)
  const claims = await client.request('GET', '/v1/airdrop/claim/{community}', { params: { community: name } })
  for (const { transaction } of claims.claims) if (transaction) await wallet.sendTransaction(transaction)
  return wallet.sendTransaction(transactionData)
}

/** By wagmi. */
export function Register({ quote }: { quote: Schemas['EvmQuote'] }) {
  const { mutate } = useSendTransaction()
  return <button type="button" onClick={() => mutate({ ...quote.transactionData, chainId: mainnet.id })}>Register</button>
}

export async function check(hub: Hex, key: string): Promise<bigint> {
  const { contracts, blockHash } = await verifyRegistry(client, { hub, node, key })
  const first: Address | undefined = contracts[0]?.address
  const hash: Hex | null = blockHash
  await new LogReader(client, { key }).checkpoint()
  const found = await client.addressOf('alice')
  console.log(first, hash)
  return found && isAddress(found.address) ? node.getBalance({ address: found.address }) : 0n
}
`,
}

const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
const answers = await fetch(new URL('vite', registry), {
  method: 'HEAD',
  signal: AbortSignal.timeout(REGISTRY_DEADLINE_MS),
}).then(
  ({ ok }) => ok,
  () => false,
)

describe.runIf(answers)('a fresh application (skipped without the npm registry)', () => {
  const app = join(folder, 'app')
  beforeAll(() => {
    writeFiles(app, APP)
    run('npm', ['install', tarball, '--no-audit', '--no-fund', '--prefer-offline'], app)
  })

  it('compiles with viem and wagmi, without a cast', () => {
    run('node_modules/.bin/tsc', [], app)
  })

  it('has types that need nothing but those of a browser', () => {
    const options = ['--strict', '--noEmit', '--types', 'vite/client', '--module', 'nodenext']
    writeFileSync(
      join(app, 'types.ts'),
      "export * from 'clusterd-client'\nexport * from 'clusterd-client/verify'\n",
    )
    run(
      'node_modules/.bin/tsc',
      [...options, '--target', 'es2022', '--ignoreConfig', 'types.ts'],
      app,
    )
  })

  it('is built by Vite', () => {
    expect(run('node_modules/.bin/vite', ['build'], app)).toMatch(/dist\/assets\/index-\S+\.js/)
  })
})
