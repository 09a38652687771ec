import { setTimeout as sleep } from 'node:timers/promises'
import type { LocalClients } from './localClients.js'

const hostSeconds = (): number => Math.floor(Date.now() / 1_000)

/**
 * Seconds that the clock of an anvil is ahead of this host's, negative if it is behind. Anvil dates the pending block
 * by its clock.
 */
export async function clockLeadS({ test }: Pick<LocalClients, 'test'>): Promise<number> {
  for (;;) {
    const before = hostSeconds()
    const pending = await test.request({
      method: 'eth_getBlockByNumber',
      params: ['pending', false],
    } as never)
    // anvil may have answered before or after the host's next second
    if (hostSeconds() === before)
      return Number((pending as { timestamp: string }).timestamp) - before
    await sleep(1)
  }
}

/**
 * Advances the clock of an anvil until it is `leadS` seconds ahead of this host's. Anvil's clock stays behind after an
 * `anvil_reorg`, by the age of the last block that remains, and after a start that took seconds. A payment in a block of
 * the past would get the rules of a community before its configuration. Does nothing to a clock that is further ahead.
 */
export async function advanceClockTo(
  clients: Pick<LocalClients, 'test'>,
  leadS: number,
): Promise<void> {
  const behindS = leadS - (await clockLeadS(clients))
  if (behindS > 0) await clients.test.increaseTime({ seconds: behindS })
}
