import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { ROOT } from './files.js'

/** File with all alarms: Prometheus' rules, what each alarm means, and what an operator does about it. */
const ALARMS_FILE = 'examples/prometheus/alerts.yml'

interface Alarm {
  alert: string
  expr: string
  for?: string
  annotations: { description: string; remedy: string }
}

export function readAlarms(): Alarm[] {
  const { groups } = parse(readFileSync(join(ROOT, ALARMS_FILE), 'utf8')) as {
    groups: { rules: Alarm[] }[]
  }
  return groups.flatMap(({ rules }) => rules)
}

/** Text of the module in src/ops/generated that has the remedies by the alarms' names. */
export function remediesModule(): string {
  const remedies = Object.fromEntries(
    readAlarms().map(({ alert, annotations }) => [alert, annotations.remedy]),
  )
  return `export const REMEDIES = ${JSON.stringify(remedies, null, 2)}\n`
}
