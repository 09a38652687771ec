import type { Request } from 'express'
import type { Answer } from '../http/answer.js'
import type { Rate } from './bucket.js'
import { countedAddress } from './client.js'
import { Buckets, type Quota } from './meter.js'

/** Limits of a process. */
export interface LimitSettings {
  /** Requests of an address without an API key. */
  address: Rate
  /** Requests of an API key, and of all keys at one address. */
  key: Rate
}

/** Counts what one request costs its client. */
export interface Meter {
  /** @throws ApiError rate_limited */
  spend(units: number): void
  giveBack(units: number): void
  /** Adds to an answer how much the client has left. */
  mark(answer: Answer): Answer
}

/** Meter where nothing is limited. */
const UNLIMITED: Meter = { spend() {}, giveBack() {}, mark: (answer) => answer }

/** Counts the requests of this process by their clients. */
export interface Gate {
  /** Meter of a request's address, without a look at its API key. */
  ofAddress(req: Request): Meter
}

/** Creates the gate of a process. @param settings null where nothing is limited */
export function createGate(settings: LimitSettings | null): Gate {
  if (!settings) return { ofAddress: () => UNLIMITED }
  const buckets = new Buckets()
  const meterOf = (quotas: readonly Quota[]): Meter => ({
    spend: (units) => buckets.withdraw(quotas, units),
    giveBack: (units) => buckets.giveBack(quotas, units),
    mark: (answer) => buckets.mark(quotas, answer),
  })
  return {
    ofAddress: ({ ip }) => meterOf([{ kind: 'address', bucket: countedAddress(ip), rate: settings.address }]),
  }
}
