import type { TargetedEvent } from 'preact'
import { useState } from 'preact/hooks'
import { amountText, parseAmount } from '../lib/format.js'
import { fetchAmountUnit, NATIVE_TOKEN, priceText } from '../lib/money.js'
import { canonicalName } from '../lib/names.js'
import type { Community } from '../lib/types.js'
import { chainNameWithGasToken, Form, type FormValues, Select, TextInput } from './pieces.js'
import { type AccountState, useAccount } from './state.js'

/**
 * A price or a requirement as typed: its kind, and the text of each field. `text` is the amount, the bundle's name, or
 * the list of addresses.
 */
export type RuleDraft = Readonly<
  Record<'kind' | 'network' | 'text' | 'token' | 'recipient', string>
>

const TOKEN_FIELD_TEXTS = ['Token', 'Its address; empty for the coin of the chain'] as const

/** Kinds of rules: the button that adds one, and the label and hint of each field. */
const RULE_KINDS: Readonly<
  Record<string, { add: string; fields: Readonly<Record<string, FieldTexts>> }>
> = {
  price: {
    add: 'Add a price',
    fields: {
      text: ['Price'],
      network: ['On'],
      token: TOKEN_FIELD_TEXTS,
      recipient: ['Paid to', 'Empty for your wallet'],
    },
  },
  token: {
    add: 'Require a token',
    fields: { text: ['Least balance'], network: ['On'], token: TOKEN_FIELD_TEXTS },
  },
  cluster: {
    add: 'Require a bundle',
    fields: { text: ['Name of the bundle', 'Who registers is a public, verified wallet of it'] },
  },
  allowlist: {
    add: 'Require a list',
    fields: { text: ['Wallets that may register', 'Addresses, with spaces between'] },
  },
}
type FieldTexts = readonly [label: string, hint?: string]

const EMPTY_DRAFT_TEXTS = { text: '', token: '', recipient: '' }
/** Length of `2026-12-01T08:00`. */
const MINUTE_CHARS = 16

/** The rules as drafts of the form. @throws ClusterdError */
export async function readRuleDrafts(rules: Community, isTestnet: boolean): Promise<RuleDraft[]> {
  const text = async (of: { network: string; token: string }, amount: string) =>
    amountText(amount, (await fetchAmountUnit(of, isTestnet)).decimals)
  const prices = rules.prices.map(async ({ network, token, amount, recipient }) => ({
    kind: 'price',
    network,
    recipient,
    token: token === NATIVE_TOKEN ? '' : token,
    text: await text({ network, token }, amount),
  }))
  const requirements = rules.requirements.map(async (one) => {
    const draft = { ...EMPTY_DRAFT_TEXTS, kind: one.kind, network: '' }
    if (one.kind === 'cluster') return { ...draft, text: one.name }
    if (one.kind === 'allowlist') return { ...draft, text: one.addresses.join(' ') }
    const { network, token } = one
    return { ...draft, network, token, text: await text(one, one.minimum) }
  })
  return Promise.all([...prices, ...requirements])
}

/** Price or requirement of the API for a draft. @throws Error for a text that is no amount; ClusterdError */
async function ruleFromDraft(
  { kind, network, text, token, recipient }: RuleDraft,
  { isTestnet, session }: AccountState,
) {
  if (kind === 'cluster') return { kind, name: canonicalName(text) }
  if (kind === 'allowlist') return { kind, addresses: text.split(/[\s,]+/).filter(Boolean) }
  const of = { network, token: token || NATIVE_TOKEN }
  const amount = parseAmount(text, (await fetchAmountUnit(of, isTestnet)).decimals)
  if (kind === 'token') return { kind, ...of, minimum: amount }
  return { ...of, amount, recipient: recipient || session?.address }
}

/**
 * Form for the rules of a name as a community. It starts with the current rules: submitted unchanged it changes none.
 */
