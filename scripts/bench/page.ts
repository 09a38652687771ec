import { readFileSync, writeFileSync } from 'node:fs'

const PAGE = new URL('../../docs/performance.md', import.meta.url)

/** Puts a table, with the machine and the day, behind its mark in docs/performance.md; numbers flush right. */
export function writeTable(mark: string, machine: string, [head, ...body]: readonly (readonly string[])[]): void {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rule = head!.map((_, i) => (i === 0 ? '---' : '---:'))
  const day = new Date().toISOString().slice(0, 10)
  const table = [`${machine}, ${day}.`, '', ...[head!, rule, ...body].map(line)].join('\n')
  const marks = new RegExp(`(<!-- ${mark} -->\n)[^<]*(<!-- end -->)`)
  const page = readFileSync(PAGE, 'utf8')
  writeFileSync(
    PAGE,
    page.replace(marks, (_, begin: string, end: string) => `${begin}${table}\n${end}`),
  )
}
