import { Counter, Gauge, type Registry } from 'prom-client'

/** Numbers that a metric shows, by their labels; null: none. */
export type Samples<Label extends string> = readonly (readonly [
  Record<Label, string>,
  number | null,
])[]

export function metricFactories(registry: Registry) {
  const registers = [registry]
  return {
    /** @param read gives all numbers, just before the metrics are read; without it they are counted here */
    counter: <Label extends string>(
      name: string,
      help: string,
      labelNames: readonly Label[],
      read?: () => Samples<Label>,
    ) => {
      function collect(this: Counter<Label>): void {
        this.reset()
        for (const [labels, value] of read!()) if (value !== null) this.inc(labels, value)
      }
      return new Counter({ name, help, labelNames, registers, ...(read && { collect }) })
    },
    /** @param read gives all numbers, just before the metrics are read; without it they are set */
    gauge: <Label extends string>(
      name: string,
      help: string,
      labelNames: readonly Label[],
      read?: () => Samples<Label>,
    ) => {
      function collect(this: Gauge<Label>): void {
        this.reset()
        for (const [labels, value] of read!()) if (value !== null) this.set(labels, value)
      }
      return new Gauge({ name, help, labelNames, registers, ...(read && { collect }) })
    },
  }
}
