/** A sample of Prometheus' text format. */
export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

const labelsOf = (text: string): [string, string, string][] =>
  [...text.matchAll(/(\w+)(=~|=)"((?:[^"\\]|\\.)*)"/g)].map(([, name, op, value]) => [
    name!,
    op!,
    value!,
  ])

/** Reads a scrape. */
export function parseSamples(text: string): Sample[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return lines.map((line) => {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line)!
    return {
      name: name!,
      labels: Object.fromEntries(labelsOf(labels).map(([label, , of]) => [label, of])),
      value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value),
    }
  })
}

const SCRAPES_APART_S = 300
const COMPARE: Record<string, (a: number, b: number) => boolean> = {
  '<': (a, b) => a < b,
  '>': (a, b) => a > b,
  '==': (a, b) => a === b,
}

/** The value of a group of samples, by aggregation. */
const AGGREGATIONS: Record<string, (values: readonly number[]) => number> = {
  max: (values) => Math.max(...values),
  min: (values) => Math.min(...values),
  sum: (values) => values.reduce((total, value) => total + value, 0),
}

/**
 * The samples for which an expression holds, of the part of PromQL that the rules use: selectors, `rate`, an
 * aggregation `by` labels, a comparison with a number or, matched `on` labels, with another selector, and `unless on`.
 * @param scrapes two, five minutes apart
 * @throws Error for any other expression, and for a selector whose metric is in no scrape
 */
export function firing(expr: string, scrapes: [Sample[], Sample[]]): Sample[] {
  const unless = /^(.+) unless on \((\w+)\) (.+)$/.exec(expr)
  if (unless) {
    const [, left, label, right] = unless
    const excluded = firing(right!, scrapes).map(({ labels }) => labels[label!])
    return firing(left!, scrapes).filter(({ labels }) => !excluded.includes(labels[label!]))
  }
  const compared = /^(.+) (<|>|==) (?:on \(([\w, ]+)\) )?(\S+)$/.exec(expr)
  if (!compared) return vector(expr, scrapes)
  const [, left, op, on, right] = compared
  const holds = COMPARE[op!]!
  if (on === undefined)
    return vector(left!, scrapes).filter(({ value }) => holds(value, Number(right)))
  const key = ({ labels }: Sample) => on.split(', ').map((label) => labels[label])
  const others = vector(right!, scrapes)
  return vector(left!, scrapes).filter((sample) =>
    others.some(
      (other) => `${key(other)}` === `${key(sample)}` && holds(sample.value, other.value),
    ),
  )
}

function vector(expr: string, scrapes: [Sample[], Sample[]]): Sample[] {
  const rate = /^rate\((.+)\[5m\]\)$/.exec(expr)
  if (rate) {
    const [before, after] = scrapes.map((scrape) => select(rate[1]!, scrape))
    return after!.map((sample, i) => ({
      ...sample,
      value: (sample.value - before![i]!.value) / SCRAPES_APART_S,
    }))
  }
  const aggregated = /^(\w+) by \(([\w, ]+)\) \((.+)\)$/.exec(expr)
  if (!aggregated) return select(expr, scrapes[1])
  const [, name, by, inner] = aggregated
  const aggregate = AGGREGATIONS[name!]
  if (!aggregate) throw notRead(expr)
  return aggregateBy(by!.split(', '), vector(inner!, scrapes), aggregate)
}

function aggregateBy(
  by: readonly string[],
  samples: readonly Sample[],
  aggregate: (values: readonly number[]) => number,
): Sample[] {
  const groups = new Map<string, Sample[]>()
  for (const sample of samples) {
    const key = by.map((label) => sample.labels[label]).join()
    groups.set(key, [...(groups.get(key) ?? []), sample])
  }
  return [...groups.values()].map((group) => ({
    name: group[0]!.name,
    labels: Object.fromEntries(by.map((label) => [label, group[0]!.labels[label]!])),
    value: aggregate(group.map(({ value }) => value)),
  }))
}

const notRead = (expr: string): Error =>
  new Error(
    `test/support/alertRules.ts does not read "${expr}": it reads selectors, rate(…[5m]), ${Object.keys(AGGREGATIONS).join(', ')} by (…) (…), and one comparison with a number or a selector`,
  )

function select(selector: string, scrape: readonly Sample[]): Sample[] {
  const parts = /^(\w+)(?:\{(.+)\})?$/.exec(selector)
  if (!parts) throw notRead(selector)
  const named = scrape.filter(({ name }) => name === parts[1])
  if (named.length === 0) throw new Error(`no such metric: ${parts[1]}`)
  return labelsOf(parts[2] ?? '').reduce(
    (left, [label, op, value]) =>
      left.filter(({ labels }) =>
        op === '=' ? labels[label] === value : new RegExp(`^(${value})$`).test(labels[label]!),
      ),
    named,
  )
}
