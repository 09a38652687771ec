import { createHash } from 'node:crypto'
import { escapeMarkup } from '../../registry/primitives/markup.js'

/** Text that is already HTML. */
export class Html {
  constructor(readonly text: string) {}
}

function escapedHtml(value: unknown): string {
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(escapedHtml).join('')
  return escapeMarkup(String(value ?? ''))
}

/** Template tag for HTML. Escapes every value, except values of class `Html` and lists of them. */
export const html = (parts: TemplateStringsArray, ...values: readonly unknown[]): Html =>
  new Html(parts.reduce((text, part, i) => text + escapedHtml(values[i - 1]) + part))

const OPS_PAGE_STYLE = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{margin:2rem auto;max-width:72rem;padding:0 1rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.4rem .8rem .4rem 0;border-bottom:1px solid #8884;vertical-align:top}
th{font-weight:600}td{overflow-wrap:break-word}code{font-size:.875em;overflow-wrap:anywhere}
@media(max-width:48rem){thead{display:none}tr,td{display:block;overflow-wrap:anywhere}table,tbody{display:block}
td{border:0;padding:.1rem 0}td:empty{display:none}tr{border-bottom:1px solid #8884;padding:.5rem 0}td::before{content:attr(data-name) ': ';opacity:.7}}
.bad{color:#b3261e;font-weight:600}@media(prefers-color-scheme:dark){.bad{color:#ffb4ab}}`

/** Content security policy of the operator's pages: allows only their own style, and no forms. */
export const OPS_CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(OPS_PAGE_STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(';')

export const htmlPage = (title: string, body: Html): string =>
  html`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title}</title><style>${new Html(OPS_PAGE_STYLE)}</style><main><h1>${title}</h1>${body}</main></html>`
    .text
