import { Agent } from 'node:http'
import { createPublicClient, http } from 'viem'
import {
  createLocalWalletClient,
  localChainClients,
} from '../../src/testing/chains/localClients.js'
import { deployEns, setEnsGateway } from '../../src/testing/contracts/ens.js'
import { testAccount, type WorldEns } from '../../src/testing/world.js'
import { callOf, lookupOf } from '../../test/support/ens.js'
import { mineBlocksQuicklyDuring } from '../../test/support/miner.js'
import { ask } from './ask.js'
import { cpuOf, type Latency } from './bench.js'
import { type BenchChain, CHAIN_ID, nameOf } from './chain.js'
import { byRun, recordFigure } from './figure.js'
import { type Asking, inRuns, printLatencies, timed } from './tokens.js'

const FLOOR = 'POST /v1/names'

const placeOf = ({ rpcUrl }: BenchChain) => ({ rpcUrl, chainId: CHAIN_ID })
const clientsOf = (chain: BenchChain) => ({
  walletClient: createLocalWalletClient(placeOf(chain), testAccount(0)),
  publicClient: localChainClients(placeOf(chain)).reader,
})

/** Deploys ENS on the benchmark's chain, and enters its resolver in the daemon's chains file. */
export async function addEns(chain: BenchChain): Promise<WorldEns> {
  const ens = await mineBlocksQuicklyDuring(placeOf(chain), () =>
    deployEns(clientsOf(chain), 'bench.eth'),
  )
  const mainnet = { parent: ens.parent, resolver: ens.resolver, chainId: CHAIN_ID }
  chain.chainsFile = { ...chain.chainsFile, ens: { mainnet } }
  return ens
}

/**
 * Measures how the ENS gateway resolves names, beside look-ups of the API, and prints the result. In each run, the
 * names are first looked up, then resolved by the gateway, then resolved again with cached signatures. At the end viem
 * resolves all names, through the chain and the gateway. `count` is the number of names.
 */
export async function benchEns(
  { api, count, runs, countMs }: Asking,
  chain: BenchChain,
  ens: WorldEns,
): Promise<void> {
  await mineBlocksQuicklyDuring(placeOf(chain), () => setEnsGateway(clientsOf(chain), ens, api))
  const names = Array.from({ length: count }, (_, n) => nameOf(n))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const lookUp = (name: string) =>
    ask(agent, `${api}/v1/names`, { body: JSON.stringify([{ name }]) })
  const resolve = (name: string) => {
    const call = lookupOf(`${name}.${ens.parent}`, callOf('addr(bytes32)'))
    return ask(agent, `${api}/ens/${ens.resolver}/${call}.json`)
  }

  const kinds = { [FLOOR]: lookUp, 'GET /ens, signed': resolve, 'GET /ens, kept': resolve }
  const rows: [string, Latency][] = []
  const costs = new Map<string, number[]>(Object.keys(kinds).map((title) => [title, []]))
  for (const some of inRuns(names, runs))
    for (const [title, work] of Object.entries(kinds)) {
      const all = async () => rows.push([title, await timed(some, work)])
      costs.get(title)!.push(await cpuOf(countMs, all))
    }
  agent.destroy()

  const viem = createPublicClient({ transport: http(chain.rpcUrl) })
  const whole = await timed(names, async (name) => {
    const asked = { name: `${name}.${ens.parent}`, universalResolverAddress: ens.universalResolver }
    if (!(await viem.getEnsAddress(asked))) throw new Error(`resolving ${name}: it is nobody's`)
  })
  printLatencies(`Names of ENS, ${count} in ${runs} runs`, [
    ...rows,
    ['viem, the whole way', whole],
  ])
  for (const [title, cost] of costs)
    if (title !== FLOOR)
      recordFigure({
        title,
        floor: FLOOR,
        measure: 'processor',
        ratios: byRun(cost, costs.get(FLOOR)!),
      })
}
