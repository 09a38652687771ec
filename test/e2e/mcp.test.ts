import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { programCommand } from '../../src/testing/processes/programs.js'
import { runCli } from '../support/cli.js'
import { freshName, freshWallet, registerOn, world } from '../support/world.js'

/** `clusterd mcp`, called by the SDK's own client like by an agent. */

const command = async () => {
  const { command, args } = await programCommand('cli')
  return { command, args: [...args, 'mcp', '--url', world().api] }
}

describe('clusterd mcp', () => {
  const agent = new Client({ name: 'test', version: '1' })
  beforeAll(async () => agent.connect(new StdioClientTransport(await command())))
  afterAll(() => agent.close())

  /** A tool's result: its JSON, or the text of its error. */
  async function call(tool: string, input: Record<string, unknown> = {}): Promise<unknown> {
    const { content, isError } = await agent.callTool({ name: tool, arguments: input })
    const [{ text }] = content as [{ text: string }]
    return isError ? text : JSON.parse(text)
  }

  it('has only read-only tools', async () => {
    const { tools } = await agent.listTools()
    expect(tools.map((tool) => tool.name).sort()).toEqual([
      ...['check_availability', 'get_cluster', 'list_events', 'list_networks', 'names_of_address'],
      ...['quote_registration', 'resolve_name', 'transaction_status'],
    ])
    for (const { name, annotations, description } of tools) {
      expect(annotations, name).toMatchObject({ readOnlyHint: true })
      expect(description, name).toMatch(/\.$/)
    }
  })

  it('looks up names and addresses', async () => {
    const { name, owner } = world().seeds.mainnet!
    expect(await call('resolve_name', { name: `${name}/main` })).toMatchObject({ address: owner })
    expect(await call('resolve_name', { name: 'nobody-has-this' })).toBeNull()
    const names = await call('names_of_address', { address: owner })
    expect(names).toMatchObject({ listedAs: { clusterName: name }, owns: [{ name }] })
    expect(await call('get_cluster', { nameOrId: name })).toMatchObject({
      wallets: [{ address: owner }],
    })
    expect(((await call('list_networks')) as object[])[0]).toMatchObject({
      role: 'hub',
      canRegister: true,
    })
    const testnet = world().seeds.testnet!
    const onTestnet = await call('resolve_name', { name: testnet.name, testnet: true })
    expect(onTestnet).toMatchObject({ address: testnet.owner })
  })

  it('quotes a registration, and waits for it', async () => {
    const account = await freshWallet()
    const free = freshName()
    const names = [{ name: free }]
    const availability = await call('check_availability', { names: [free] })
    expect(await call('check_availability', { names })).toEqual(availability)
    expect(await call('check_availability', { names: [free] })).toEqual([
      { name: free, isAvailable: true },
    ])
    const request = { network: '1', sender: account.address, names }
    expect(await call('quote_registration', request)).toMatchObject({ type: 'evm', names })
    const tx = await registerOn('1', account, names)
    expect(await call('transaction_status', { tx, waitSeconds: 50 })).toMatchObject({
      status: 'finalized',
    })
    expect(await call('quote_registration', request)).toBe(
      `names_unavailable: 1 or more names are unavailable (${free}) {"names":[${JSON.stringify(free)}]}`,
    )
    const { pending } = world().seeds.mainnet!.tx
    expect(await call('transaction_status', { tx: pending, waitSeconds: 0.2 })).toMatchObject({
      status: 'pending',
    })
    const own = { from: account.address, limit: 1 }
    const page = (await call('list_events', { ...own, newestFirst: true })) as { items: object[] }
    expect(page.items).toMatchObject([{ from: account.address.toLowerCase() }])
  })

  it.each([
    [
      'names_of_address',
      { address: 'alice' },
      '"alice" is no address of a known form: resolve_name',
    ],
    ['names_of_address', { address: `0x${'aB'.repeat(20)}` }, '(EIP-55) is wrong'],
    ['list_events', { from: 'zz' }, '"zz" is no address'],
    ['resolve_name', { name: 'a b' }, '"a b" is no name: '],
    ['check_availability', { names: ['a b'] }, '"a b" is no name: '],
    ['resolve_name', { name: 'a.local.eth' }, 'names are taken without their ENS parent'],
    ['check_availability', { names: ['a.local.eth'] }, 'names are taken without their ENS parent'],
    [
      'check_availability',
      { names: [{ name: 'a', amount: '1' }] },
      'Unrecognized key: "amount" at names[0]',
    ],
    ['list_networks', { network: '1' }, 'Unrecognized key: "network"'],
  ])('says what is wrong with the arguments of %s: %o', async (tool, input, problem) => {
    expect(await call(tool, input)).toContain(problem)
  })

  it('lists the chains of one network', async () => {
    const labels = async (input: object) =>
      ((await call('list_networks', { ...input })) as { network: string }[])
        .map(({ network }) => network)
        .sort()
    const { mainnet, testnet } = world().networks
    expect(await labels({})).toEqual(expect.arrayContaining([mainnet.hub.network]))
    expect(await labels({})).not.toContain(testnet.hub.network)
    expect(await labels({ testnet: true })).toContain(testnet.hub.network)
    expect(await labels({ testnet: true })).not.toContain(mainnet.hub.network)
  })

  it('refuses invalid input, and passes on errors of the deployment', async () => {
    expect(await call('transaction_status', { tx: 'junk' })).toMatch(/^invalid_request: /)
    expect(await call('check_availability', { names: [] })).toMatch(
      /Invalid arguments|Input validation/,
    )
  })
})

it('refuses an invalid URL', async () => {
  await expect(runCli(['mcp', '--url', 'nowhere'], {})).rejects.toThrow(
    'clusterd: --url nowhere is no HTTP address.',
  )
})
