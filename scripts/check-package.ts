/**
 * `npm run check:package`: packs this project, installs the package as a user would, and runs its commands and
 * examples. Needs the npm registry, takes a minute or two.
 *
 *   1. installed without development dependencies: the commands, a local world, `clusterd/testing` with its types, and
 *      `clusterd/client` beside the package `clusterd-client`
 *   2. without optional dependencies too, as in production: the install is small, `init`, `migrate` and `start` work,
 *      `dev` says in one line what is missing
 *
 * `--quick` does only the first part, without the types.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { createDatabase, startStack } from '../src/testing/index.js'
import { chooseFreePort } from '../src/testing/processes/ports.js'
import { waitForCondition } from '../src/testing/processes/processes.js'
import { LOCAL_SECRET_KEYS } from '../src/testing/stackParts.js'
import { buildClientPackage } from './client-package.js'
import { TSC } from './files.js'

const ROOT = join(import.meta.dirname, '..')
const READY_DEADLINE_MS = 60_000
/** Largest disk usage of a production install, MB. */
const CEILING_MB = 90
const run = promisify(execFile)

/** Files that the tarball has to hold. `NOT_PACKED` matches files that the tarball must not hold. */
const PACKED = ['dist/libraries/LICENSES', 'contracts/evm/src/Hub.sol', 'README.md', 'LICENSE']
const NOT_PACKED = /^(src|test|scripts|node_modules|\.clusterd|\.ci)\/|^(?!examples\/).*\.test\./

const work = mkdtempSync(join(tmpdir(), 'clusterd-package-'))
const children: ChildProcess[] = []
try {
  const tarball = await timed('packs', pack)
  const clientTarball = await timed('packs the client', packClient)
  const whole = await timed('installs', () =>
    install('whole', [tarball, clientTarball], ['--omit=dev']),
  )
  await timed('says what it can do', () => showsHelp(whole))
  await timed('runs a local world', () => runsWorld(whole))
  if (!process.argv.includes('--quick')) {
    await timed('packs the same bytes again', async () => {
      const before = readFileSync(tarball)
      must(readFileSync(await pack()).equals(before), 'a second pack has other bytes')
    })
    await timed('is a library, with types', () => isLibrary(whole))
    must(
      strangers(whole).length === 0,
      `the types need what is not installed: ${strangers(whole).join(', ')}`,
    )
    for (const name of ['clusterd/client', 'clusterd-client'])
      await timed(`is a client, with types: ${name}`, () => isClient(whole, name))
    await timed('has the contracts, with types', () => hasContracts(whole))
    const bare = await timed('installs without optional parts', () =>
      install('bare', [tarball], ['--omit=dev', '--omit=optional']),
    )
    await timed(`takes at most ${CEILING_MB} MB`, () => isSmall(bare))
    await timed('says what dev misses', () => refusesDev(bare))
    await timed('begins a deployment', () => begins(bare))
    await timed('serves in production', () => serves(bare))
  }
  console.log('The package works.')
} finally {
  for (const child of children) child.kill('SIGKILL')
  rmSync(work, { recursive: true, force: true })
}

async function timed<T>(what: string, step: () => Promise<T>): Promise<T> {
  const startedMs = performance.now()
  const result = await step()
  console.log(`ok ${what} (${((performance.now() - startedMs) / 1_000).toFixed(1)} s)`)
  return result
}

function must(holds: boolean, complaint: string): asserts holds {
  if (!holds) throw new Error(complaint)
}

async function pack(): Promise<string> {
  rmSync(join(ROOT, 'dist'), { recursive: true, force: true }) // remove the files of an older build
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', work], {
    cwd: ROOT,
    maxBuffer: 1e8,
  })
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [
    { filename: string; files: { path: string }[] },
  ]
  const paths = packed.files.map(({ path }) => path)
  const missing = PACKED.filter((path) => !paths.includes(path))
  must(missing.length === 0, `the package does not have ${missing.join(', ')}`)
  const stray = paths.filter((path) => NOT_PACKED.test(path))
  must(stray.length === 0, `the package holds ${stray.slice(0, 5).join(', ')}`)
  return join(work, packed.filename)
}

async function packClient(): Promise<string> {
  const folder = join(work, 'client')
  await buildClientPackage(folder)
  const { stdout } = await run('npm', ['pack', folder, '--json', '--pack-destination', work])
  const [packed] = JSON.parse(stdout) as [{ filename: string }]
  return join(work, packed.filename)
}

