import { Counter, Gauge, type Registry } from 'prom-client'

/** Values of a metric, each with its labels. Null: no value. */
export type MetricSamples<Label extends string> = readonly (readonly [
  Record<Label, string>,
  number | null,
])[]

/** Functions that create counters and gauges. Values are read at collection, or counted or set by the caller. */
export function metricFactories(registry: Registry) {
  /** Options of a metric. @param read returns all values at collection; absent where the caller counts or sets them */
  const optionsOf = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read?: () => MetricSamples<Label>,
  ) => {
    function collect(this: Counter<Label> | Gauge<Label>): void {
      this.reset()
      for (const [labels, value] of read!()) if (value !== null) this.inc(labels, value)
    }
    return { name, help, labelNames, registers: [registry], ...(read && { collect }) }
  }
  type Options<Label extends string> = Parameters<typeof optionsOf<Label>>
  return {
    counter: <Label extends string>(...options: Options<Label>) =>
      new Counter<Label>(optionsOf(...options)),
    gauge: <Label extends string>(...options: Options<Label>) =>
      new Gauge<Label>(optionsOf(...options)),
  }
}