export function RulesForm({ name, rules, drafts, onSet }: RulesFormProps) {
  const account = useAccount()
  const [rows, setRows] = useState(drafts)
  const [isOpen, setOpen] = useState(!rules?.ownersOnly)
  const shown = rows.filter(({ kind }) => isOpen || kind !== 'price')
  const set = async (typed: FormValues) => {
    const ofKind = (isPrice: boolean) =>
      Promise.all(
        shown
          .filter(({ kind }) => (kind === 'price') === isPrice)
          .map((draft) => ruleFromDraft(draft, account)),
      )
    const start = typed('start')
    const startsAt = start === '' ? null : `${start}:00Z`
    const body = {
      ownersOnly: !isOpen,
      prices: await ofKind(true),
      requirements: await ofKind(false),
      // the form shows only minutes: a time that was not edited keeps its seconds
      startsAt: rules?.startsAt?.slice(0, MINUTE_CHARS) === start ? rules.startsAt : startsAt,
    }
    const now = await account.send<Community>(`/v1/communities/${name}`, { method: 'PUT', body })
    const costs = await Promise.all(now.prices.map((price) => priceText(price, account.isTestnet)))
    onSet()
    account.say(
      now.ownersOnly
        ? `Your bundle registers names below ${name}.`
        : `Names below ${name} are ${costs.length > 0 ? `for ${costs.join(' or ')}` : 'free'} now.`,
    )
    // keep the form as it is: after a reset, a double click would submit the initial values
    return false
  }
  return (
    <Form label={`Rules of ${name}`} work={set} submit="Set the rules">
      {!rules && (
        <p class="soft">
          Not a community yet: nobody gets a name below {name}/ before you set rules.
        </p>
      )}
      <Select
        label="Who may register"
        name="who"
        options={[
          ['everybody', 'Everybody, free or at a price'],
          ['owners', 'Only wallets of my bundle, for others too'],
        ]}
        chosen={isOpen ? 'everybody' : 'owners'}
        onInput={(event) => setOpen(event.currentTarget.value === 'everybody')}
      />
      {shown.map((draft, i) => (
        <RuleFields
          key={String(i)}
          draft={draft}
          onChange={(changed) =>
            setRows(rows.flatMap((one) => (one === draft ? (changed ?? []) : [one])))
          }
        />
      ))}
      <p class="row">
        {Object.entries(RULE_KINDS).map(
          ([kind, { add }]) =>
            (isOpen || kind !== 'price') && (
              <button
                key={kind}
                type="button"
                class="plain"
                onClick={() => {
                  const network = account.chains[0]?.network ?? ''
                  setRows([...rows, { ...EMPTY_DRAFT_TEXTS, kind, network }])
                }}
              >
                {add}
              </button>
            ),
        )}
      </p>
      <TextInput
        label="Opens (UTC)"
        hint="Empty: names can be registered at once"
        name="start"
        type="datetime-local"
        required={false}
        defaultValue={rules?.startsAt?.slice(0, MINUTE_CHARS)}
      />
    </Form>
  )
}

/** Fields of a rule. @param onChange gets the changed draft, or null for a removed one */
function RuleFields({ draft, onChange }: RuleFieldsProps) {
  const { chains } = useAccount()
  const edit = (field: string) => ({
    value: draft[field as keyof RuleDraft],
    name: field,
    onInput: (event: TargetedEvent<HTMLInputElement | HTMLSelectElement>) =>
      onChange({ ...draft, [field]: event.currentTarget.value }),
  })
  return (
    <fieldset>
      {Object.entries(RULE_KINDS[draft.kind]!.fields).map(([field, [label, hint]]) =>
        field === 'network' ? (
          <Select
            key={field}
            label={label}
            options={chains.map((one) => [one.network, chainNameWithGasToken(one)])}
            chosen={draft.network}
            {...edit(field)}
          />
        ) : (
          <TextInput
            key={field}
            label={label}
            hint={hint}
            required={field === 'text'}
            {...edit(field)}
          />
        ),
      )}
      <button type="button" class="plain" onClick={() => onChange(null)}>
        Remove
      </button>
    </fieldset>
  )
}
interface RuleFieldsProps {
  draft: RuleDraft
  onChange(changed: RuleDraft | null): void
}

interface RulesFormProps {
  name: string
  /** Null for a name that is not a community. */
  rules: Community | null
  drafts: readonly RuleDraft[]
  onSet(): void
}
