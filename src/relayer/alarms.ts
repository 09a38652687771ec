import type { OpenMessage } from '../db/bridge/openMessages.js'
import type { DeliveryRow } from '../db/outbox/deliveryRows.js'
import type { Logger } from '../ops/log.js'
import { toHex } from '../registry/primitives/bytes.js'
import type { Network } from '../registry/primitives/network.js'
import type { Outcome } from './converge.js'
import { HOLD_OVER } from './delivery.js'

/** Says what an operator has to know of deliveries, each thing once. */
export interface Alarms {
  outcome(row: DeliveryRow, outcome: Outcome): void
  stranded(message: OpenMessage): void
  /** @param count deliveries under way at nonces of another signer */
  heldByOthers(count: number): void
}

export function createAlarms(log: Logger, network: Network, nowMs: () => number): Alarms {
  const stranded = new Set<string>()
  let isDry = false
  let heldSoFar = 0

  const failed = (row: DeliveryRow, reason: string): void => {
    const fields = { ...fieldsOf(row), reason, failures: row.failures }
    if (reason === 'insufficient_funds') {
      if (!isDry) log.error(fields, "the relayer's signer has run dry: send it funds; deliveries wait for them")
      isDry = true
    } else if (row.failures <= 1) log.warn(fields, 'a delivery failed; it will be tried again')
    else log.debug(fields, 'a delivery failed again')
  }

  return {
    outcome(row, outcome) {
      const fields = fieldsOf(row)
      switch (outcome.outcome) {
        case 'parked':
          if (row.reason === HOLD_OVER) log.error(fields, 'a payment that bought nothing was not given back in time')
          else log.warn({ ...fields, reason: row.reason }, 'a delivery is parked: see `clusterd deliveries show`')
          break
        case 'failed':
        case 'refused':
          failed(row, outcome.failure.reason)
          break
        case 'sent':
          isDry = false
          log.debug(fields, 'sent')
          break
        case 'delivered':
          log.info(
            {
              ...fields,
              ms: nowMs() - (row.message?.sentMs ?? row.payment?.paidMs ?? row.refusal?.paidMs ?? row.createdMs),
            },
            'delivered',
          )
          break
        case 'unreachable':
          log.debug({ ...fields, reason: outcome.failure.reason }, 'the chain could not be asked')
          break
        case 'waiting':
        case 'ended':
          log.trace(fields, outcome.outcome)
          break
        default:
          log.debug(fields, outcome.outcome)
      }
    },
    heldByOthers(count) {
      if (count > heldSoFar)
        log.error(
          { network, deliveries: count },
          'deliveries are under way by another key: run with that key until they end',
        )
      heldSoFar = count
    },
    stranded({ guid, sentMs }) {
      const key = toHex(guid)
      if (stranded.has(key)) return
      stranded.add(key)
      log.warn({ network, guid: key, ms: nowMs() - sentMs }, 'a packet was left lying: the hub has not taken it')
    },
  }
}

const fieldsOf = ({ network, id, kind, nonce, guid }: DeliveryRow) => ({
  network,
  delivery: id,
  kind,
  nonce,
  guid: guid && toHex(guid),
})
