import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildClientPackage } from '../../scripts/client-package.js'
import { TSC } from '../../scripts/files.js'
import { chooseFreePort } from '../../src/testing/processes/ports.js'
import { useFolder } from '../support/folder.js'
import { isRegistryThere } from '../support/registry.js'
import { RUNTIMES } from './runtimes/installed.js'

/** Of the client as ES modules: what most of its users load. */
const MAX_ESM_BYTES = 25 * 1024
/** Of all entries, as ES modules and CommonJS. */
const MAX_PACKED_BYTES = 60 * 1024
/** Longest output of a program that ends with an error of the client. */
const MAX_UNCAUGHT_CHARACTERS = 2_000

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
  it('has entries with types for import and require, three dependencies, optional peers, and the files that it names', () => {
    const packageJson = JSON.parse(run('tar', ['xzOf', tarball, 'package/package.json']))
    const { homepage, bugs, repository } = JSON.parse(readFileSync('package.json', 'utf8'))
    const links = { homepage, bugs, repository }
    expect(Object.values(links)).not.toContain(undefined)
    expect(packageJson).toMatchObject({ name: 'clusterd-client', type: 'module', ...links })
    expect(Object.keys(packageJson.dependencies)).toEqual([
      '@noble/curves',
      '@noble/hashes',
      '@scure/base',
    ])
    expect(packageJson.peerDependenciesMeta).toEqual({
      react: { optional: true },
      '@tanstack/react-query': { optional: true },
    })
    for (const entry of ['.', './verify', './react'])
      for (const path of Object.values<string>(packageJson.exports[entry]))
        expect(files).toContain(path.slice(2))
    expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'verify/package.json']))
  })

  it('is at most 25 KB as ES modules, and 60 KB with everything', () => {
    const modules = join(folder, 'modules.tgz')
    // what `verify`, `react` and CommonJS add
    const others = [
      '--exclude=cjs',
      '--exclude=*verify*',
      '--exclude=*bundle*',
      '--exclude=*react*',
      '--exclude=registry',
      '--exclude=*Log.d.ts',
    ]
    const made = ['-C', join(folder, 'built'), ...others, '.']
    run('bash', ['-c', 'tar c "$@" | gzip -9 >modules.tgz', 'tar', ...made])
    const [esm, packed] = [modules, tarball].map((file) => statSync(file).size) as [number, number]
    console.log(`${basename(tarball)}: ${packed} bytes, ${esm} as ES modules without verify`)
    expect(esm).toBeLessThanOrEqual(MAX_ESM_BYTES)
    expect(packed).toBeLessThanOrEqual(MAX_PACKED_BYTES)
  })
})

it('docs/use/client.md names the version of each runtime', () => {
  const table = readFileSync('docs/use/client.md', 'utf8').split('## Where it runs')[1]!
  const isRuntime = ([name]: [string, string]) =>
    /^node|deno|bun|workerd|jest|hermes|native$/.test(name)
  for (const [name, version] of Object.entries(RUNTIMES).filter(isRuntime))
    expect(table, name).toContain(/[\d.]+$/.exec(version)![0])
})

describe('a project without npm', () => {
  const project = join(folder, 'project')

  beforeAll(() => {
    const modules = join(project, 'node_modules')
    mkdirSync(join(modules, 'clusterd-client'), { recursive: true })
    run('tar', ['xzf', tarball, '--strip-components=1', '-C', join(modules, 'clusterd-client')])
    for (const scope of ['@noble', '@scure'])
      symlinkSync(resolve('node_modules', scope), join(modules, scope))
    writeFiles(project, PROJECT)
  })

  it.each([
    { what: 'CommonJS of node10', module: 'commonjs', resolution: 'node10', file: 'types.cts' },
    { what: 'CommonJS of node16', module: 'node16', resolution: 'node16', file: 'types.cts' },
    { what: 'ES modules of node16', module: 'node16', resolution: 'node16', file: 'types.mts' },
    {
      what: 'ES modules of nodenext',
      module: 'nodenext',
      resolution: 'nodenext',
      file: 'types.mts',
    },
    { what: 'a bundler', module: 'esnext', resolution: 'bundler', file: 'types.mts' },
  ])('has types for $what', ({ module, resolution, file }) => {
    const options = ['--module', module, '--moduleResolution', resolution]
    const strict = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022,dom']
    run(process.execPath, [TSC, ...options, ...strict, file], project)
  })

  it('prints an uncaught error that reads', async () => {
    const program = ['uncaught.mjs', String(await chooseFreePort())]
    const { stderr } = spawnSync(process.execPath, program, {
      cwd: project,
      encoding: 'utf8',
    })
    expect(stderr.length).toBeLessThan(MAX_UNCAUGHT_CHARACTERS)
    expect(stderr).toContain('ClusterdError: The service can not be reached.')
    expect(stderr).toMatch(/throw new ClusterdError\("network", .*\);\n/)
    expect(Math.max(...stderr.split('\n').map((line) => line.length))).toBeLessThan(200)
  })
})

/** Programs whose types are checked, and one that fails. */
const TYPED = `
import { Client, ClusterdError, type Schemas } from 'clusterd-client'
import { LogReader, verifyRegistry } from 'clusterd-client/verify'

export async function main(client: Client): Promise<number> {
  const found: Schemas['AddressRecord'] | null = await client.addressOf('alice')
  // @ts-expect-error: the record has no such field
  console.log(found?.nothing, verifyRegistry)
  const reader = new LogReader(client, { key: '' })
  const error: Error = new ClusterdError('network', '')
  return (await reader.checkpoint()).size + error.message.length
}
`
const PROJECT = {
  'package.json': '{ "private": true }',
  'types.cts': TYPED,
  'types.mts': TYPED,
  'uncaught.mjs': `
import { Client } from 'clusterd-client'
await new Client({ url: 'http://127.0.0.1:' + process.argv[2], retries: 0 }).nameOf('0x${'a7'.repeat(20)}')
`,
}

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
import { useAddress, useName, useRegistration } from 'clusterd-client/react'
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

/** By the hooks: the types of their results are inferred. */
export function Name({ address, name }: { address: Address | undefined; name: string }) {
  const { sendTransactionAsync } = useSendTransaction()
  const { register, status } = useRegistration(
    address && { network: '1', sender: address, names: [{ name }] },
    { send: ({ transactionData }) => sendTransactionAsync(transactionData) },
  )
  const holder: string | undefined = useAddress(name).data?.address
  const own: string | null | undefined = useName(address).data?.clusterName
  return <button type="button" onClick={() => register.mutate()}>{own} {holder} {status.data?.status}</button>
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

describe.runIf(await isRegistryThere())(
  'a fresh application (skipped without the npm registry)',
  () => {
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
  },
)
