import { getBlock } from 'viem/actions'
import type { LocalClients } from './localClients.js'

const TRIES = 10

/** This host's clock, seconds since 1970. */
export const hostSeconds = (): number => Math.floor(Date.now() / 1_000)

/**
 * Seconds that the clock of an anvil is ahead of this host's, negative if it is behind. Anvil dates the pending block
 * by its clock. Too few where each of ten answers took over the end of a second.
 */
export async function clockLeadS({ test }: Pick<LocalClients, 'test'>): Promise<number> {
  for (let tries = 1; ; tries++) {
    const before = hostSeconds()
    const { timestamp } = await getBlock(test, { blockTag: 'pending' })
    const after = hostSeconds()
    // anvil may have answered before or after the host's next second
    if (after === before || tries === TRIES) return Number(timestamp) - after
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
