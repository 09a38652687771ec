import type { LiedAbout } from './lies.js'
import type { Upstream } from './upstream.js'

/** Faults that a test stages by hand, beside those that a seed draws. */
export class StagedFaults {
  readonly #upstream: Upstream
  /** Methods whose next answer is a lie. */
  readonly #lies = new Set<string>()
  /** Number of the finalized block while finality stalls. */
  #stalledAt: string | null = null

  constructor(upstream: Upstream) {
    this.#upstream = upstream
  }

  /** Makes the next answer to a method a false one. */
  lieOnce(method: LiedAbout): void {
    this.#lies.add(method)
  }

  owesLie(method: string): boolean {
    return this.#lies.has(method)
  }

  lied(method: string): void {
    this.#lies.delete(method)
  }

  /** Answers what is asked of the finalized block with the present one from now on. */
  async stallFinality(): Promise<void> {
    const { result } = await this.#upstream('eth_getBlockByNumber', ['finalized', false])
    this.#stalledAt = (result as { number: string } | null)?.number ?? null
  }

  /** Parameters of a call, which asks for an old block while finality stalls. */
  paramsOf(params: readonly unknown[]): readonly unknown[] {
    return this.#stalledAt === null ? params : params.map((param) => (param === 'finalized' ? this.#stalledAt : param))
  }

  /** Takes back the lies that nobody has asked for, and lets finality go on. */
  forget(): void {
    this.#lies.clear()
    this.#stalledAt = null
  }
}
