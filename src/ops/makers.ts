import { Counter, Gauge, type Registry } from 'prom-client'

export function makersOf(registry: Registry) {
  const registers = [registry]
  return {
    counter: <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
      new Counter({ name, help, labelNames, registers }),
    /** @param collect runs just before the metrics are read */
    gauge: <Label extends string>(name: string, help: string, labelNames: readonly Label[], collect?: () => void) =>
      new Gauge({ name, help, labelNames, registers, ...(collect ? { collect } : {}) }),
  }
}
