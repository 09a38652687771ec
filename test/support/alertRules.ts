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

/**
 * The samples for which an expression holds, of the part of PromQL that the rules use: selectors, `rate`, `max by`, a
 * comparison with a number or, matched `on` labels, with another selector, and `unless on`.
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
  const max = /^max by \((.+)\) \((.+)\)$/.exec(expr)
  return max ? maxBy(max[1]!.split(', '), select(max[2]!, scrapes[1])) : select(expr, scrapes[1])
}

function maxBy(by: readonly string[], samples: readonly Sample[]): Sample[] {
  const key = ({ labels }: Sample) => by.map((label) => labels[label]).join()
  return samples.filter(
    (one) => !samples.some((other) => key(other) === key(one) && other.value > one.value),
  )
}

function select(selector: string, scrape: readonly Sample[]): Sample[] {
  const parts = /^(\w+)(?:\{(.+)\})?$/.exec(selector)
  if (!parts) throw new Error(`no selector: ${selector}`)
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
