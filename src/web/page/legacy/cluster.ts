import type { Cluster, ClusterWallet } from './api.js'
import { attempt, button, byId, confirmed, field, form, h, redraw, say, short } from './dom.js'
import { NAME_RULES, TYPED } from '../lib/names.js'
import { api, ownEntry, ownNames, state } from './state.js'

/** Section that shows and edits the signed-in wallet's cluster. */
export function renderCluster(): void {
  const section = byId('cluster')
  section.hidden = state.session === null
  const { cluster } = state
  if (state.session === null) return
  if (cluster === undefined) redraw(section, h('h2', 'Your cluster'), h('p', 'Loading…'))
  else if (cluster === null) redraw(section, h('h2', 'Your cluster'), ...noCluster())
  else redraw(section, ...clusterView(cluster))
}

/** Full name of an entry; names below communities are full already. */
const nameText = (name: string): string => (name.includes('/') ? name : `${name}/`)

/** Reports a finished change and reloads the page's data. */
function change(done: string, work: () => Promise<unknown>): Promise<boolean> {
  return attempt(async () => {
    await work()
    await state.reload()
    say(done)
  })
}

function noCluster(): HTMLElement[] {
  const create = button('Create a cluster', async () => {
    const isSure = await confirmed(
      'Create a cluster?',
      `Your wallet ${state.session?.address} becomes its first entry. Everybody can see that entry, and it can not be made private later.`,
      'Create it',
    )
    if (isSure) await change('The cluster is created.', () => api.send('POST', '/v1/clusters'))
  })
  return [
    h('p', 'Your wallet is verified in no cluster yet. Create one, register a name, or confirm an invitation.'),
    h('p', create),
    invitation(),
  ]
}

function clusterView(cluster: Cluster): HTMLElement[] {
  const hidden = cluster.wallets.filter(({ isPrivate }) => isPrivate).length
  return [
    h('h2', ownNames()[0] ? `${ownNames()[0]}/` : 'Your cluster'),
    h(
      'dl',
      ...entry('Cluster', h('code', { class: 'id' }, cluster.id)),
      ...entry('Names', state.names.map(nameText).join(', ') || 'none yet'),
      ...entry('Created', `${cluster.createdAt.slice(0, 10)} by ${short(cluster.createdBy)}`),
    ),
    h(
      'div',
      { class: 'scroll' },
      h(
        'table',
        h('caption', hidden > 0 ? `Wallets. ${hidden} private: only members see them.` : 'Wallets'),
        h('thead', h('tr', ...['Name', 'Address', 'State', ''].map((title) => h('th', { scope: 'col' }, title)))),
        h('tbody', ...cluster.wallets.map((wallet) => walletRow(wallet))),
      ),
    ),
    addForm(),
    invitation(),
  ]
}

const entry = (term: string, value: string | HTMLElement): HTMLElement[] => [h('dt', term), h('dd', value)]

function walletRow(wallet: ClusterWallet): HTMLElement {
  const { address, isVerified, isPrivate } = wallet
  const isMine = address === state.session?.address
  const named = (verb: string) => ({ 'aria-label': `${verb}: ${wallet.name}`, 'data-key': `${verb} ${address}` })
  return h(
    'tr',
    { class: isPrivate ? 'private' : '' },
    h('td', renameForm(wallet)),
    h('td', h('span', { class: 'address', title: address }, short(address)), isMine && h('em', ' you')),
    h(
      'td',
      h('span', { class: `badge ${isVerified ? 'good' : ''}` }, isVerified ? 'verified' : 'unverified'),
      isPrivate && h('span', { class: 'badge hidden-entry' }, 'private'),
    ),
    h(
      'td',
      h(
        'div',
        { class: 'row' },
        isPrivate && button('Make public', () => makePublic(wallet), { class: 'plain', ...named('Make public') }),
        button('Remove', () => remove(wallet), { class: 'plain', ...named('Remove') }),
      ),
    ),
  )
}

