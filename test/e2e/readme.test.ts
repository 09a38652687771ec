import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { world } from '../support/world.js'

/** The block of README.md that is marked as run by a test. */
const session = (): string => {
  const marked = readFileSync('README.md', 'utf8').split('<!-- a test runs this block -->')[1] ?? ''
  return /```sh\n([\s\S]*?)```/.exec(marked)?.[1] ?? ''
}

describe('the curl session of the README', () => {
  it('runs as it stands, on the local world', () => {
    const script = session().replace(/^API=.*$/m, `API=${world().api}`)
    expect(script.match(/^curl /gm)?.length).toBeGreaterThanOrEqual(10)
    const curl = 'curl() { command curl --fail-with-body "$@"; printf "\\n"; }'
    const out = execFileSync('bash', ['-euc', `${curl}\n${script}`], { encoding: 'utf8' })
    const [check, quote, names, record, owned, cluster, community, below, owed, events, testnetEvents] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(check.map(({ name }: { name: string }) => name)).toEqual(['alice', 'bob'])
    expect(quote).toMatchObject({ type: 'evm', bridgeFee: '0', registrationFee: '10000000000000000' })
    expect(names).toHaveLength(2)
    expect(record).toMatchObject({ clusterName: 'seedling', walletName: 'main', isVerified: true })
    expect(owned[0]).toMatchObject({ name: 'seedling', isTestnet: false })
    expect(cluster.wallets[0].address).toBe(record.address)
    expect(community.prices.length).toBeGreaterThan(0)
    expect(below).toMatchObject({ name: 'club/alice', isAvailable: true })
    expect(owed).toMatchObject({ type: 'evm', unavailable: [], truncated: false })
    expect(events.items).toHaveLength(3)
    expect(testnetEvents.items[0]).toMatchObject({ isTestnet: true })
  })
})
