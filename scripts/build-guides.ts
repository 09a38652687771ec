/** Renders the guides of docs/use as pages for browsers. */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Marked } from 'marked'
import { filesIn, ROOT } from './files.js'
import { slugOf } from './lint/documents.js'

/** True for a link that works on a served page: within a guide, to another guide, or to another site. */
const isServed = (href: string): boolean => /^(#|https:|[\w.-]+\.md(#|$))/.test(href)

const markdown = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens)
      return isServed(href) ? `<a href="${href}">${text}</a>` : text
    },
  },
})

/**
 * Makes tables accessible: a keyboard can focus and scroll them, and a header cell without text is a plain cell. A path
 * within a line may break after each slash.
 */
const accessible = (content: string): string =>
  content
    .replaceAll(/<code>[^<]+(?=<\/code>)/g, (code) => code.replaceAll('/', '/<wbr>'))
    .replaceAll('<table>', '<div class="wide" role="group" aria-label="Table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<th></th>', '<td></td>')

/** @returns pages by the guides' file names @param frame the page around a guide, with `{title}` and `{content}` */
export function guidePages(frame: string): Record<string, string> {
  return Object.fromEntries(
    filesIn('docs/use').map((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8').replaceAll(/<!--.*?-->\n?/gs, '')
      const title = /^# (.*)$/m.exec(text)?.[1] ?? basename(file)
      const content = accessible(markdown.parse(text, { async: false }))
      return [basename(file), frame.replace('{title}', title).replace('{content}', () => content)]
    }),
  )
}