/** Makes a user's project that depends on the tarballs, and installs them. @returns its folder */
async function install(
  name: string,
  tarballs: readonly string[],
  flags: readonly string[],
): Promise<string> {
  const folder = join(work, name)
  mkdirSync(folder)
  writeFileSync(
    join(folder, 'package.json'),
    '{ "name": "consumer", "private": true, "type": "module" }\n',
  )
  const options = [...flags, '--no-audit', '--no-fund', '--prefer-offline']
  await run('npm', ['install', ...tarballs, ...options], { cwd: folder })
  must(
    !existsSync(join(folder, 'node_modules/tsx')),
    'tsx was installed, so its absence is not tested',
  )
  return folder
}

function clusterd(
  folder: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ stdout: string }> {
  return run('npx', ['--no-install', 'clusterd', ...args], { cwd: folder, env: environment(env) })
}

/** Environment of this process, without the variables that select an existing deployment. */
function environment(more: Record<string, string>): NodeJS.ProcessEnv {
  const {
    DATABASE_URL,
    CLUSTERD_HOME,
    CLUSTERD_CHAINS,
    PORT,
    OPS_PORT,
    RELAYER_PRIVATE_KEY,
    NODE_OPTIONS,
    ...rest
  } = process.env
  return { ...rest, ...more }
}

async function showsHelp(folder: string): Promise<void> {
  const { stdout } = await clusterd(folder, ['--help'])
  for (const command of ['dev', 'start', 'migrate', 'journal', 'outbox']) {
    must(new RegExp(`^  ${command}\\b`, 'm').test(stdout), `--help doesn't name ${command}`)
  }
}

/** Runs a clusterd command in the background; gives access to its output and its end. */
function background(folder: string, args: readonly string[], env: Record<string, string>) {
  const child = spawn(
    process.execPath,
    [join(folder, 'node_modules/clusterd/dist/cli.js'), ...args],
    {
      cwd: folder,
      env: environment(env),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return {
    output: () => output,
    async until(isThere: () => boolean | Promise<boolean>): Promise<void> {
      const seen = await waitForCondition(
        async () => child.exitCode !== null || (await isThere()),
        READY_DEADLINE_MS,
      )
      must(seen && child.exitCode === null, `clusterd ${args.join(' ')}: ${output}`)
    },
    async end(signal: NodeJS.Signals): Promise<void> {
      child.kill(signal)
      const code = await ended
      must(code === 0, `clusterd ${args.join(' ')} ended with ${code}: ${output}`)
    },
  }
}

async function runsWorld(folder: string): Promise<void> {
  const home = join(folder, 'world')
  const world = background(folder, ['dev'], { CLUSTERD_HOME: home })
  await world.until(() => world.output().includes('The local world is up'))
  const { stdout } = await runExample(folder, 'demo/demo', { CLUSTERD_HOME: home })
  must(stdout.includes('finalized'), `the demo said: ${stdout}`)
  await world.end('SIGINT')
}

/** Runs the example of docs/use/local-world.md. */
function isLibrary(folder: string): Promise<{ stdout: string }> {
  return runExample(folder, 'local-world', {})
}

/** Type-checks an example with the installed package, then runs it. @param example its path without extension */
async function runExample(
  folder: string,
  example: string,
  env: Record<string, string>,
): Promise<{ stdout: string }> {
  const name = basename(example)
  cpSync(join(ROOT, `examples/${example}.ts`), join(folder, `${name}.ts`))
  const options = [
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--skipLibCheck',
    '--outDir',
    'out',
  ]
  const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')]
  await run(process.execPath, [TSC, ...options, ...types, `${name}.ts`], { cwd: folder })
  return run(process.execPath, [`out/${name}.js`], { cwd: folder, env: environment(env) })
}

/** Checks the client in a browser program, type-checked without Node's types, and in plain JavaScript. */
async function isClient(folder: string, name: string): Promise<void> {
  const program = [
    `import { Client, ClusterdError, type Schemas } from '${name}'`,
    `import { LogReader } from '${name}/verify'`,
    `export const readerOf = (key: string) => new LogReader(client, { key })`,
    `const client = new Client({ url: 'http://127.0.0.1:1', retries: 0 })`,
    `export const found: Promise<Schemas['Cluster'] | null> = client.cluster('foobar')`,
    `// @ts-expect-error: this route takes a parameter`,
    `const wrong = client.request('GET', '/v1/names/address/{address}').catch(() => null)`,
    `found.catch((error: unknown) => console.log(error instanceof ClusterdError && error.code, typeof wrong))`,
  ].join('\n')
  writeFileSync(join(folder, 'client.ts'), program)
  const compilerOptions = {
    strict: true,
    module: 'nodenext',
    lib: ['es2022', 'dom'],
    types: [],
    outDir: 'out',
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['client.ts'] }),
  )
  await run(process.execPath, [TSC], { cwd: folder })
  const { stdout } = await run(process.execPath, ['out/client.js'], { cwd: folder })
  must(stdout.trim() === 'network object', `the client said: ${stdout}`)
}

