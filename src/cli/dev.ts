import {
  DEFAULT_OPS_PORT,
  DEFAULT_PORT,
  type Environment,
  readEnvironment,
  selectLocalDaemonVariables,
} from '../config/index.js'
import { LABELLED_FAMILIES } from '../registry/families.js'
import type { Stack } from '../testing/index.js'
import { colourText } from './output.js'

/**
 * Time limit for stopping the local world. Then this process ends, and a guard process kills the world's other
 * processes.
 */
const STOP_LIMIT_MS = 8_000

/** `clusterd dev`: runs a local world (PostgreSQL, chains, contracts and the service) until Ctrl-C. */
export async function runDevCommand({ limits = false }: { limits?: boolean } = {}): Promise<void> {
  const startedMs = performance.now()
  const env = readEnvironment()
  console.log(
    `Starting a local world in ${env.home}: PostgreSQL, chains, contracts and the service. Ctrl-C ends it.`,
  )
  const { startStack } = await import('../testing/index.js')
  await runUntilSignal(async () => {
    const stack = await startStack({
      home: env.home,
      ...(await choosePorts(env)),
      ...(env.databaseUrl !== undefined && { databaseUrl: env.databaseUrl }),
      ...(env.solanaRpcUrl !== undefined && { solanaRpcUrl: env.solanaRpcUrl }),
      daemonEnv: { SQL_VIEWS: 'on', ...selectLocalDaemonVariables() },
      limits,
      testWallet: true,
      log: (line) => console.log(colourText('dim', line)),
    })
    printSummary(stack, (performance.now() - startedMs) / 1_000)
    return stack
  })
}

/** The chains and services that `clusterd dev` or `clusterd rehearse` runs. */
type RunningNetwork = Pick<Stack, 'failed' | 'stop'>

/** Starts a network. On a signal, or when one of its processes ends, stops the network and ends this process. */
export async function runUntilSignal(start: () => Promise<RunningNetwork>): Promise<void> {
  let running: RunningNetwork | undefined
  stopOnSignals(() => running)
  running = await start()
  const reason = await running.failed
  console.error(`clusterd: ${reason}`)
  await stopAndExit(running, 1)
}

/** Ports from PORT and OPS_PORT. Where one is not set: the default port, or the next free port with a notice. */
async function choosePorts(env: Environment): Promise<{ port: number; opsPort: number }> {
  const { chooseFreePortFrom } = await import('../testing/processes/ports.js')
  const choose = async (set: number | undefined, preferred: number, name: string) => {
    if (set !== undefined) return set
    const port = await chooseFreePortFrom(preferred)
    if (port !== preferred)
      console.log(`Port ${preferred} is taken, using ${port} (${name} sets another).`)
    return port
  }
  const port = await choose(env.port, DEFAULT_PORT, 'PORT')
  return { port, opsPort: await choose(env.opsPort, DEFAULT_OPS_PORT, 'OPS_PORT') }
}

/** Stops the network on the first signal, and ignores later ones: npm forwards Ctrl-C, so it arrives twice. */
function stopOnSignals(current: () => RunningNetwork | undefined): void {
  let isEnding = false
  const endOnce = async (): Promise<void> => {
    if (isEnding) return
    isEnding = true
    console.log('\nEnding the world ...')
    await stopAndExit(current(), 0)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, endOnce)
}

/** Stops the network and ends this process, after `STOP_LIMIT_MS` even if a part of the network hangs. */
async function stopAndExit(running: RunningNetwork | undefined, code: number): Promise<never> {
  setTimeout(() => {
    console.error('clusterd: a part of the world hangs, and is killed.')
    process.exit(1)
  }, STOP_LIMIT_MS)
  await running?.stop()
  process.exit(code)
}

function printSummary(stack: Stack, seconds: number): void {
  const { api, ops, networks, seeds, accounts } = stack
  const seed = seeds.mainnet
  const bold = (text: string) => colourText('bold', text)
  const lines = [
    '',
    `${colourText('green', '●')} ${bold('The local world is up')} (${seconds.toFixed(1)} s)`,
    '',
    `  Pages      ${bold(api)}, with a test wallet; the API is there too`,
    `  Operator   ${ops}/status  ${ops}/metrics`,
    ...Object.entries(networks).flatMap(([name, { hub, spokes, ...clusters }]) => [
      ...[hub, ...spokes].map((chain, i) => {
        const role = chain === hub ? 'hub' : 'spoke'
        return `  ${(i === 0 ? name : '').padEnd(9)}  ${role} "${chain.network}" at ${chain.rpcUrl}, chain id ${chain.chainId}`
      }),
      ...LABELLED_FAMILIES.flatMap(({ key, label }) => {
        const cluster = clusters[key]
        return cluster
          ? [`             "${label}" at ${cluster.rpcUrl}, program ${cluster.programId}`]
          : []
      }),
    ]),
    `  Database   ${stack.databaseUrl}`,
    `  World      ${stack.home}/stack.json (${Object.values(accounts).flat().length} funded accounts)`,
    '',
    ...(seed
      ? [
          `  curl -s ${api}/v1/names/address/${seed.owner}`,
          `  curl -s ${api}/v1/names -d '[{"name":"${seed.name}"}]'`,
          ...Object.entries(seed.tx).map(
            ([status, tx]) => `  curl -s ${api}/v1/names/register/tx/${tx}  # ${status}`,
          ),
        ]
      : []),
    `  curl -s ${api}/v1/names/register/check -d '["alice","bob"]'`,
    `  curl -s '${api}/v1/events?limit=3'`,
    '',
    '  Register a name as a wallet does, in a checkout: npm run demo. Ctrl-C ends everything.',
    '',
  ]
  console.log(lines.join('\n'))
}