function renameForm({ address, name }: ClusterWallet): HTMLElement {
  const input = h('input', {
    ...{ name: 'name', value: name, 'data-key': `name ${address}`, 'aria-label': `Name of ${short(address)}` },
    ...NAME_RULES,
  })
  const save = h('button', { class: 'plain', hidden: true }, 'Save')
  input.addEventListener('input', () => {
    save.hidden = input.value === name
  })
  return form(
    { class: 'row rename' },
    async () => {
      await change('Renamed.', async () => {
        await api.send('PUT', '/v1/clusters/wallets/names', [{ address, name: input.value }])
        input.defaultValue = input.value
      })
    },
    input,
    save,
  )
}

async function makePublic({ address, name }: ClusterWallet): Promise<void> {
  const isSure = await confirmed(
    'Make this wallet public?',
    `Everybody will see that ${address} belongs to your cluster. This can not be taken back.`,
    'Make it public',
  )
  if (!isSure) return
  const body = [{ address, name, isPrivate: false }]
  await change(`${name} is public now.`, () => api.send('POST', '/v1/clusters/wallets', body))
}

async function remove({ address, name }: ClusterWallet): Promise<void> {
  const isSure = await confirmed('Remove this wallet?', `${address} leaves your cluster.`, 'Remove it')
  if (isSure) await change(`${name} is removed.`, () => api.send('DELETE', '/v1/clusters/wallets', [address]))
}

function addForm(): HTMLElement {
  return form(
    { class: 'add', 'aria-labelledby': 'add-title' },
    async (data, element) => {
      const isPrivate = data.get('private') !== null
      const body = [{ address: String(data.get('address')).trim(), name: String(data.get('name')), isPrivate }]
      const done = isPrivate ? 'Added; only members see it.' : 'Added; everybody sees it.'
      await change(done, async () => {
        await api.send('POST', '/v1/clusters/wallets', body)
        element.reset()
      })
    },
    h('h3', { id: 'add-title' }, 'Add a wallet'),
    field('Address', h('input', { ...TYPED, name: 'address', 'data-key': 'new address', maxlength: '128' })),
    field('Name', h('input', { name: 'name', 'data-key': 'new name', ...NAME_RULES })),
    h(
      'label',
      { class: 'check' },
      h('input', { type: 'checkbox', name: 'private', 'data-key': 'new private', checked: true }),
      h('span', 'Private: only members of the cluster see it. A public entry can not be made private later.'),
    ),
    h('button', { 'data-key': 'add' }, 'Add'),
  )
}

function invitation(): HTMLElement {
  return h(
    'details',
    { 'data-key': 'invitation' },
    h('summary', 'Another cluster lists your wallet?'),
    form(
      { class: 'add' },
      async (data, element) => {
        const path = `/v1/clusters/verify/${encodeURIComponent(String(data.get('id')).trim())}`
        if (!(await confirmed('Move to this cluster?', moving(), 'Move there'))) return
        await change('Your wallet is verified there now.', async () => {
          await api.send('POST', path)
          element.reset()
        })
      },
      field(
        'Id of the cluster',
        h('input', {
          name: 'id',
          'data-key': 'invitation id',
          required: true,
          pattern: '0x[0-9a-fA-F]{64}',
          autocomplete: 'off',
        }),
      ),
      h('button', 'Verify my wallet there'),
    ),
  )
}

/** Warning for a wallet that leaves its cluster by verifying in another one. */
function moving(): string {
  const own = ownEntry()
  const isLast = own?.isVerified && state.cluster?.wallets.filter(({ isVerified }) => isVerified).length === 1
  if (own && isLast && state.names.length > 0)
    return `Your wallet leaves its cluster. It is the last verified one there, so its names move along: ${state.names.join(', ')}.`
  return own
    ? 'Your wallet leaves the cluster that it is verified in now.'
    : 'Your wallet becomes a verified member there.'
}
