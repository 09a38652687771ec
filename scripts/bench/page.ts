import { readFileSync, writeFileSync } from 'node:fs'

const PAGE = new URL('../../docs/measure/performance.md', import.meta.url)

/**
 * Writes a table, with the machine and the day, after the comment `mark` in a document. Numbers are right-aligned.
 * @param page default: docs/measure/performance.md
 */
export function writeTable(
  mark: string,
  machine: string,
  [head, ...body]: readonly (readonly string[])[],
  page = PAGE,
): void {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rule = head!.map((_, i) => (i === 0 ? '---' : '---:'))
  const day = new Date().toISOString().slice(0, 10)
  const table = [`${machine}, ${day}.`, '', ...[head!, rule, ...body].map(line)].join('\n')
  const marks = new RegExp(`(<!-- ${mark} -->\n)[^<]*(<!-- end -->)`)
  const before = readFileSync(page, 'utf8')
  writeFileSync(
    page,
    before.replace(marks, (_, begin: string, end: string) => `${begin}${table}\n${end}`),
  )
}
