import fs from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Network } from '../../src/registry/primitives/network.js'
import { createBridgeControls } from '../../src/testing/bridge.js'
import {
  type ChainLabel,
  createDatabase,
  type NetworkOf,
  type Stack,
  type StackOptions,
  startPostgres,
  startStack,
  until,
} from '../../src/testing/index.js'
import { isProcessAlive } from '../../src/testing/processes/processes.js'
import { ensClients } from '../support/ens.js'
import { useFolder } from '../support/folder.js'
import {
  freshName,
  freshWallet,
  quoteOn,
  type SomeWorld,
  sendRegistration,
} from '../support/world.js'

const BLOCK_MS = 200

const base = useFolder()
const running: { stop(): Promise<void> }[] = []

async function start<N extends Network = Network, L extends ChainLabel = ChainLabel>(
  options: StackOptions<N, L> = {},
): Promise<Stack<N & NetworkOf<L>>> {
  const stack = await startStack({ blockMs: BLOCK_MS, seeds: false, ...options })
  running.push(stack)
  return stack
}

async function register(stack: SomeWorld): Promise<string> {
  const tx = await sendRegistration(
    await freshWallet('mainnet', stack),
    [{ name: freshName() }],
    'mainnet',
    stack,
  )
  await until.status(stack, tx, 'finalized')
  return tx
}

/** What a name of ENS that is free resolves to: null, as long as the gateway's answers are taken. */
const freeName = ({ networks: { mainnet } }: Stack<'mainnet'>) =>
  ensClients(mainnet.hub, mainnet.ens).viem.getEnsAddress({ name: 'nobody.local.eth' })

afterEach(async () => {
  for (const part of running.splice(0).reverse()) await part.stop()
})

describe('startStack', { timeout: 180_000 }, () => {
  it('lets a test kill and restart each part, goes on, and says when a chain is behind the journal', async () => {
    const home = fs.mkdtempSync(path.join(base, 'parts')) // a second try begins a world of its own
    const stack = await start({ home, chains: ['1'] })
    const first = await register(stack)

    const daemonPid = stack.daemon.pid
    await stack.daemon.kill('SIGKILL')
    expect(stack.daemon.isRunning()).toBe(false)
    await stack.daemon.restart({ LOG_LEVEL: 'debug' })
    expect(stack.daemon.pid).not.toBe(daemonPid)
    await until.status(stack, first, 'finalized')
    expect(await freeName(stack)).toBeNull()

    const chain = stack.anvils['1']
    await expect(chain.mine(-1)).rejects.toThrow('mine takes a whole number from 1 on, not -1.')
    await expect(chain.reorg(0.5)).rejects.toThrow('reorg takes a whole number from 1 on, not 0.5.')
    const rpcUrl = chain.rpcUrl
    await chain.stop() // the stop writes its state to the file
    const state = path.join(home, 'anvil', '1.json')
    const old = fs.readFileSync(state)
    await chain.restart()
    expect(chain.rpcUrl).toBe(rpcUrl)
    await register(stack)

    await stack.postgres?.restart()
    await until.ready(stack)
    await register(stack)
    expect(stack.daemon.logs()).toContain('clusterd is up')

    await stack.stop()
    fs.writeFileSync(state, old)
    await expect(start({ home, chains: ['1'] })).rejects.toThrow(
      /A local chain is behind the journal .*: delete .*parts\w+ to begin/,
    )
  })

  it('is one network where only one is asked for, in a folder that it removes', async () => {
    const stack = await start({ networks: ['testnet'], solana: false, limits: true })
    expect(Object.keys(stack.networks)).toEqual(['testnet'])
    const { headers } = await fetch(`${stack.api}/v1/networks`)
    expect(headers.has('ratelimit-policy')).toBe(true)
    const pids = [stack.daemon.pid, stack.postgres!.pid, stack.anvils['11155111'].pid]
    await stack.stop()
    expect(pids.filter(isProcessAlive)).toEqual([])
    expect(fs.existsSync(stack.home)).toBe(false)
  })

  it('is the chains that are asked for; another one later joins them; a part that dies is reported', async () => {
    const home = path.join(base, 'chains')
    const first = await start({ home, chains: ['1'] })
    expect(first.networks).toEqual({
      mainnet: { hub: expect.anything(), ens: expect.anything(), spokes: [] },
    })
    const tx = await register(first)
    await first.stop()

    const second = await start({ home, chains: ['1', '10'] })
    expect(second.networks.mainnet.hub).toEqual(first.networks.mainnet.hub)
    expect(second.networks.mainnet.spokes.map(({ network }) => network)).toEqual(['10'])
    await until.status(second, tx, 'finalized')
    // its API has another port
    expect(await freeName(second)).toBeNull()
    const { gasToken } = await quoteOn(
      '10',
      second.accounts.evm[0]!.address,
      [{ name: freshName() }],
      second,
    )
    expect(gasToken).toEqual({ symbol: 'LOC', decimals: 18 })
    await second.stop()

    const third = await start({ home, chains: ['1', '8453'] })
    await third.stop()
    const fourth = await start({ home, chains: ['1', '10'] })
    expect(fourth.networks).toEqual(second.networks)
    process.kill(fourth.daemon.pid, 'SIGKILL')
    expect(await fourth.failed).toContain('the daemon has ended')
  })

  it('refuses a spoke without its hub, a chain that it does not know, and blocks in no time', async () => {
    await expect(start({ chains: ['1'], blockMs: 0 })).rejects.toThrow(
      'blockMs takes a whole number from 10 on, not 0.',
    )
    await expect(start({ chains: ['10'] })).rejects.toThrow(
      'Spoke "10" needs its hub, "1", in the world too.',
    )
    await expect(start({ chains: ['1', '56' as '10'] })).rejects.toThrow(
      'Chain "56" is not one of the local world',
    )
    await expect(
      start({ chains: ['1'], attach: { '8453': 'http://127.0.0.1:9' } }),
    ).rejects.toThrow('"8453" is attached, and no chain of this world: name it in `chains` too.')
  })

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY])(
    'delays no message by %d ms, which would fail the jobs',
    async (ms) => {
      await expect(createBridgeControls('postgresql://127.0.0.1:9/none').delay(ms)).rejects.toThrow(
        'delay takes a whole number',
      )
    },
  )

  it('uses a database that it is given, and leaves it running', async () => {
    const server = await startPostgres({ dataDir: path.join(base, 'given') })
    running.push(server)
    const stack = await start({
      chains: ['1'],
      databaseUrl: await createDatabase(server.url, 'given'),
    })
    expect(stack.postgres).toBeUndefined()
    await stack.stop()
    expect(isProcessAlive(server.pid)).toBe(true)
  })

  it('says what is wrong with the environment of the daemon', async () => {
    const options = {
      chains: ['1'],
      blockMs: 200,
      seeds: false,
      daemonEnv: { QUOTE_KEY: '0x12' },
    } as const
    await expect(startStack(options)).rejects.toThrow('QUOTE_KEY')
  })
})
