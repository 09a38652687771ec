import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { programCommand } from '../../src/testing/processes/programs.js'
import { freshName, freshWallet, registerOn, world } from '../support/world.js'

/** `clusterd mcp` as agents use it: the SDK's own client over both transports. */

const commandOf = async (...more: string[]) => {
  const { command, args } = await programCommand('cli')
  return { command, args: [...args, 'mcp', '--url', world().api, ...more] }
}

/** A server of streamable HTTP, and its address as it prints it. */
async function startHttp(): Promise<{ child: ChildProcess; url: string }> {
  const { command, args } = await commandOf('--http', '0')
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let printed = ''
  for await (const chunk of child.stderr!) {
    printed += String(chunk)
    const [url] = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(printed) ?? []
    if (url) return { child, url }
  }
  throw new Error(`clusterd mcp said: ${printed}`)
}

let http: { child: ChildProcess; url: string }
beforeAll(async () => {
  http = await startHttp()
})
afterAll(async () => {
  http.child.kill('SIGTERM')
  expect((await once(http.child, 'exit'))[0]).toBe(0)
})

const TRANSPORTS: Record<string, () => Promise<Transport>> = {
  stdio: async () => new StdioClientTransport(await commandOf()),
  http: async () => new StreamableHTTPClientTransport(new URL(http.url)) as Transport,
}

describe.each(Object.keys(TRANSPORTS))('clusterd mcp over %s', (name) => {
  const agent = new Client({ name: 'test', version: '1' })
  beforeAll(async () => agent.connect(await TRANSPORTS[name]!()))
  afterAll(() => agent.close())

  /** What a tool answers: its JSON, or the text of its error. */
  async function call(tool: string, input: Record<string, unknown> = {}): Promise<unknown> {
    const { content, isError } = await agent.callTool({ name: tool, arguments: input })
    const [{ text }] = content as [{ text: string }]
    return isError ? text : JSON.parse(text)
  }

  it('has tools that only read', async () => {
    const { tools } = await agent.listTools()
    expect(tools.map((tool) => tool.name).sort()).toEqual([
      ...['check_availability', 'get_cluster', 'list_events', 'list_networks', 'names_of_address'],
      ...['quote_registration', 'resolve_name', 'transaction_status'],
    ])
    for (const { annotations, description } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true })
      expect(description).toMatch(/\.$/)
    }
  })

  it('looks up', async () => {
    const { name, owner } = world().seeds.mainnet!
    expect(await call('resolve_name', { name: `${name}/main` })).toMatchObject({ address: owner })
    expect(await call('resolve_name', { name: 'nobody-has-this' })).toBeNull()
    const names = await call('names_of_address', { address: owner })
    expect(names).toMatchObject({ listedAs: { clusterName: name }, owns: [{ name }] })
    expect(await call('get_cluster', { nameOrId: name })).toMatchObject({ wallets: [{ address: owner }] })
    expect(((await call('list_networks')) as object[])[0]).toMatchObject({ role: 'hub', canRegister: true })
    const testnet = world().seeds.testnet!
    const onTestnet = await call('resolve_name', { name: testnet.name, testnet: true })
    expect(onTestnet).toMatchObject({ address: testnet.owner })
  })

  it('quotes a registration, and waits for it', async () => {
    const account = await freshWallet()
    const free = freshName()
    const names = [{ name: free }]
    expect(await call('check_availability', { names: [free] })).toEqual([{ name: free, isAvailable: true }])
    const wish = { network: '1', sender: account.address, names }
    expect(await call('quote_registration', wish)).toMatchObject({ type: 'evm', names })
    const tx = await registerOn('1', account, names)
    expect(await call('transaction_status', { tx, waitSeconds: 50 })).toMatchObject({ status: 'finalized' })
    expect(await call('quote_registration', wish)).toMatch(/^names_unavailable: /)
    const { pending } = world().seeds.mainnet!.tx
    expect(await call('transaction_status', { tx: pending, waitSeconds: 0.2 })).toMatchObject({ status: 'pending' })
    const own = { from: account.address, limit: 1 }
    const page = (await call('list_events', { ...own, newestFirst: true })) as { items: object[] }
    expect(page.items).toMatchObject([{ from: account.address.toLowerCase() }])
  })

  it('refuses what is no input, and says what the deployment refuses', async () => {
    expect(await call('transaction_status', { tx: 'junk' })).toMatch(/^invalid_request: /)
    expect(await call('check_availability', { names: [] })).toMatch(/Invalid arguments|Input validation/)
  })
})

describe('clusterd mcp over HTTP', () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  const head = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const statusOf = (headers: Record<string, string>, method = 'POST') =>
    new Promise<number>((resolve, reject) => {
      const asked = request(http.url, { method, headers: { ...head, ...headers } }, (res) => {
        res.resume()
        resolve(res.statusCode!)
      })
      asked.once('error', reject)
      asked.end(method === 'POST' ? body : undefined)
    })

  it('answers programs of this machine alone, and no page of another site', async () => {
    expect(await statusOf({})).toBe(200)
    expect(await statusOf({ origin: 'http://localhost:5173' })).toBe(200)
    expect(await statusOf({ host: 'evil.example' })).toBe(403)
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1.evil.example'])
      expect(await statusOf({ origin }), origin).toBe(403)
    expect(await statusOf({}, 'GET')).toBe(405)
  })
})

it('refuses an address or a port that is none', async () => {
  const { command, args } = await programCommand('cli')
  for (const more of [
    ['--url', 'nowhere'],
    ['--http', 'x'],
  ]) {
    const child = spawn(command, [...args, 'mcp', ...more], { stdio: ['ignore', 'ignore', 'pipe'] })
    let printed = ''
    child.stderr.on('data', (chunk) => (printed += chunk))
    expect((await once(child, 'close'))[0]).toBe(1)
    expect(printed).toMatch(new RegExp(`^clusterd: ${more[0]} ${more[1]} is no `))
  }
})
