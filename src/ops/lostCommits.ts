import type { Network } from '../registry/primitives/network.js'
import { alarmFields } from './alarms.js'
import type { Context } from './context.js'

/** Raises the alarm for a database that lost commits. The alarm lasts until the process ends. */
export function reportLostCommits(
  { metrics, loops, log }: Pick<Context, 'metrics' | 'loops' | 'log'>,
  network: Network,
): void {
  metrics.wentBack.inc({ network })
  const text = `the database of ${network} went back in time`
  loops.raised.set(text, { alarm: 'ClusterdWentBack', text })
  log.error({ network, ...alarmFields('ClusterdWentBack') }, text)
}