/** Checks the contracts in a program without Node's types. Its deliberate mistakes must fail to compile. */
async function hasContracts(folder: string): Promise<void> {
  const program = [
    `import { addresses, hubAbi, hubBytecode, layerZero, registrarIdl } from 'clusterd/contracts'`,
    `type Names = Extract<(typeof hubAbi)[number], { type: 'function' }>['name']`,
    `export const name: Names = 'withdrawRefund'`,
    `// @ts-expect-error: the hub has no such function`,
    `export const wrong: Names = 'holderOf'`,
    `console.log(hubAbi.length > 10, hubBytecode.slice(0, 4), layerZero['1']?.eid, addresses.Hub['1'], registrarIdl.protocol)`,
  ].join('\n')
  writeFileSync(join(folder, 'contracts.ts'), program)
  const compilerOptions = {
    strict: true,
    module: 'nodenext',
    lib: ['es2022', 'dom'],
    types: [],
    outDir: 'out',
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['contracts.ts'] }),
  )
  await run(process.execPath, [TSC], { cwd: folder })
  const { stdout } = await run(process.execPath, ['out/contracts.js'], { cwd: folder })
  must(/^true 0x60 30101 undefined file:/.test(stdout), `the contracts said: ${stdout}`)
}

/** Packages that the types of the published entries import, although an install does not include them. */
function strangers(folder: string): string[] {
  const seen = new Set<string>()
  const named = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    for (const [, name] of readFileSync(file, 'utf8').matchAll(
      /(?:from |import\()['"]([^'"]+)['"]/g,
    )) {
      if (name!.startsWith('.')) visit(join(file, '..', name!.replace(/\.js$/, '.d.ts')))
      else if (!/^(node:|clusterd\/)/.test(name!)) named.add(/^(@[^/]+\/)?[^/]+/.exec(name!)![0])
    }
  }
  for (const entry of ['client', 'contracts', 'testing'])
    visit(join(folder, `node_modules/clusterd/dist/${entry}/index.d.ts`))
  must(seen.size > 10, 'the types were not read')
  return [...named].filter((name) => !existsSync(join(folder, 'node_modules', name)))
}

async function isSmall(folder: string): Promise<void> {
  const { stdout } = await run('du', ['-sm', 'node_modules'], { cwd: folder })
  const megabytes = Number.parseInt(stdout, 10)
  console.log(`   node_modules: ${megabytes} MB`)
  must(megabytes <= CEILING_MB, `the production install takes ${megabytes} MB`)
}

/** Checks that `init` writes a draft which `doctor` accepts. */
async function begins(folder: string): Promise<void> {
  const out = join(folder, 'deployment')
  await clusterd(folder, [
    'init',
    '--compose',
    '--rpc',
    '11155111=http://127.0.0.1:9',
    '--out',
    out,
  ])
  const env = {
    CLUSTERD_CHAINS: join(out, 'chains.json'),
    DATABASE_URL: 'postgresql://127.0.0.1:9/none',
  }
  const { stdout } = await clusterd(folder, ['doctor', '--json'], env).catch(
    (error: { stdout: string }) => error,
  )
  must(stdout.includes('clusterd contracts deploy'), `doctor said: ${stdout}`)
}

async function refusesDev(folder: string): Promise<void> {
  const { stderr } = await clusterd(folder, ['dev'], { CLUSTERD_HOME: join(folder, 'world') }).then(
    () => ({ stderr: '' }),
    (error: { stderr: string }) => error,
  )
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('npm '))
  must(
    lines.length === 1 && /^clusterd: .*npm /.test(lines[0]!),
    `dev without its parts said: ${stderr}`,
  )
}

/** Runs the installed daemon on PostgreSQL and a chain that this checkout starts (local world). */
async function serves(folder: string): Promise<void> {
  const stack = await startStack({ chains: ['1'], seeds: false, blockMs: 200 })
  try {
    const databaseUrl = await createDatabase(stack.databaseUrl, 'packaged')
    const opsPort = await chooseFreePort()
    const env = {
      ...LOCAL_SECRET_KEYS,
      DATABASE_URL: databaseUrl,
      CLUSTERD_CHAINS: join(stack.home, 'chains.json'),
      PORT: String(await chooseFreePort()),
      OPS_PORT: String(opsPort),
    }
    await clusterd(folder, ['migrate'], env)
    const daemon = background(folder, ['start'], env)
    const isReady = () =>
      fetch(`http://127.0.0.1:${opsPort}/status`).then(
        ({ ok }) => ok,
        () => false,
      )
    await daemon.until(isReady)
    await daemon.end('SIGTERM')
  } finally {
    await stack.stop()
  }
}
