import type { Chain } from 'viem'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { caught, clientOf, failure, json } from '../../test/support/misbehavingService.js'

describe('followStatus', () => {
  const pending = (have: number) => ({
    tx: '0x1',
    status: 'pending',
    confirmations: { have, need: 3 },
  })
  const bridging = { tx: '0x1', status: 'bridging' }
  const finalized = { tx: '0x1', status: 'finalized' }

  it('yields each answer that differs, over outages, and ends with a final status', async () => {
    const answers: (object | number)[] = [pending(1), pending(1), 503, 502, pending(2)]
    answers.push(bridging, finalized)
    const { client, asked } = await clientOf(
      (_, res) => {
        const answer = answers.shift()!
        if (typeof answer === 'number') failure(res, answer, 'unavailable')
        else json(res, answer)
      },
      { retries: 0 },
    )
    const seen: unknown[] = []
    for await (const status of client.followStatus('0x1')) seen.push(status)
    expect(seen).toEqual([pending(1), pending(2), bridging, finalized])
    const path = 'GET /v1/names/register/tx/0x1'
    const known = `${path}?since=pending&wait=25`
    expect(asked).toEqual([path, ...Array(5).fill(known), `${path}?since=bridging&wait=25`])
  })

  it('backs off while the service is away, and its clients do not return at the same time', async () => {
    const followers = Array.from({ length: 4 }, async () => {
      const askedMs: number[] = []
      const { client } = await clientOf(
        (_, res) => {
          askedMs.push(performance.now())
          if (askedMs.length < 4) failure(res, 503, 'unavailable')
          else json(res, finalized)
        },
        { retries: 0 },
      )
      for await (const _ of client.followStatus('0x1'));
      return askedMs.slice(1).map((ms, i) => ms - askedMs[i]!)
    })
    const pauses = await Promise.all(followers)
    // half to one and a half of 0.5, 1 and 2 s
    for (const [first, second, third] of pauses) {
      expect(first).toBeGreaterThan(240)
      expect(second).toBeGreaterThan(490)
      expect(third).toBeGreaterThan(990)
    }
    const thirds = pauses.map((of) => of[2]!)
    expect(Math.max(...thirds) - Math.min(...thirds)).toBeGreaterThan(50)
  })

  it('does not ask faster than every 250 ms, whatever the service answers', async () => {
    let have = 0
    const { client, asked } = await clientOf((_, res) => json(res, pending(have++)))
    const followed = client.followStatus('0x1', { timeoutMs: 1_100 })
    const error = await caught(
      (async () => {
        for await (const _ of followed);
      })(),
    )
    expect(error).toMatchObject({
      code: 'timeout',
      message: expect.stringMatching(/is pending, without a change after \d+ ms\.$/),
    })
    expect(asked.length).toBeLessThanOrEqual(6)
  })

  it('ends by its signal, also before the first answer, and where it is refused', async () => {
    const { client } = await clientOf((req, res) => {
      if (req.url!.includes('bad')) failure(res, 400, 'invalid_request')
      else if (!req.url!.includes('silent')) json(res, pending(1))
    })
    const stop = new AbortController()
    const reason = new Error('enough')
    const followed = client.followStatus('0x1', { signal: stop.signal })
    await followed.next()
    const next = caught(followed.next())
    stop.abort(reason)
    expect(await next).toBe(reason)
    const silent = { signal: AbortSignal.timeout(50) }
    expect(await caught(client.followStatus('silent', silent).next())).toMatchObject({
      name: 'TimeoutError',
    })
    expect(await caught(client.followStatus('bad').next())).toMatchObject({ status: 400 })
  })
})

describe('networks', () => {
  const base = {
    network: '8453',
    name: 'Base',
    chainId: 8453,
    role: 'spoke',
    isTestnet: false,
    gasToken: { symbol: 'ETH', decimals: 18 },
    canRegister: true,
    contract: `0x${'0a'.repeat(20)}`,
    rpcUrls: ['https://mainnet.base.org'],
    explorer: 'https://basescan.org',
  }

  it('have a chain that viem and wagmi take, null where there is no EIP-155 id', async () => {
    const solana = { ...base, network: 'solana', chainId: null, explorer: null }
    const { client } = await clientOf((_, res) => json(res, [base, solana]))
    const [first, second] = await client.networks()
    expectTypeOf(first!.chain!).toExtend<Chain>()
    expect(first).toEqual({
      ...base,
      chain: {
        id: 8453,
        name: 'Base',
        nativeCurrency: { name: 'ETH', symbol: 'ETH', decimals: 18 },
        rpcUrls: { default: { http: ['https://mainnet.base.org'] } },
        blockExplorers: { default: { name: 'https://basescan.org', url: 'https://basescan.org' } },
        contracts: { spoke: { address: base.contract } },
        testnet: false,
      },
    })
    expect(second).toEqual({ ...solana, chain: null })
  })
})
