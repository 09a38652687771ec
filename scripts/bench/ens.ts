import { Agent } from 'node:http'
import { createPublicClient, http } from 'viem'
import { localClients, mineQuickly, walletOf } from '../../src/testing/chains/localClients.js'
import { deployEns, setGateway } from '../../src/testing/contracts/ens.js'
import { testAccount, type WorldEns } from '../../src/testing/world.js'
import { callOf, lookupOf } from '../../test/support/ens.js'
import { ask } from './ask.js'
import { type Latency, latencyOf } from './bench.js'
import { type BenchChain, CHAIN_ID, nameOf } from './chain.js'
import { byRun, recordFigure } from './figure.js'
import { printLatencies, timed } from './tokens.js'

const placeOf = ({ rpcUrl }: BenchChain) => ({ rpcUrl, chainId: CHAIN_ID })
const clientsOf = (chain: BenchChain) => ({
  walletClient: walletOf(placeOf(chain), testAccount(0)),
  publicClient: localClients(placeOf(chain)).reader,
})

/** Deploys ENS, and names its resolver in the daemon's chains file. */
export async function addEns(chain: BenchChain): Promise<WorldEns> {
  const ens = await mineQuickly(placeOf(chain), () => deployEns(clientsOf(chain), 'bench.eth'))
  const mainnet = { parent: ens.parent, resolver: ens.resolver, chainId: CHAIN_ID }
  chain.chainsFile = { ...chain.chainsFile, ens: { mainnet } }
  return ens
}

/** Names at the gateway beside look-ups, a request of each in turn, and the whole way of viem. Measures and prints. */
export async function benchEns(
  api: string,
  chain: BenchChain,
  ens: WorldEns,
  count: number,
): Promise<void> {
  await mineQuickly(placeOf(chain), () => setGateway(clientsOf(chain), ens, api))
  const names = Array.from({ length: count }, (_, n) => nameOf(n))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const viem = createPublicClient({ transport: http(chain.rpcUrl) })
  const times: number[][] = [[], [], []]
  for (const name of names) {
    const url = `${api}/ens/${ens.resolver}/${lookupOf(`${name}.${ens.parent}`, callOf('addr(bytes32)'))}.json`
    const lookUp = () => ask(agent, `${api}/v1/names`, { body: JSON.stringify([{ name }]) })
    for (const [i, work] of [lookUp, () => ask(agent, url), () => ask(agent, url)].entries()) {
      const startedMs = performance.now()
      await work()
      times[i]!.push(performance.now() - startedMs)
    }
  }
  agent.destroy()
  const [floor, signed, kept] = times.map((all) => latencyOf(all.slice(count / 10))) as [
    Latency,
    Latency,
    Latency,
  ]
  const whole = await timed(names, async (name) => {
    const asked = { name: `${name}.${ens.parent}`, universalResolverAddress: ens.universalResolver }
    if (!(await viem.getEnsAddress(asked))) throw new Error(`resolving ${name}: it is nobody's`)
  })
  const ours = { 'GET /ens, signed': signed, 'GET /ens, kept': kept }
  const rows = { 'POST /v1/names': floor, ...ours, 'viem, the whole way': whole }
  printLatencies(`Names of ENS, ${count}`, Object.entries(rows))
  for (const [title, { fifths }] of Object.entries(ours))
    recordFigure({
      title: `${title}, p50`,
      floor: 'POST /v1/names',
      ratios: byRun(fifths, floor.fifths),
    })
}
