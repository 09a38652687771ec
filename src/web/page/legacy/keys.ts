import type { ApiKey } from './api.js'
import { attempt, button, byId, confirmed, field, form, h, redraw, say } from './dom.js'
import { api, state } from './state.js'

/** Section that makes, names and revokes the wallet's API keys. */

/** Text of the key that was just made, until the wallet changes: it is shown this once. */
let made: { id: string; key: string } | null = null

/** Draws the list. */
export function renderKeys(): void {
  const section = byId('keys')
  section.hidden = state.session === null
  if (state.session === null) made = null
  if (section.hidden) return
  redraw(
    section,
    h('h2', 'API keys'),
    h('p', 'A key lets a site or a program ask more often. It opens nothing.'),
    state.keys.length > 0 && h('ul', { class: 'followed' }, ...state.keys.map(lineOf)),
    form(
      { class: 'add', 'aria-label': 'Make an API key' },
      make,
      field('What it is for', h('input', { name: 'name', required: true, maxlength: '64', 'data-key': 'new key' })),
      h('button', { 'data-key': 'make key' }, 'Make a key'),
    ),
  )
}

const lineOf = (one: ApiKey): HTMLElement =>
  h(
    'li',
    h('strong', `${one.name} `),
    h('span', { class: 'status' }, `made ${new Date(one.createdAt).toLocaleDateString()}`),
    made?.id === one.id && h('p', 'Copy it now, it is not shown again: ', h('code', { id: 'made-key' }, made.key)),
    button('Revoke', () => revoke(one), { class: 'plain', 'data-key': `revoke ${one.id}` }),
    form(
      { class: 'add' },
      (data) => rename(one, String(data.get('name'))),
      field('Call it', h('input', { name: 'name', required: true, maxlength: '64', 'data-key': `name ${one.id}` })),
      h('button', { class: 'plain', 'data-key': `rename ${one.id}` }, 'Rename'),
    ),
  )

/** The keys of the signed-in wallet. */
export const readKeys = (): Promise<ApiKey[]> => api.get<ApiKey[]>('/v1/keys')

async function redrawn(said: string): Promise<void> {
  state.keys = await readKeys()
  renderKeys()
  say(said)
}

async function make(data: FormData, element: HTMLFormElement): Promise<void> {
  await attempt(async () => {
    const name = String(data.get('name'))
    made = await api.send<ApiKey & { key: string }>('POST', '/v1/keys', { name })
    element.reset()
    await redrawn('The key is made: copy it now.')
  })
}

async function rename({ id }: ApiKey, name: string): Promise<void> {
  await attempt(async () => {
    await api.send('PATCH', `/v1/keys/${id}`, { name })
    await redrawn('The key has its new name.')
  })
}

async function revoke({ id, name }: ApiKey): Promise<void> {
  if (!(await confirmed(`Revoke ${name}?`, 'What uses it is limited like everybody else then.', 'Revoke'))) return
  await attempt(async () => {
    await api.send('DELETE', `/v1/keys/${id}`)
    await redrawn(`${name} is revoked.`)
  })
}
